import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { argumentsOf, ask, listen, tool, user } from "./replies.ts";

const text = { type: "string" };
const RIPGREP = tool("offshoot__bash_ripgrep", { pattern: text, files: text, limit: text });
const READ = tool("files__read", { path: text });
const WEB = tool("web_search", { query: text });
const FILES = tool("file_search", { queries: { type: "array", items: text } });
const CODE = tool("code_interpreter", { code: text });

async function callOf(
  request: string,
  tools: Parameters<typeof ask>[1],
): Promise<[string | undefined, JsonObject | undefined]> {
  const { calls } = await listen(ask(request, tools));
  const [call] = calls;
  return [call?.name, call && argumentsOf(call)];
}

/** The answer after the call has returned this. */
async function answerOf(request: string, output: string, more: Parameters<typeof ask>[1]) {
  const { calls } = await listen(ask(request, more));
  const [call] = calls;
  assert.ok(call);
  const { call_id } = call;
  const result: Item = { type: "function_call_output", call_id, output };
  return (await listen(ask([user(request), call, result], more))).text;
}

describe("tools of servers and hosted ones", () => {
  it("are found under the name of their server", async () => {
    const [name] = await callOf("find TODO in src", { tools: [RIPGREP, READ] });
    assert.equal(name, "offshoot__bash_ripgrep");
    const read = await callOf("read a.md", { tools: [READ] });
    assert.deepEqual(read[0], "files__read");
  });

  it("are called by the whole name if the plain one exists too", async () => {
    const plain = tool("read", { path: text });
    assert.equal((await callOf("read a.md", { tools: [READ, plain] }))[0], "read");
  });

  it("are forced by the name under which they are offered", async () => {
    const tool_choice = { type: "function", name: "files__read" } as const;
    assert.equal((await callOf("Hm.", { tools: [READ], tool_choice }))[0], "files__read");
  });

  it("the embedded model searches the web with a hosted tool", async () => {
    const request = "search the web for tree rings";
    const more = { tools: [WEB] };
    assert.deepEqual(await callOf(request, more), ["web_search", { query: "tree rings" }]);
    const found = [{ title: "Rings", url: "https://x.org", snippet: "About rings." }];
    assert.match(await answerOf(request, JSON.stringify(found), more), /About rings\./);
  });

  it("the embedded model runs Python with a hosted tool", async () => {
    const request = "Run Python: print(6 * 7)";
    const more = { tools: [CODE] };
    assert.deepEqual(await callOf(request, more), ["code_interpreter", { code: "print(6 * 7)" }]);
    assert.match(await answerOf(request, "42", more), /It printed:\n\n```\n42/);
  });

  for (const request of ["search the files for apples", "find apples in the files"]) {
    it(`search the files: ${request}`, async () => {
      const more = { tools: [FILES] };
      assert.deepEqual(await callOf(request, more), ["file_search", { queries: ["apples"] }]);
      assert.match(await answerOf(request, "【a】 Apples are red.", more), /Apples are red\./);
    });
  }
});
