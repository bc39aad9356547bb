/** What an editor, or what pretends to be one, may send to `offshoot acp`: nothing runs twice, and the connection stays open. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { noAnswer, reply, respond, type Script, script } from "../../src/testing/index.ts";
import { createPlace } from "../e2e/command.ts";
import { until, untilTrue } from "../patience.ts";
import {
  checkWords,
  type Frame,
  type LineClient,
  storeForTenant,
  withLines,
} from "./line-client.ts";

const HELLO = { protocolVersion: 1, clientCapabilities: {} };
const WRITE = { name: "write", arguments: { path: "a.txt", content: "x" } };
const BUFFERS = { fs: { readTextFile: true, writeTextFile: true } };

/** A model that answers each prompt with a number. */
function counting(): Script {
  let asked = 0;
  return respond(() => reply.text(`Answer ${++asked}.`));
}

const withEditor = (
  setup: Omit<Parameters<typeof withLines>[1], "words">,
  use: (client: LineClient) => Promise<void>,
): Promise<void> => withLines(["acp"], setup, use);

async function open(client: LineClient, clientCapabilities: object = {}): Promise<string> {
  client.request(1, "initialize", { ...HELLO, clientCapabilities });
  await client.answerTo(1);
  client.request(2, "session/new", { cwd: client.place.cwd, mcpServers: [] });
  const { result, error } = await client.answerTo(2);
  return String(result?.["sessionId"] ?? assert.fail(error?.message));
}

function prompt({ request }: LineClient, id: unknown, sessionId: string): void {
  request(id, "session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
}

function answersTo({ frames }: LineClient, id: unknown): Frame[] {
  return frames().filter((frame) => frame.id === id && frame.method === undefined);
}

describe("attacks on offshoot acp", () => {
  it("ask for a session of another tenant or without an owner, and get none", async () => {
    await using place = await createPlace();
    const env = { OFFSHOOT_STORE: join(place.home, "record.db") };
    const items = [{ type: "message", role: "user", content: "The shop's secret" }];
    const conversation = { path: "/v1/conversations", body: { items } };
    const foreign = await storeForTenant(place, env, conversation);
    assert.match(foreign, /^conv_/);
    await withEditor({ engine: counting(), place, env }, async (client) => {
      await open(client);
      const names = [foreign, "conv_none", "../../etc/passwd", "run_none", "", "conv_%00"];
      for (const [at, sessionId] of names.entries()) {
        const params = { sessionId, cwd: place.cwd, mcpServers: [] };
        for (const method of ["session/load", "session/resume", "session/fork"]) {
          const id = `${method} ${at}`;
          client.request(id, method, params);
          const { error } = await client.answerTo(id);
          checkWords(error ?? assert.fail(`${method} ${sessionId} was answered`));
        }
      }
      client.request("all", "session/list", {});
      await client.answerTo("all");
      assert.doesNotMatch(JSON.stringify(client.frames()), /The shop's secret/);
      assert.equal(client.upstream.requests.length, 0);
    });
  });

  it("send a request twice, or two prompts at once, and one of them is run", async () => {
    await withEditor({ engine: counting() }, async (client) => {
      const session = await open(client);
      for (let at = 0; at < 20; at++) prompt(client, 7, session);
      await until(() => answersTo(client, 7).length === 20 || undefined, "20 answers");
      const answers = answersTo(client, 7);
      const done = answers.filter(({ result }) => result?.["stopReason"] === "end_turn");
      assert.equal(done.length, client.upstream.requests.length);
      assert.equal(done.length, 1);
      for (const { error } of answers.filter((one) => one.error)) {
        assert.equal(error?.code, -32_600);
        assert.match(error.message, /is being answered/);
      }
      prompt(client, 8, session);
      assert.equal((await client.answerTo(8)).result?.["stopReason"], "end_turn");
    });
  });

  it("answer a question twice, late, or with what was not offered: the first answer counts, and a strange one is a no", async () => {
    const rows: [string, object, boolean][] = [
      ["twice", { outcome: { outcome: "selected", optionId: "once" } }, true],
      ["a strange option", { outcome: { outcome: "selected", optionId: "sudo" } }, false],
      ["another form", { outcome: "selected", optionId: "once" }, false],
      ["no outcome", {}, false],
      ["a list", { outcome: ["once"] }, false],
    ];
    for (const [what, result, isWritten] of rows) {
      const engine = script(reply.calls([WRITE]), reply.text("Done."), reply.text("Next."));
      await withEditor({ engine }, async (client) => {
        const session = await open(client);
        prompt(client, 7, session);
        const { id } = await client.called("session/request_permission");
        client.send({ id, result });
        client.send({ id, result: { outcome: { outcome: "selected", optionId: "always" } } });
        client.send({ id: "nobody", result });
        client.send({ id, error: { code: -32_000, message: "changed my mind" } });
        const { result: ended, error } = await client.answerTo(7);
        assert.equal(ended?.["stopReason"], "end_turn", `${what}: ${error?.message}`);
        assert.equal(existsSync(join(client.place.cwd, "a.txt")), isWritten, what);
        assert.equal(client.upstream.requests.length, 2, what);
        prompt(client, 8, session);
        assert.equal((await client.answerTo(8)).result?.["stopReason"], "end_turn", what);
      });
    }
  });

  it("choose always where it is not offered, and are asked again", async () => {
    const secret = { name: "read", arguments: { path: ".env" } };
    const engine = script(reply.calls([secret]), reply.calls([secret]), reply.text("Done."));
    await withEditor({ engine, files: { ".env": "KEY=1" } }, async (client) => {
      const session = await open(client);
      prompt(client, 7, session);
      const first = await client.called("session/request_permission");
      const offered = JSON.stringify(first.params?.["options"]);
      assert.doesNotMatch(offered, /always/);
      client.send({
        id: first.id,
        result: { outcome: { outcome: "selected", optionId: "always" } },
      });
      const second = await until(
        () =>
          client
            .frames()
            .filter(({ method }) => method === "session/request_permission")
            .at(1),
        "the second question",
      );
      client.send({ id: second.id, result: { outcome: { outcome: "cancelled" } } });
      assert.equal((await client.answerTo(7)).result?.["stopReason"], "cancelled");
      const told = JSON.stringify(client.upstream.requests.at(1)?.body);
      assert.doesNotMatch(told, /KEY=1/);
    });
  });

  it("give buffers that are not text, too long, or an error, and the prompt continues", async () => {
    const read = { name: "read", arguments: { path: "a.txt" } };
    const rows: [string, object][] = [
      ["a number", { result: { content: 7 } }],
      ["nothing", { result: null }],
      ["an error", { error: { code: -32_603, message: "the buffer is gone" } }],
      ["no content", { result: {} }],
      ["10 MB", { result: { content: "x".repeat(10_000_000) } }],
    ];
    for (const [what, answer] of rows) {
      const engine = script(reply.calls([read]), reply.text("Done."));
      await withEditor({ engine, files: { "a.txt": "on disk" } }, async (client) => {
        const session = await open(client, BUFFERS);
        prompt(client, 7, session);
        const { id } = await client.called("fs/read_text_file");
        client.send({ id, ...answer });
        client.send({ id, result: { content: "a second answer" } });
        const { result, error } = await client.answerTo(7);
        assert.equal(result?.["stopReason"], "end_turn", `${what}: ${error?.message}`);
        const told = JSON.stringify(client.upstream.requests.at(1)?.body);
        assert.doesNotMatch(told, /a second answer/, what);
        assert.ok(told.length < 1_000_000, `${what}: ${told.length} characters for the model`);
      });
    }
  });

  it("open sessions where nothing is, and read nothing outside of their folder", async () => {
    await withEditor({ engine: counting(), files: { "a.txt": "x" } }, async (client) => {
      const session = await open(client);
      const { cwd } = client.place;
      const rows = ["relative/path", join(cwd, "a.txt"), join(cwd, "gone"), "", "\u0000", "~"];
      for (const [at, place] of rows.entries()) {
        client.request(`cwd ${at}`, "session/new", { cwd: place, mcpServers: [] });
        const { error } = await client.answerTo(`cwd ${at}`);
        checkWords(error ?? assert.fail(`a session in ${JSON.stringify(place)}`));
      }
      prompt(client, 7, session);
      assert.equal((await client.answerTo(7)).result?.["stopReason"], "end_turn");
    });
  });

  it("send fields that do not fit, and are told which; what is not needed may be left out", async () => {
    await withEditor({ engine: counting() }, async (client) => {
      const sessionId = await open(client);
      const { cwd } = client.place;
      const rows: [string, object, RegExp][] = [
        ["session/new", { cwd: 7 }, /`params\.cwd` does not fit: expected string/],
        ["session/new", { cwd, mcpServers: "x" }, /`params\.mcpServers` does not fit/],
        ["session/new", { cwd, mcpServers: [7] }, /`params\.mcpServers\.0` does not fit/],
        ["session/prompt", { sessionId, prompt: "x" }, /`params\.prompt` does not fit/],
        ["session/prompt", { prompt: [] }, /`params\.sessionId` does not fit:.*it is missing/],
        ["session/list", { cursor: 7 }, /`params\.cursor` does not fit/],
        ["session/list", [1], /`params` does not fit: expected object/],
      ];
      for (const [at, [method, params, problem]] of rows.entries()) {
        client.request(`row ${at}`, method, params);
        const { error } = await client.answerTo(`row ${at}`);
        assert.equal(error?.code, -32_602, `${method} ${JSON.stringify(params)}`);
        assert.match(error.message, problem);
        checkWords(error);
      }
      const servers = [
        { name: "a", command: process.execPath },
        { name: "b", command: process.execPath, args: null, env: null },
        { type: "http", name: "c", url: "http://127.0.0.1:1/" },
      ];
      client.request("lenient", "session/new", { cwd, mcpServers: servers });
      const { result, error } = await client.answerTo("lenient");
      assert.ok(result?.["sessionId"], error?.message);
    });
  });

  it("flood it with requests, of which each is answered once", async () => {
    await withEditor({ engine: counting() }, async (client) => {
      const session = await open(client);
      const ids = Array.from({ length: 500 }, (_, at) => 1000 + at);
      for (const id of ids) {
        const method = ["session/list", "no/such", "session/set_mode", "session/cancel"][id % 4];
        client.request(id, String(method), { sessionId: session, modeId: "nobody" });
      }
      client.write("{".repeat(100_000));
      client.write("\n");
      for (const id of ids) await client.answerTo(id);
      assert.equal(new Set(ids.flatMap((id) => answersTo(client, id).length)).size, 1);
      prompt(client, 7, session);
      assert.equal((await client.answerTo(7)).result?.["stopReason"], "end_turn");
      assert.equal(client.upstream.requests.length, 1);
    });
  });

  it("leave in the middle of a frame, or of a prompt: nothing more is run, and the record has the ending", async () => {
    await withEditor({ engine: counting() }, async (client) => {
      const session = await open(client);
      const text = [{ type: "text", text: "Go" }];
      const frame = { jsonrpc: "2.0", id: 7, method: "session/prompt" };
      const whole = JSON.stringify({ ...frame, params: { sessionId: session, prompt: text } });
      client.write(whole.slice(0, -20));
      assert.equal((await client.leave()).code, 0);
      assert.equal(client.upstream.requests.length, 0);
    });
    await withEditor({ engine: script(), faults: noAnswer() }, async (client) => {
      const session = await open(client);
      prompt(client, 7, session);
      await untilTrue(() => client.upstream.requests.length > 0, "the model call");
      assert.equal((await client.leave()).code, 0);
      const [id = ""] = await client.place.runIds();
      assert.equal((await client.place.show(id)).ending, "cancelled");
    });
  });

  it("close, load or delete a session whose prompt is being answered: the prompt is cancelled, and so is its run", async () => {
    for (const method of ["session/close", "session/load", "session/resume", "session/delete"]) {
      await withEditor({ engine: script(), faults: noAnswer() }, async (client) => {
        const sessionId = await open(client);
        prompt(client, 7, sessionId);
        await untilTrue(() => client.upstream.requests.length > 0, "the model call");
        client.request(8, method, { sessionId, cwd: client.place.cwd, mcpServers: [] });
        const { result, error } = await client.answerTo(7);
        assert.equal(result?.["stopReason"], "cancelled", `${method}: ${error?.message}`);
        assert.ok((await client.answerTo(8)).result, method);
        assert.equal((await client.leave()).code, 0);
        const [id] = await client.place.runIds();
        if (id !== undefined) assert.equal((await client.place.show(id)).ending, "cancelled");
      });
    }
  });

  it("load one session many times at once: each request is answered, and the session works", async () => {
    await withEditor({ engine: counting() }, async (client) => {
      const sessionId = await open(client);
      prompt(client, 7, sessionId);
      assert.equal((await client.answerTo(7)).result?.["stopReason"], "end_turn");
      const params = { sessionId, cwd: client.place.cwd, mcpServers: [] };
      const ids = Array.from({ length: 10 }, (_, at) => `load ${at}`);
      for (const id of ids) client.request(id, "session/load", params);
      for (const id of ids) {
        const { result, error } = await client.answerTo(id);
        assert.ok(result, `${id}: ${error?.message}`);
      }
      prompt(client, 8, sessionId);
      assert.equal((await client.answerTo(8)).result?.["stopReason"], "end_turn");
      assert.equal((await client.leave()).code, 0);
    });
  });

  it("close a session while the person is asked: the prompt is cancelled, and a late yes runs nothing", async () => {
    const servers = [{ name: "a", command: process.execPath, args: ["-e", ""], env: [] }];
    const rows: [string, object[]][] = [
      ["a call", []],
      ["a server", servers],
    ];
    for (const [what, mcpServers] of rows) {
      const engine = script(reply.calls([WRITE]), reply.text("Done."));
      await withEditor({ engine }, async (client) => {
        client.request(1, "initialize", HELLO);
        await client.answerTo(1);
        client.request(2, "session/new", { cwd: client.place.cwd, mcpServers });
        const sessionId = String((await client.answerTo(2)).result?.["sessionId"]);
        prompt(client, 7, sessionId);
        const { id } = await client.called("session/request_permission");
        client.request(8, "session/close", { sessionId });
        const { result, error } = await client.answerTo(7);
        assert.equal(result?.["stopReason"], "cancelled", `${what}: ${error?.message}`);
        assert.ok((await client.answerTo(8)).result, what);
        client.send({ id, result: { outcome: { outcome: "selected", optionId: "once" } } });
        assert.equal((await client.leave()).code, 0, what);
        assert.ok(!existsSync(join(client.place.cwd, "a.txt")), what);
      });
    }
  });

  it("have it say nothing but the protocol, and no key", async () => {
    const env = {
      OFFSHOOT_MODEL: "openai/gpt-5.1",
      OFFSHOOT_URL: "",
      OPENAI_API_KEY: "sk-secret-1",
    };
    const failing = script(reply.status(401, { error: { message: "Wrong key sk-secret-1." } }));
    await withEditor({ engine: failing }, async (client) => {
      const session = await open(client);
      prompt(client, 7, session);
      const { error } = await client.answerTo(7);
      checkWords(error ?? assert.fail("a failed prompt was answered"));
    });
    await withEditor({ engine: failing, env }, async (client) => {
      const session = await open(client);
      client.request(8, "session/set_config_option", {
        sessionId: session,
        configId: "model",
        value: "nobody/at-all",
      });
      const { error } = await client.answerTo(8);
      checkWords(error ?? assert.fail("a model that does not exist"));
      const { stdout, stderr } = await client.leave();
      assert.doesNotMatch(stdout + stderr, /sk-secret-1/);
      for (const line of stdout.trim().split("\n")) assert.equal(JSON.parse(line).jsonrpc, "2.0");
    });
  });

  it("write through a link that leads out of the folder, whatever the editor has open", async () => {
    const outside = { name: "write", arguments: { path: "../out.txt", content: "x" } };
    const engine = script(reply.calls([outside]), reply.text("Done."));
    await withEditor({ engine, args: ["--approve", "auto"] }, async (client) => {
      const session = await open(client, BUFFERS);
      prompt(client, 7, session);
      assert.equal((await client.answerTo(7)).result?.["stopReason"], "end_turn");
      assert.ok(!client.frames().some(({ method }) => method === "fs/write_text_file"));
      assert.ok(!existsSync(join(client.place.cwd, "..", "out.txt")));
      await assert.rejects(readFile(join(client.place.cwd, "..", "out.txt")));
    });
  });
});
