/** What an MCP client may send to `offshoot mcp serve`: errors in the protocol's words, nothing twice, and the connection stays open. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { noAnswer, reply, respond, type Script, script } from "../../src/testing/index.ts";
import { CLI, createPlace } from "../e2e/command.ts";
import { until, untilTrue } from "../patience.ts";
import {
  checkWords,
  type Frame,
  type LineClient,
  storeForTenant,
  withLines,
} from "./line-client.ts";

const HELLO = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};
const FORMS = { ...HELLO, capabilities: { elicitation: {} } };
const WRITE = { name: "write", arguments: { path: "a.txt", content: "x" } };

function counting(): Script {
  let asked = 0;
  return respond(() => reply.text(`Answer ${++asked}.`));
}

const withServer = (
  setup: Parameters<typeof withLines>[1],
  use: (client: LineClient) => Promise<void>,
): Promise<void> => withLines(["mcp", "serve"], setup, use);

async function greet(client: LineClient, hello: object = HELLO): Promise<void> {
  client.request("hello", "initialize", hello);
  assert.ok((await client.answerTo("hello")).result);
  client.send({ method: "notifications/initialized" });
}

function call({ request }: LineClient, id: unknown, name: string, given: object): void {
  request(id, "tools/call", { name, arguments: given });
}

interface Said {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

async function saidTo(client: LineClient, id: unknown): Promise<Said> {
  const { result, error } = await client.answerTo(id);
  assert.ok(result, error?.message);
  const {
    content,
    isError = false,
    structuredContent = {},
  } = result as never as {
    content: { text: string }[];
    isError?: boolean;
    structuredContent?: Said["structured"];
  };
  return { text: content.map(({ text }) => text).join(""), isError, structured: structuredContent };
}

async function isStillThere(client: LineClient): Promise<void> {
  client.request("ping", "ping");
  assert.deepEqual((await client.answerTo("ping")).result, {});
}

function answersTo({ frames }: LineClient, id: unknown): Frame[] {
  return frames().filter((frame) => frame.id === id && frame.method === undefined);
}

describe("attacks on offshoot mcp serve", () => {
  it("name runs of a server's tenant, of another folder or without an owner, and see none", async () => {
    await using place = await createPlace();
    const env = { OFFSHOOT_STORE: join(place.home, "record.db") };
    const response = { path: "/v1/responses", body: { input: "the shop's secret" } };
    const foreign = (await storeForTenant(place, env, response)).replace("resp_", "run_");
    await withServer({ engine: counting(), place, env }, async (client) => {
      await greet(client);
      const names = [foreign, "run_none", "../../etc/passwd", "", "run_%00", 7, null, ["x"]];
      for (const [at, run_id] of names.entries()) {
        for (const tool of ["run_status", "run_result", "run_cancel", "run_continue"]) {
          const id = `${tool} ${at}`;
          call(client, id, tool, tool === "run_continue" ? { run_id, message: "x" } : { run_id });
          const { text, isError } = await saidTo(client, id);
          assert.ok(isError, `${id}: ${text}`);
          checkWords({ message: text });
        }
        client.request(`read ${at}`, "resources/read", { uri: `run://${String(run_id)}/events` });
        checkWords((await client.answerTo(`read ${at}`)).error ?? assert.fail("a resource"));
      }
      client.request("list", "resources/list");
      await client.answerTo("list");
      assert.doesNotMatch(JSON.stringify(client.frames()), /the shop's secret/);
      assert.equal(client.upstream.requests.length, 0);
    });
  });

  it("send invalid messages, invalid requests or those for other servers, and get JSON-RPC errors", async () => {
    await withServer({ engine: counting() }, async (client) => {
      client.request("early", "tools/list");
      client.request("again", "initialize", { protocolVersion: 7 });
      client.request("old", "initialize", { ...HELLO, protocolVersion: "1999-01-01" });
      assert.ok((await client.answerTo("again")).error);
      assert.match(
        String((await client.answerTo("old")).result?.["protocolVersion"]),
        /^20\d\d-\d\d-\d\d$/,
      );
      await greet(client);
      const rows: [string, object | undefined, number][] = [
        ["no/such", {}, -32_601],
        ["tools/call", {}, -32_602],
        ["tools/call", { name: 7 }, -32_602],
        ["tools/call", { name: "agent", arguments: "text" }, -32_602],
        ["tools/call", { name: "agent_nobody", arguments: { prompt: "x" } }, -32_602],
        ["resources/read", {}, -32_602],
        ["prompts/get", { name: "../../etc/passwd" }, -32_602],
      ];
      for (const [at, [method, params, code]] of rows.entries()) {
        client.request(`row ${at}`, method, params);
        const { error } = await client.answerTo(`row ${at}`);
        assert.ok(error, `${method} ${JSON.stringify(params)}`);
        assert.equal(error.code, code, `${method}: ${error.message}`);
        checkWords(error);
      }
      // Answers to nothing, news of nothing, and what is neither.
      client.send({ id: 99, result: { content: [] } });
      client.send({ id: "x", error: { code: 1, message: "x" } });
      client.send({ method: "notifications/cancelled", params: { requestId: "nobody" } });
      client.send({ method: "notifications/no_such", params: [1, 2] });
      client.write('[{"jsonrpc":"2.0","id":"batch","method":"ping"}]\n');
      client.write('{"jsonrpc":"1.0","id":"old","method":"ping"}\n\u0000\u0001\n"text"\nnull\n');
      await isStillThere(client);
      assert.equal(client.upstream.requests.length, 0);
    });
  });

  it("send fields that do not fit, and get an error under the id of their request", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      const rows: [unknown, RegExp][] = [
        [{ name: "agent", arguments: {}, _meta: "x" }, /^`params\._meta` does not fit/],
        [{ _meta: { progressToken: {} } }, /^`params\._meta\.progressToken` does not fit/],
        [{ _meta: { progressToken: 1.5 } }, /^`params\._meta\.progressToken` does not fit/],
        [[1], /^`params` does not fit/],
        ["text", /^`params` does not fit/],
      ];
      for (const [at, [params, problem]] of rows.entries()) {
        const id = `row ${at}`;
        client.send({ id, method: "tools/call", params });
        const { error } = await client.answerTo(id);
        assert.equal(error?.code, -32_602, JSON.stringify(params));
        assert.match(error.message, problem);
        checkWords(error);
      }
      assert.equal(client.upstream.requests.length, 0);
      await isStillThere(client);
    });
  });

  it("leave fields empty, or send newer ones, and are answered as without them", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      const given = { name: "agent", arguments: { prompt: "Go" } };
      const rows: object[] = [
        { params: { ...given, _meta: null } },
        { params: { ...given, _meta: { progressToken: null } } },
        // A server that does not offer tasks must run such a call as any other.
        { params: { ...given, task: { ttl: 60_000 } } },
        { params: given, traceparent: "00-1-1-00" },
      ];
      for (const [at, fields] of rows.entries()) {
        client.send({ id: `row ${at}`, method: "tools/call", ...fields });
        const { text, isError } = await saidTo(client, `row ${at}`);
        assert.equal(isError, false, text);
        assert.match(text, /^Answer/);
      }
      client.send({ id: "list", method: "tools/list", params: null });
      assert.ok((await client.answerTo("list")).result?.["tools"]);
    });
  });

  it("cut their lines anywhere, join them, nest them or fill them with 10 MB, and each is answered once", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      const toLine = (id: number, prompt: string): string =>
        `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "agent", arguments: { prompt } } })}\n`;
      for (const letter of toLine(1, "é😀")) client.write(letter);
      client.write(`${toLine(2, "joined")}${toLine(3, "joined")}\r\n${toLine(4, "x".repeat(1e7))}`);
      const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
      const params = `{"name":"agent","arguments":{"prompt":"x","more":${deep}}}`;
      client.write(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":${params}}\n`);
      for (const id of [1, 2, 3, 4]) assert.match((await saidTo(client, id)).text, /^Answer \d/);
      assert.ok((await saidTo(client, 5)).isError);
      for (const id of [1, 2, 3, 4, 5]) assert.equal(answersTo(client, id).length, 1, `${id}`);
      assert.equal(client.upstream.requests.length, 4);
      await isStillThere(client);
    });
  });

  it("have it say nothing but the protocol, and no key", async () => {
    const wrong = { error: { message: "Wrong key sk-secret-1." } };
    const engine = script(reply.status(401, wrong));
    const env = { OFFSHOOT_API_KEY_NAME: "OWN_KEY", OWN_KEY: "sk-secret-1" };
    await withServer({ engine, env }, async (client) => {
      await greet(client);
      call(client, 7, "agent", { prompt: "Go" });
      const { isError, structured } = await saidTo(client, 7);
      assert.ok(isError);
      client.request(8, "resources/read", { uri: `run://${String(structured["run_id"])}/events` });
      assert.ok((await client.answerTo(8)).result);
      const [asked] = client.upstream.requests;
      assert.match(String(asked?.headers["authorization"]), /sk-secret-1/);
      const { stdout, stderr } = await client.leave();
      assert.doesNotMatch(stdout + stderr, /sk-secret-1/);
      for (const line of stdout.trim().split("\n")) assert.equal(JSON.parse(line).jsonrpc, "2.0");
    });
  });

  it("send a call twice under one id, and one of them is run", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      call(client, 7, "agent", { prompt: "one" });
      call(client, 7, "agent", { prompt: "two" });
      const [refused] = await until(() => {
        const found = answersTo(client, null);
        return found.length > 0 ? found : undefined;
      }, "the refusal");
      assert.equal(refused?.error?.code, -32_600);
      checkWords(refused?.error ?? assert.fail("it was answered"));
      assert.match((await saidTo(client, 7)).text, /^Answer 1\./);
      await isStillThere(client);
      assert.equal(client.upstream.requests.length, 1);
      assert.equal(answersTo(client, 7).length, 1);
      // An id may be used again after its answer, or after it was taken back.
      call(client, 7, "agent", { prompt: "three" });
      await until(() => answersTo(client, 7)[1], "the second answer");
      call(client, 8, "agent", { prompt: "four" });
      client.send({ method: "notifications/cancelled", params: { requestId: 8 } });
      call(client, 8, "agent", { prompt: "five" });
      assert.match((await saidTo(client, 8)).text, /^Answer \d\./);
    });
  });

  it("answer a form twice, or with what it does not offer: the first answer counts, and a strange one is a no", async () => {
    const rows: [string, object, boolean][] = [
      ["twice", { result: { action: "accept", content: { decision: "once" } } }, true],
      ["a strange answer", { result: { action: "accept", content: { decision: "sudo" } } }, false],
      ["no content", { result: { action: "accept" } }, false],
      ["another form", { result: { decision: "once" } }, false],
      ["a list", { result: { action: "accept", content: ["once"] } }, false],
      ["an error", { error: { code: -32_603, message: "no" } }, false],
    ];
    for (const [what, answer, isWritten] of rows) {
      const engine = script(reply.calls([WRITE]), reply.text("Done."));
      await withServer({ engine }, async (client) => {
        await greet(client, FORMS);
        call(client, 7, "agent", { prompt: "Go" });
        const { id } = await client.called("elicitation/create");
        client.send({ id, ...answer });
        client.send({ id, result: { action: "accept", content: { decision: "always" } } });
        assert.match((await saidTo(client, 7)).text, /^Done\./, what);
        assert.equal(existsSync(join(client.place.cwd, "a.txt")), isWritten, what);
        assert.equal(client.upstream.requests.length, 2, what);
        await isStillThere(client);
      });
    }
  });

  it("flood it with calls, of which none passes the budget of the connection", async () => {
    const args = ["--budget", "0"];
    await withServer({ engine: counting(), args }, async (client) => {
      await greet(client);
      const ids = Array.from({ length: 40 }, (_, at) => 100 + at);
      for (const id of ids) call(client, id, "agent", { prompt: "Go" });
      for (const id of ids) assert.ok((await saidTo(client, id)).isError);
      assert.equal(client.upstream.requests.length, 0);
      const many = Array.from({ length: 1000 }, (_, at) => 1000 + at);
      for (const id of many) client.request(id, "ping");
      for (const id of many) assert.ok((await client.answerTo(id)).result);
      assert.equal(new Set(many.map((id) => answersTo(client, id).length)).size, 1);
    });
  });

  it("have an agent call itself through its own server, and it ends after three rounds", async () => {
    await using place = await createPlace();
    const allow = ["--allow", "mcp__self__*"];
    const passed = ["OFFSHOOT_MODEL", "OFFSHOOT_URL", "OFFSHOOT_MCP_SERVERS"];
    const self = {
      command: process.execPath,
      args: [CLI, "mcp", "serve", ...allow],
      env: Object.fromEntries(passed.map((name) => [name, `$${name}`])),
    };
    const env = { OFFSHOOT_MCP_SERVERS: JSON.stringify({ self }) };
    let asked = 0;
    const engine = respond(({ tools, items }) => {
      asked++;
      const own = tools.some((tool) => "name" in tool && tool.name === "mcp__self__agent");
      const isAnswered = items.some(({ type }) => type === "function_call_output");
      if (!own || isAnswered) return reply.text("The end.");
      return reply.calls([{ name: "mcp__self__agent", arguments: { prompt: "Again" } }]);
    });
    await withServer({ engine, place, env, args: allow }, async (client) => {
      await greet(client);
      call(client, 7, "agent", { prompt: "Go" });
      assert.match((await saidTo(client, 7)).text, /The end\./);
      assert.ok(asked > 2 && asked <= 8, `${asked} model calls`);
    });
  });

  it("say that they stand too deep, and are refused with words and no run", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      for (const [at, depth] of [3, 99, -1, "x", 1e9].entries()) {
        const _meta = { "offshoot.run/depth": depth };
        client.request(`deep ${at}`, "tools/call", {
          name: "agent",
          arguments: { prompt: "x" },
          _meta,
        });
        const { text, isError } = await saidTo(client, `deep ${at}`);
        if (Number(depth) >= 3) assert.ok(isError, `${depth}: ${text}`);
        checkWords({ message: text });
      }
      await isStillThere(client);
    });
  });

  it("have no key for the model: each call says so, and the connection stays open", async () => {
    const env = { OFFSHOOT_MODEL: "openai/gpt-5.1", OFFSHOOT_URL: "" };
    await withServer({ engine: counting(), env }, async (client) => {
      await greet(client);
      call(client, 7, "agent", { prompt: "Go" });
      const { result, error } = await client.answerTo(7);
      assert.match(JSON.stringify(result ?? error), /OPENAI_API_KEY/);
      await isStillThere(client);
    });
  });

  it("widen nothing by what they send beside a call", async () => {
    const engine = script(reply.calls([WRITE]), reply.text("Done."));
    await withServer({ engine, args: ["--tools", "read"] }, async (client) => {
      await greet(client);
      call(client, 6, "agent", { prompt: "Go", tools: ["write"], approve: "auto" });
      const { text, isError } = await saidTo(client, 6);
      assert.ok(isError, text);
      const _meta = { approve: "auto", tools: ["write"] };
      client.request(7, "tools/call", { name: "agent", arguments: { prompt: "Go" }, _meta });
      await saidTo(client, 7);
      assert.ok(!existsSync(join(client.place.cwd, "a.txt")));
    });
  });

  it("leave in the middle of a line, or of a call: nothing more is run, and the record has the ending", async () => {
    await withServer({ engine: counting() }, async (client) => {
      await greet(client);
      client.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"agent","argu');
      assert.equal((await client.leave()).code, 0);
      assert.equal(client.upstream.requests.length, 0);
    });
    await withServer({ engine: script(), faults: noAnswer() }, async (client) => {
      await greet(client);
      call(client, 7, "agent", { prompt: "Go" });
      await untilTrue(() => client.upstream.requests.length > 0, "the model call");
      assert.equal((await client.leave()).code, 0);
      const [id = ""] = await client.place.runIds();
      assert.equal((await client.place.show(id)).ending, "cancelled");
    });
  });
});
