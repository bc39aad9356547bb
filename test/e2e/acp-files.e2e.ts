/** Files through the editor's buffers, the MCP servers that the editor names, and stopping work. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type McpServer, methods, type PromptResponse } from "@agentclientprotocol/sdk";
import { noAnswer, reply, respond, script } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { offeredTools } from "../server/mcp-client.ts";
import {
  type Answer,
  ask,
  type Editor,
  newSession,
  openEditor,
  saidBy,
  updatesOf,
  withEditor,
} from "./acp-editor.ts";
import { createPlace } from "./command.ts";

const BOTH = { fs: { readTextFile: true, writeTextFile: true } };

function call(name: string, given: object): { name: string; arguments: string } {
  return { name, arguments: JSON.stringify(given) };
}

describe("files in an editor", () => {
  it("are read from its buffers, saved or not, and written into them", async () => {
    const engine = script(
      reply.calls([call("read", { path: "a.txt" }), call("read", { path: "new.txt" })]),
      reply.calls([call("edit", { path: "a.txt", old_string: "unsaved", new_string: "edited" })]),
      reply.calls([call("write", { path: "deep/b.txt", content: "written" })]),
      reply.text("Done."),
    );
    await withEditor(
      engine,
      async (editor, opening) => {
        const { cwd } = opening.place;
        const path = join(cwd, "a.txt");
        editor.buffers.set(path, "an unsaved line");
        editor.buffers.set(join(cwd, "new.txt"), "never saved");
        await ask(editor, await newSession(editor, opening), "Work");
        const [, second] = opening.upstream.requests.map(({ text }) => text);
        assert.match(second ?? "", /an unsaved line/);
        assert.match(second ?? "", /never saved/);
        assert.doesNotMatch(second ?? "", /saved on disk/);
        assert.deepEqual(editor.written, [path, join(cwd, "deep", "b.txt")]);
        assert.equal(editor.buffers.get(path), "an edited line");
        assert.equal(await readFile(path, "utf8"), "saved on disk");
        assert.ok(!existsSync(join(cwd, "deep", "b.txt")));
        const changes = updatesOf(editor, "tool_call").flatMap(({ content }) => content ?? []);
        assert.deepEqual(changes, [
          { type: "diff", path, oldText: "an unsaved line", newText: "an edited line" },
          { type: "diff", path: join(cwd, "deep", "b.txt"), oldText: null, newText: "written" },
        ]);
      },
      { capabilities: BOTH, files: { "a.txt": "saved on disk" } },
    );
  });

  it("are on disk if the editor has no buffers, or does not know the file", async () => {
    const reads = [call("read", { path: "a.txt" }), call("read", { path: "none.txt" })];
    const engine = () =>
      script(
        reply.calls(reads),
        reply.calls([call("write", { path: "b.txt", content: "written" })]),
        reply.text("Done."),
      );
    for (const fs of [{}, { readTextFile: true }]) {
      await withEditor(
        engine(),
        async (editor, opening) => {
          await ask(editor, await newSession(editor, opening), "Work");
          const sent = opening.upstream.requests[1]?.text ?? "";
          assert.match(sent, /saved on disk/);
          assert.match(sent, /Error: .*none\.txt/);
          assert.deepEqual(editor.written, []);
          assert.equal(await readFile(join(opening.place.cwd, "b.txt"), "utf8"), "written");
        },
        { capabilities: { fs }, files: { "a.txt": "saved on disk" } },
      );
    }
  });

  it("are only those of the folder, whatever the editor has open", async () => {
    const outside = call("read", { path: "../../secret.txt" });
    const key = call("read", { path: ".git/config" });
    const engine = script(reply.calls([outside, key]), reply.text("Done."));
    await withEditor(
      engine,
      async (editor, opening) => {
        const { cwd } = opening.place;
        editor.buffers.set(join(cwd, "../../secret.txt"), "the secret");
        editor.buffers.set(join(cwd, ".git/config"), "the secret");
        await ask(editor, await newSession(editor, opening), "Read it");
        assert.doesNotMatch(opening.upstream.requests.at(-1)?.text ?? "", /the secret/);
      },
      { capabilities: BOTH },
    );
  });
});

const SERVER = fileURLToPath(
  new URL("../../../test/e2e/fixtures/small-mcp-server.mjs", import.meta.url),
);

function toServer(place: { readonly cwd: string }): McpServer {
  const env = [{ name: "STARTED", value: join(place.cwd, "started") }];
  return { name: "Small Server", command: process.execPath, args: [SERVER], env };
}

describe("MCP servers that an editor names", () => {
  const echo = call("mcp__small-server__echo", { text: "hello" });
  const isServer = (id: string): boolean => id === "mcp:small-server";

  it("are started if the user agrees, after the session is known, and provide their tools", async () => {
    const engine = script(reply.calls([echo]), reply.text("Done."));
    await withEditor(engine, async (editor, opening) => {
      const { place } = opening;
      const sessionId = await newSession(editor, opening, [toServer(place)]);
      assert.ok(!existsSync(join(place.cwd, "started")));
      assert.equal(editor.permissions.length, 0);
      await ask(editor, sessionId, "Use it");
      const [first, second] = editor.permissions;
      assert.ok(isServer(first?.toolCall.toolCallId ?? ""));
      assert.match(first?.toolCall.title ?? "", /Start the MCP server small-server: .*small-mcp/);
      // Its tools are from another program: each needs approval like any other call.
      assert.equal(second?.toolCall.name, "mcp__small-server__echo");
      assert.match(opening.upstream.requests.at(-1)?.text ?? "", /You said: hello/);
    });
  });

  it("are neither started nor offered if the user does not agree", async () => {
    await withEditor(
      respond(() => reply.text("Done.")),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening, [toServer(opening.place)]);
        await ask(editor, sessionId, "Use it");
        await ask(editor, sessionId, "And again");
        assert.equal(editor.permissions.length, 1);
        assert.ok(!existsSync(join(opening.place.cwd, "started")));
        assert.ok(!offeredTools(opening.upstream).some((name) => name.startsWith("mcp__")));
        assert.match(saidBy(editor.updates, "agent_message_chunk"), /small-server is not used/);
      },
      { answer: "no" },
    );
  });

  it("are asked about once if they are always allowed, unless they have changed", async () => {
    const place = await createPlace();
    const engine = respond(() => reply.text("Done."));
    const asked: number[] = [];
    for (const args of [[], [], ["--more"]]) {
      await withEditor(
        engine,
        async (editor, opening) => {
          const server = { ...toServer(place), args: [SERVER, ...args] };
          await ask(editor, await newSession(editor, opening, [server]), "Go");
          asked.push(editor.permissions.length);
        },
        { place, answer: "always" },
      );
    }
    assert.deepEqual(asked, [1, 0, 1]);
    await place[Symbol.asyncDispose]();
  });

  it("are asked about again with the next prompt if the user cancels the question or the prompt", async () => {
    const ways: readonly ("question" | "prompt")[] = ["question", "prompt"];
    for (const way of ways) {
      const answers: (Answer | "none")[] = ["once", way === "question" ? "cancelled" : "none"];
      await withEditor(
        respond(() => reply.text("Done.")),
        async (editor, opening) => {
          const { place, upstream } = opening;
          const servers = ["First", "Second"].map((name) => ({ ...toServer(place), name }));
          const sessionId = await newSession(editor, opening, servers);
          const cancelled = ask(editor, sessionId, "Use them");
          await until(() => editor.permissions[1], "the second question");
          if (way === "prompt")
            await editor.agent.notify(methods.agent.session.cancel, { sessionId });
          assert.equal(await cancelled, "cancelled");
          assert.equal(upstream.requests.length, 0);
          assert.ok(!existsSync(join(place.cwd, "started")));
          assert.equal(await ask(editor, sessionId, "Again"), "end_turn");
          const asked = editor.permissions.map(({ toolCall }) => toolCall.toolCallId);
          assert.deepEqual(asked, ["mcp:first", "mcp:second", "mcp:second"]);
          const offered = offeredTools(upstream).filter((name) => name.startsWith("mcp__"));
          assert.deepEqual(offered, ["mcp__first__echo", "mcp__second__echo"]);
        },
        {
          answer: async () => {
            const next = answers.shift() ?? "once";
            return next === "none" ? await new Promise<never>(() => {}) : next;
          },
        },
      );
    }
  });

  it("are left out with a message if they cannot be started, and the prompt is answered", async () => {
    const servers: McpServer[] = [
      { name: "!!", command: "x", args: [], env: [] },
      { type: "http", name: "nowhere", url: "http://127.0.0.1:1/mcp", headers: [] },
      { name: "gone", command: "/no/such/program", args: [], env: [] },
    ];
    await withEditor(
      respond(() => reply.text("Done.")),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening, servers);
        assert.equal(await ask(editor, sessionId, "Go"), "end_turn");
        assert.match(JSON.stringify(updatesOf(editor, "notice")), /!!.*not used/);
        assert.match(saidBy(editor.updates, "agent_message_chunk"), /Done\.$/);
      },
      { capabilities: { session: { notices: {} } } },
    );
  });
});

describe("stopping in an editor", () => {
  it("answers `cancelled` while the model is asked, while a tool works, and while the user is asked", async () => {
    const sleep = call("shell", { command: "echo $$ > pid; exec sleep 1000", timeout: 300 });
    const write = call("write", { path: "a.txt", content: "x" });
    const stop = async (
      engine: ReturnType<typeof script>,
      setup: Parameters<typeof withEditor>[2],
      ready: (
        opening: Parameters<Parameters<typeof withEditor>[1]>[1],
        asked: () => number,
      ) => boolean,
      after: (cwd: string, editor: Editor) => Promise<void> = async () => {},
    ): Promise<void> => {
      await withEditor(
        engine,
        async (editor, opening) => {
          const sessionId = await newSession(editor, opening);
          const asked = ask(editor, sessionId, "Go");
          const count = (): number => editor.permissions.length;
          await until(() => ready(opening, count) || undefined, "the work");
          await editor.agent.notify(methods.agent.session.cancel, { sessionId });
          assert.equal(await asked, "cancelled");
          await after(opening.place.cwd, editor);
          assert.equal(opening.upstream.requests.length, 1);
        },
        setup,
      );
    };
    await stop(script(), { faults: noAnswer() }, ({ upstream }) => upstream.requests.length > 0);
    await stop(
      script(reply.calls([sleep]), reply.text("Never.")),
      { answer: "once" },
      // The file is there before its content is.
      ({ place }) =>
        existsSync(join(place.cwd, "pid")) &&
        readFileSync(join(place.cwd, "pid"), "utf8").endsWith("\n"),
      // By the time the editor gets the answer, the command has ended, and the editor knows it.
      async (cwd, { sent }) => {
        const pid = Number(await readFile(join(cwd, "pid"), "utf8"));
        assert.throws(() => process.kill(pid, 0), /ESRCH/);
        const texts = sent.map((message) => JSON.stringify(message));
        const end = texts.findIndex((text) => /tool_call_update.*"status":"failed"/.test(text));
        const answer = texts.findIndex((text) => text.includes('"stopReason":"cancelled"'));
        assert.ok(end >= 0 && end < answer, `${end} and ${answer} of ${texts.join("\n")}`);
      },
    );
    await stop(
      script(reply.calls([write]), reply.text("Never.")),
      { answer: () => new Promise(() => {}) },
      (_, asked) => asked() > 0,
    );
  });

  it("stops a prompt whose request is cancelled", async () => {
    await withEditor(
      script(),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        const taken = new AbortController();
        const prompt = [{ type: "text" as const, text: "Hang" }];
        const asked = editor.agent.request(
          methods.agent.session.prompt,
          { sessionId, prompt },
          { cancellationSignal: taken.signal },
        );
        await until(() => opening.upstream.requests.length > 0 || undefined, "the model call");
        taken.abort();
        const answer = (await asked) as PromptResponse;
        assert.equal(answer.stopReason, "cancelled");
        const [id = ""] = await opening.place.runIds();
        assert.equal((await opening.place.show(id)).ending, "cancelled");
      },
      { faults: noAnswer() },
    );
  });

  it("ends the run of an editor that disconnects, with its ending in the record", async () => {
    await withEditor(
      script(),
      async (_, opening) => {
        const editor = await openEditor(opening);
        const asked = ask(editor, await newSession(editor, opening), "Hang");
        asked.catch(() => {});
        await until(() => opening.upstream.requests.length > 0 || undefined, "the model call");
        const gone = new Promise((resolve) => editor.child.once("exit", resolve));
        editor.child.stdin?.end();
        await gone;
        const [id = ""] = await opening.place.runIds();
        assert.equal((await opening.place.show(id)).ending, "cancelled");
      },
      { faults: noAnswer() },
    );
  });
});
