/** A response that another process goes on with has the conversation and the tools that it had. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { z } from "zod";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, script } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { untilTrue } from "../patience.ts";
import { startServer, type TestServer } from "./server-bench.ts";

const WORDS = "Hello";
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };
const caller = { catalogue: ["look"] };

const look = (description: string): Tool =>
  defineTool({
    name: "look",
    description,
    parameters: z.object({}),
    readOnly: true,
    run: async () => "seen",
  });

interface Interrupted {
  readonly first: TestServer;
  readonly id: string;
  /** Goes on in another process, and gives the response when it has ended. */
  goOn(tools: readonly Tool[]): Promise<{ status: string; error: { message: string } | null }>;
}

/** A background response whose process stops while its model speaks. */
async function interrupt(
  t: TestContext,
  asked: object | ((server: TestServer) => Promise<object>),
): Promise<Interrupted> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-takeover-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storePath = join(folder, "runs.db");
  const model = script(reply.silence(WORDS), reply.text("Done."));
  const first = await startServer(t, model, { storePath, caller, tools: [look("as it was")] });
  const request = typeof asked === "function" ? await asked(first) : asked;
  const { id } = await first.create({ input: "Look", background: true, ...request });
  const { record } = first.responses.durable;
  await untilTrue(async () => {
    const log = JSON.stringify(await record.readEvents(toRunId(id), -1, 1000));
    return log.includes(WORDS);
  }, "the model speaks");
  return {
    first,
    id,
    async goOn(tools) {
      await first.runtime.close();
      const second = await startServer(t, script(), { storePath, caller, tools });
      await second.responses.start();
      await second.runtime.engine.result(toRunId(id));
      const { body } = await second.ask("GET", `/v1/responses/${id}`);
      return body as { status: string; error: { message: string } | null };
    },
  };
}

/** A conversation with two messages, as a request names it. */
async function createConversation(server: TestServer): Promise<{ conversation: string }> {
  const item = (content: string) => ({ type: "message", role: "user", content });
  const made = await server.ask("POST", "/v1/conversations", { items: [item("one"), item("two")] });
  return { conversation: (made.body as { id: string }).id };
}

describe("a response that another process goes on with", () => {
  it("is offered its server's tools as they were, and no others", async (t) => {
    const { first, goOn } = await interrupt(t, { tools: [OWN] });
    const { status } = await goOn([look("as it has become")]);
    assert.equal(status, "completed");
    const offered = first.upstream.requests.map(
      ({ body }) => (body as { tools: { function: { description: string } }[] }).tools,
    );
    assert.deepEqual(offered[1], offered[0]);
    assert.match(JSON.stringify(offered[1]), /as it was/);
  });

  it("goes on with the conversation that it had", async (t) => {
    const { first, goOn } = await interrupt(t, createConversation);
    assert.equal((await goOn([look("as it was")])).status, "completed");
    const asked = first.upstream.requests.map(
      ({ body }) => (body as { messages: unknown[] }).messages,
    );
    assert.deepEqual(asked[1], asked[0]);
  });

  it("fails where something of its conversation was deleted, and sends nothing", async (t) => {
    let conversation = "";
    const { first, goOn } = await interrupt(t, async (server) => {
      const made = await createConversation(server);
      conversation = made.conversation;
      return made;
    });
    const path = `/v1/conversations/${conversation}/items`;
    const listed = (await first.ask("GET", path)).body as { data: { id: string }[] };
    await first.ask("DELETE", `${path}/${listed.data[0]?.id}`);
    const { status, error } = await goOn([look("as it was")]);
    assert.equal(status, "failed");
    assert.match(error?.message ?? "", /the conversation that it continues was changed/);
    assert.equal(first.upstream.requests.length, 1);
  });
});
