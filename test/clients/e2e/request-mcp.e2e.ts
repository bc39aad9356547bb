/** The reference MCP server named by a request, over both transports, through a whole server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { reply, script } from "../../../src/testing/index.ts";
import { startServer } from "../../server/server-fixture.ts";

const MODULES = new URL(
  "../../../../test/clients/node_modules/@modelcontextprotocol/",
  import.meta.url,
);
const EVERYTHING = fileURLToPath(new URL("server-everything/dist/index.js", MODULES));

describe("the reference server in a request", () => {
  for (const [kind, path] of [
    ["streamableHttp", "mcp"],
    ["sse", "sse"],
  ] as const) {
    it(`lists and calls its tools over ${kind}`, async (t) => {
      const port = await startEverything(t, kind);
      const calls = reply.calls([
        { name: "every__echo", arguments: { message: "hello" } },
        { name: "every__get-sum", arguments: { a: 2, b: 40 } },
        { name: "every__echo", arguments: {} },
      ]);
      const server = await startServer(t, script(calls, reply.text("Done.")), {
        settings: { web: { privateHosts: ["127.0.0.1"] } },
      });
      const tool = {
        type: "mcp",
        server_label: "every",
        server_url: `http://127.0.0.1:${port}/${path}`,
        require_approval: "never",
      };
      const made = await server.create({ input: "Go.", tools: [tool] });
      const [listed, ...rest] = made.output;
      assert.ok(listed?.type === "mcp_list_tools");
      assert.ok(listed.tools.length > 10);
      const outputs = rest.flatMap((item) => (item.type === "mcp_call" ? [item] : []));
      assert.equal(outputs[0]?.output, "Echo: hello");
      assert.match(outputs[1]?.output ?? "", /42/);
      assert.equal(outputs[2]?.status, "failed");
      assert.match(JSON.stringify(outputs[2]?.error), /do not fit: .*'message'/);
      assert.equal(made.output_text, "Done.");
    });
  }
});

async function startEverything(t: TestContext, kind: string): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const port = typeof address === "object" && address ? address.port : 0;
  probe.close();
  const child = spawn(process.execPath, [EVERYTHING, kind], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  // Keeps reading: a server whose output is not read ends at its next write.
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (piece) => {
      said += String(piece);
      if (/port/.test(said)) resolve();
    });
  });
  return port;
}
