import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly temperature?: number;
}

function bodyOf(server: TestServer): ChatBody {
  return server.upstream.requests.at(-1)?.body as unknown as ChatBody;
}

const overrides = [{ vendor: "custom", name: "scripted", contextTokens: 1000 }];

describe("truncation", () => {
  const long = (word: string): string => `${word} `.repeat(250);

  it("drops the oldest of a chain that does not fit the model", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
      { overrides },
    );
    const first = await server.create({ input: long("one") });
    const second = await server.create({ input: long("two"), previous_response_id: first.id });
    const asked = { input: long("six"), previous_response_id: second.id, truncation: "auto" };
    const third = await server.create(asked);
    assert.equal(third.truncation, "auto");
    const told = bodyOf(server).messages.map(({ content }) => String(content).slice(0, 3));
    assert.deepEqual(told, ["two", "Ok.", "six"]);
  });

  it("cuts an input that is too long by itself", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
      { overrides },
    );
    const input = Array.from({ length: 20 }, (_, at) => ({
      role: "user",
      content: long(`m${at}`),
    }));
    await server.create({ input, truncation: "auto" });
    assert.ok(bodyOf(server).messages.length < 4);
    const refused = await server.ask("POST", "/v1/responses", { input });
    assert.equal(refused.status, 400);
  });

  it("leaves it to the vendor where it is disabled, whose error is the client's", async (t) => {
    const code = "context_length_exceeded";
    const error = { message: "Too many tokens.", type: "invalid_request_error", code };
    const server = await startServer(t, script(reply.status(400, { error })));
    const { status, body } = await server.ask("POST", "/v1/responses", { input: "Hi" });
    assert.deepEqual([status, (body as { error: { code: string } }).error.code], [400, code]);
  });
});

describe("prompts of the operator", () => {
  function keepPrompts(
    files: Readonly<Record<string, string>>,
  ): ReturnType<typeof createWorkspaceFolder> {
    const folder = createWorkspaceFolder({});
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder.root, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return folder;
  }

  const files = {
    "pirate.md": "---\ntemperature: 0.3\n---\nTalk like {{who}}.\n",
    "pirate@2.md": "Sing like {{who}}.",
    "review.md": "---\ninstructions: Be strict.\nrole: user\n---\nReview {{file}} now.",
  };

  it("fill requests that name them, in the version that is named", async (t) => {
    const folder = keepPrompts(files);
    t.after(() => folder[Symbol.dispose]());
    const settings = { promptsDir: folder.root };
    const server = await startServer(
      t,
      respond(() => reply.text("Arr.")),
      { settings },
    );
    const prompt = { id: "pirate", variables: { who: "a pirate" } };
    const made = await server.create({ prompt, input: "Hi" });
    assert.deepEqual(made.prompt, prompt);
    assert.equal(made.instructions, "Talk like a pirate.");
    assert.equal(made.temperature, 0.3);
    assert.equal(bodyOf(server).temperature, 0.3);
    const second = await server.create({ prompt: { ...prompt, version: "2" }, input: "Hi" });
    assert.equal(second.instructions, "Sing like a pirate.");
  });

  it("may be all there is to say", async (t) => {
    const folder = keepPrompts(files);
    t.after(() => folder[Symbol.dispose]());
    const settings = { promptsDir: folder.root };
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
      { settings },
    );
    const file = { type: "input_file", filename: "a.txt", file_data: "QQ==" };
    await server.create({ prompt: { id: "review", variables: { file } } });
    const [rules, asked] = bodyOf(server).messages;
    assert.equal(rules?.content, "Be strict.");
    assert.match(JSON.stringify(asked?.content), /Review [\s\S]*<file name[\s\S]*now\./);
  });

  it("are not there under another name, and no name leads out of the folder", async (t) => {
    const folder = keepPrompts({ ...files, "inner/secret.md": "Secret." });
    t.after(() => folder[Symbol.dispose]());
    const settings = { promptsDir: join(folder.root, "inner") };
    const server = await startServer(t, script(), { settings });
    for (const prompt of [
      { id: "pirate" },
      { id: "../pirate" },
      { id: "secret", version: "../../pirate" },
      { id: "..%2fpirate" },
      { id: "secret\u0000" },
    ]) {
      const { status, body } = await server.ask("POST", "/v1/responses", { prompt, input: "x" });
      assert.deepEqual([status, paramOf(body)], [404, "prompt.id"]);
    }
  });
});

describe("a run that is interrupted in the middle", () => {
  it("continues in another process with its chain, its references and its compaction", async (t) => {
    const storePath = newDatabasePath();
    const usage = { input: 5000 };
    const before = [reply.text("Noted."), reply.silence("Thinking")];
    // The model's address is in the record: the same server is asked again.
    const behind = [reply.text("Blue.", { usage }), reply.text("MEMORY")];
    const first = await startServer(t, script(...before, ...behind), { storePath });
    const one = await first.create({ input: "My colour is blue." });
    const input = [{ id: one.output[0]?.id }, { role: "user", content: "Which?" }];
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    const asked = { input, context_management, background: true };
    const { id } = await first.create({ ...asked, previous_response_id: one.id });
    // Until the model has been asked, which it does not answer.
    while (first.upstream.requests.length < 2) await first.ask("GET", `/v1/responses/${id}`);
    await first.runtime.close();
    const { url, responses } = await startServer(t, script(), { storePath });
    await responses.start();
    for (;;) {
      const answer = await fetch(`${url}/v1/responses/${id}`);
      const response = (await answer.json()) as { status: string; output: { type: string }[] };
      if (response.status === "in_progress" || response.status === "queued") continue;
      assert.equal(response.status, "completed");
      const types = response.output.map(({ type }) => type);
      assert.deepEqual(types, ["message", "compaction"]);
      return;
    }
  });
});

function paramOf(body: unknown): unknown {
  return (body as { error: { param: unknown } }).error.param;
}
