/** `offshoot acp` with the protocol's own client: every announced method, restarts, permissions, and messages by its schema. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type AnyMessage,
  type ClientContext,
  client,
  methods,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  type Fault,
  noAnswer,
  reply,
  type Script,
  script,
  type Upstream,
} from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { CHAT } from "./wires.ts";

interface Editor extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  /** Everything that the agent sent, as it came. */
  readonly sent: AnyMessage[];
}

interface Opening {
  readonly place: Place;
  readonly upstream: Upstream;
  readonly answer?: "once" | "no";
}

async function openEditor({ place, upstream, answer = "once" }: Opening): Promise<Editor> {
  const child = spawn(process.execPath, [CLI, "acp"], {
    cwd: place.cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: place.home,
      OFFSHOOT_PROBE_LOCAL: "false",
      OFFSHOOT_MODEL: "custom/test-model",
      OFFSHOOT_URL: upstream.url,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const updates: SessionUpdate[] = [];
  const sent: AnyMessage[] = [];
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const watched = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      sent.push(message);
      controller.enqueue(message);
    },
  });
  const app = client({ name: "test" });
  app.onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
  });
  app.onRequest(methods.client.session.requestPermission, () => ({
    outcome: { outcome: "selected", optionId: answer },
  }));
  const connection = app.connect({ ...stream, readable: stream.readable.pipeThrough(watched) });
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
  });
  return {
    ...{ agent: connection.agent, updates, sent },
    async [Symbol.asyncDispose]() {
      connection.close();
      if (child.exitCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await gone;
    },
  };
}

interface More {
  readonly faults?: Fault;
  readonly answer?: "once" | "no";
}

async function withEditor(
  engine: Script,
  use: (editor: Editor, opening: Opening) => Promise<void>,
  { faults, answer }: More = {},
): Promise<void> {
  await using place = await createPlace();
  const upstream = await CHAT.start({ engine, ...(faults ? { faults } : {}) });
  const opening = { place, upstream, ...(answer ? { answer } : {}) };
  try {
    await using editor = await openEditor(opening);
    await use(editor, opening);
  } finally {
    await upstream.close();
  }
}

async function newSession({ agent }: Editor, { place }: Opening): Promise<string> {
  const params = { cwd: place.cwd, mcpServers: [] };
  const answer: NewSessionResponse = await agent.request(methods.agent.session.new, params);
  return answer.sessionId;
}

async function ask({ agent }: Editor, sessionId: string, text: string): Promise<string> {
  const prompt = [{ type: "text" as const, text }];
  const asked = { sessionId, prompt };
  const answer: PromptResponse = await agent.request(methods.agent.session.prompt, asked);
  return answer.stopReason;
}

function saidBy(updates: readonly SessionUpdate[], kind: string): string {
  return updates
    .map((one) =>
      one.sessionUpdate === kind && "content" in one && one.content && "text" in one.content
        ? one.content.text
        : "",
    )
    .join("");
}

const WRITE = { name: "write", arguments: JSON.stringify({ path: "a.txt", content: "hello" }) };

describe("offshoot acp", () => {
  it("answers a prompt in a session, with usage, and goes on with it", async () => {
    await withEditor(script(reply.text("Blue."), reply.text("Sky.")), async (editor, opening) => {
      const sessionId = await newSession(editor, opening);
      assert.equal(await ask(editor, sessionId, "Colour?"), "end_turn");
      assert.equal(saidBy(editor.updates, "agent_message_chunk"), "Blue.");
      assert.ok(editor.updates.some(({ sessionUpdate }) => sessionUpdate === "usage_update"));
      await ask(editor, sessionId, "Of what?");
      const sent = JSON.stringify(opening.upstream.requests.at(-1)?.body);
      assert.match(sent, /Colour\?.*Blue\..*Of what\?/);
    });
  });

  it("asks for permission with the change, and does as the person says", async () => {
    for (const answer of ["once", "no"] as const) {
      const engine = script(reply.calls([WRITE]), reply.text("Done."));
      await withEditor(
        engine,
        async (editor, opening) => {
          await ask(editor, await newSession(editor, opening), "Write it");
          assert.equal(existsSync(join(opening.place.cwd, "a.txt")), answer === "once");
          const call = editor.updates.find(({ sessionUpdate }) => sessionUpdate === "tool_call");
          assert.match(JSON.stringify(call), /"newText":"hello".*"type":"diff"/);
        },
        { answer },
      );
    }
  });

  it("gives a session back to an editor that was started again, and tells what was said", async () => {
    await withEditor(script(reply.text("Kept."), reply.text("Again.")), async (editor, opening) => {
      const { cwd } = opening.place;
      const sessionId = await newSession(editor, opening);
      await ask(editor, sessionId, "Keep this");
      await using second = await openEditor(opening);
      const listed = await second.agent.request(methods.agent.session.list, { cwd });
      assert.deepEqual(
        listed.sessions.map((one) => one.sessionId),
        [sessionId],
      );
      await second.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
      assert.equal(saidBy(second.updates, "user_message_chunk"), "Keep this");
      assert.equal(saidBy(second.updates, "agent_message_chunk"), "Kept.");
      await using third = await openEditor(opening);
      await third.agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
      assert.equal(saidBy(third.updates, "agent_message_chunk"), "");
      assert.equal(await ask(third, sessionId, "And?"), "end_turn");
      const sent = JSON.stringify(opening.upstream.requests.at(-1)?.body);
      assert.match(sent, /Keep this.*Kept\..*And\?/);
      await third.agent.request(methods.agent.session.close, { sessionId });
      await third.agent.request(methods.agent.session.delete, { sessionId });
      const left = await third.agent.request(methods.agent.session.list, { cwd });
      assert.deepEqual(left.sessions, []);
    });
  });

  it("says that a session is gone, and never gives an empty one in its place", async () => {
    await withEditor(script(), async (editor, { place }) => {
      const params = { sessionId: "conv_gone", cwd: place.cwd, mcpServers: [] };
      await assert.rejects(editor.agent.request(methods.agent.session.load, params), /conv_gone/);
    });
  });

  it("answers a cancelled prompt with `cancelled`", async () => {
    await withEditor(
      script(),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        const asked = ask(editor, sessionId, "Hang");
        await until(async () => opening.upstream.requests.length > 0 || undefined, "the call");
        await editor.agent.notify(methods.agent.session.cancel, { sessionId });
        assert.equal(await asked, "cancelled");
      },
      { faults: noAnswer() },
    );
  });

  it("offers model, approvals and thinking as options, and takes a choice", async () => {
    const engine = script(reply.calls([WRITE]), reply.text("Done."));
    await withEditor(engine, async (editor, { place }) => {
      const { agent } = editor;
      const params = { cwd: place.cwd, mcpServers: [] };
      const opened: NewSessionResponse = await agent.request(methods.agent.session.new, params);
      const { sessionId, configOptions } = opened;
      const categories = (configOptions ?? []).map(({ category }) => category);
      assert.deepEqual(categories, ["model", "mode", "thought_level"]);
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: "deny" });
      const set = { sessionId, configId: "thinking", value: "on" };
      const changed = await agent.request(methods.agent.session.setConfigOption, set);
      assert.match(JSON.stringify(changed), /"id":"thinking".*"currentValue":"on"/);
      await ask(editor, sessionId, "Write it");
      assert.ok(!existsSync(join(place.cwd, "a.txt")));
      const wrong = agent.request(methods.agent.session.setMode, { sessionId, modeId: "nope" });
      await assert.rejects(wrong, /no mode/);
    });
  });

  it("tells commands after the answer that names the session, and answers them itself", async () => {
    await withEditor(script(), async (editor, opening) => {
      const sessionId = await newSession(editor, opening);
      const indexOf = (text: string): number =>
        editor.sent.findIndex((one) => JSON.stringify(one).includes(text));
      await until(async () => indexOf("available_commands_update") >= 0 || undefined, "them");
      assert.ok(indexOf(`"sessionId":"${sessionId}"`) < indexOf("available_commands_update"));
      await ask(editor, sessionId, "/cost");
      assert.match(saidBy(editor.updates, "agent_message_chunk"), /\$0/);
      assert.equal(opening.upstream.requests.length, 0);
    });
  });

  it("sends no update that the published schema does not know", async () => {
    const file = "../../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json";
    const schema = JSON.parse(readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8"));
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    ajv.addSchema(schema, "acp");
    const isUpdate = ajv.getSchema("acp#/$defs/SessionNotification");
    assert.ok(isUpdate);
    const engine = script(reply.calls([WRITE]), reply.text("Done."));
    await withEditor(engine, async (editor, opening) => {
      await ask(editor, await newSession(editor, opening), "Write it");
      const notes = editor.sent.filter((one) => "method" in one && one.method === "session/update");
      assert.ok(notes.length > 3);
      for (const note of notes) {
        const { params } = note as { params: unknown };
        assert.ok(isUpdate(params), JSON.stringify([note, isUpdate.errors]));
      }
    });
  });

  it("goes on after frames that are cut, joined, unknown or no JSON", async () => {
    await using place = await createPlace();
    const params = { protocolVersion: 1, clientCapabilities: {}, unknownField: true };
    const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const unknown = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "no/such", params: {} });
    const pieces = [`not json\n${hello.slice(0, 10)}`, `${hello.slice(10)}\n${unknown}\n`];
    const { code, stdout } = await place.run(["acp"], { input: Readable.from(pieces) });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(code, 0);
    assert.equal(answers.find(({ id }) => id === 1)?.result.protocolVersion, 1);
    assert.ok(answers.find(({ id }) => id === 2)?.error.code < 0);
  });
});
