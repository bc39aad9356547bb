/** Which hosted tools a key may use. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../../src/testing/index.ts";
import { createGuardBench, errorOf, startGuarded } from "./guard-fixture.ts";

const SHELL = { type: "shell", environment: { type: "container_auto" } };
const HOSTED: readonly [string, object][] = [
  ["web_search", { type: "web_search" }],
  ["web_search", { type: "web_search_preview_2025_03_11" }],
  ["file_search", { type: "file_search", vector_store_ids: ["vs_1"] }],
  ["code_interpreter", { type: "code_interpreter", container: { type: "auto" } }],
  ["image_generation", { type: "image_generation" }],
  ["shell", SHELL],
  ["mcp", { type: "mcp", server_label: "x", server_url: "https://x.example/mcp" }],
  ["a_tool_to_come", { type: "a_tool_to_come" }],
];
const CLIENTS: readonly object[] = [
  { type: "function", name: "f", parameters: { type: "object" } },
  { type: "custom", name: "c" },
  { type: "shell", environment: { type: "local" } },
  { type: "apply_patch" },
  { type: "local_shell" },
];

describe("a key with a list of tools", () => {
  for (const [name, tool] of HOSTED) {
    it(`may not use ${JSON.stringify(tool)} unless the list has ${name}`, async (t) => {
      const bench = createGuardBench();
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.text("Hello.")),
      );
      const { token } = await bench.makeKey({ catalogue: ["bash_read"] });
      const brought = { type: "additional_tools", role: "developer", tools: [tool] };
      for (const body of [
        { input: "Hi", tools: [tool] },
        { input: "Hi", tools: [tool], store: false },
        { input: [brought, { role: "user", content: "Hi" }] },
      ]) {
        const answer = await server.send({ token, body });
        assert.equal(answer.status, 403, answer.text);
        assert.equal(errorOf(answer).param, "tools[0]");
        assert.ok(errorOf(answer).message.includes(`\`${name}\``), answer.text);
      }
      assert.equal(server.upstream.requests.length, 0);
      for (const catalogue of [[name], ["*"], undefined]) {
        const other = await bench.makeKey({ catalogue });
        const body = { input: "Hi", tools: [tool] };
        const answer = await server.send({ token: other.token, body });
        assert.notEqual(answer.status, 403, answer.text);
      }
    });
  }

  it("may use what the client runs itself", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token } = await bench.makeKey({ catalogue: [] });
    for (const tool of CLIENTS) {
      const answer = await server.send({ token, body: { input: "Hi", tools: [tool] } });
      assert.equal(answer.status, 200, answer.text);
    }
  });

  it("does not get what another key of its tenant has brought into the conversation", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const all = await bench.makeKey();
    const none = await bench.makeKey({ catalogue: [] });
    const brought = {
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "web_search" }],
    };
    const input = [brought, { role: "user", content: "Hi" }];
    const first = await server.send({ token: all.token, body: { input } });
    const { id } = JSON.parse(first.text) as { id: string };
    const body = { input: "And?", previous_response_id: id };
    const offered = async (token: string): Promise<unknown[]> => {
      const answer = await server.send({ token, body });
      assert.equal(answer.status, 200, answer.text);
      const sent = server.upstream.requests.at(-1)?.body as { tools?: unknown[] };
      return sent.tools ?? [];
    };
    assert.ok((await offered(all.token)).length > 0);
    assert.deepEqual(await offered(none.token), []);
  });
});
