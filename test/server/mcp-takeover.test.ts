/** A response that another process continues is offered the tools that it was offered before. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { JsonObject } from "../../src/base/json.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, script } from "../../src/testing/index.ts";
import { startSmallServer, TOOLS } from "../runtime/small-mcp-server.ts";
import { startServer } from "./server-fixture.ts";

const settings = { web: { privateHosts: ["127.0.0.1"] } };
const WORDS = "Hello";

it("asks an MCP server for its tools once in a response, also after a takeover", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-mcp-takeover-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storePath = join(folder, "runs.db");
  const tools: JsonObject[] = [...TOOLS];
  const small = await startSmallServer(t, { tools });
  const call = reply.calls([{ name: "small__look", arguments: { text: "it" } }]);
  const model = script(reply.silence(WORDS), call, reply.text("Done."));
  const first = await startServer(t, model, { settings, storePath });
  const mcp = { type: "mcp", server_label: "small", server_url: small.url };
  const asked = { input: "Look", tools: [{ ...mcp, require_approval: "never" }] };
  const { id } = await first.create({ ...asked, background: true });
  const { record } = first.responses.durable;
  const log = async (): Promise<string> =>
    JSON.stringify(await record.readEvents(toRunId(id), -1, 1000));
  while (!(await log()).includes(WORDS)) await turn();
  await first.runtime.close();

  // The server's present tools do not matter.
  tools.splice(0, tools.length, { ...TOOLS[0], name: "another" } as JsonObject);
  const second = await startServer(t, script(), { settings, storePath });
  await second.responses.start();
  await second.runtime.engine.result(toRunId(id));

  const body = first.upstream.requests[1]?.body as { tools: { function: { name: string } }[] };
  assert.deepEqual(
    body.tools.map((tool) => tool.function.name),
    ["small__look", "small__change"],
  );
  assert.equal(small.methods.filter((method) => method === "tools/list").length, 1);
  assert.deepEqual(small.calls, [{ name: "look", arguments: { text: "it" } }]);
  const { body: response } = await second.ask("GET", `/v1/responses/${id}`);
  const { output, status } = response as { output: { type: string }[]; status: string };
  assert.equal(status, "completed");
  assert.deepEqual(
    output.map(({ type }) => type),
    ["mcp_list_tools", "mcp_call", "message"],
  );
});
