/** Sessions of an editor over `offshoot acp`: loaded after a restart, listed, forked, one prompt at a time. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { methods, type NewSessionResponse } from "@agentclientprotocol/sdk";
import { type Fault, reply, respond, script } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { ask, newSession, openEditor, saidBy, updatesOf, withEditor } from "./acp-editor.ts";

describe("sessions of an editor", () => {
  it("loads a session in an editor that was restarted, and replays its messages", async () => {
    const read = { name: "read", arguments: '{"path":"none.txt"}' };
    const engine = script(reply.calls([read]), reply.text("Kept."), reply.text("Again."));
    await withEditor(engine, async (editor, opening) => {
      const { cwd } = opening.place;
      const sessionId = await newSession(editor, opening);
      await ask(editor, sessionId, "Keep this");
      await using second = await openEditor(opening);
      const listed = await second.agent.request(methods.agent.session.list, { cwd });
      assert.deepEqual(
        listed.sessions.map((one) => [one.sessionId, one.title]),
        [[sessionId, "Keep this"]],
      );
      await second.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
      assert.equal(saidBy(second.updates, "user_message_chunk"), "Keep this");
      assert.equal(saidBy(second.updates, "agent_message_chunk"), "Kept.");
      const [call] = updatesOf(second, "tool_call");
      const [end] = updatesOf(second, "tool_call_update");
      assert.deepEqual([call?.kind, call?.locations], ["read", [{ path: join(cwd, "none.txt") }]]);
      assert.deepEqual([end?.toolCallId, end?.status], [call?.toolCallId, "failed"]);
      await using third = await openEditor(opening);
      await third.agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
      assert.equal(saidBy(third.updates, "agent_message_chunk"), "");
      assert.equal(await ask(third, sessionId, "And?"), "end_turn");
      const sent = JSON.stringify(opening.upstream.requests.at(-1)?.body);
      assert.match(sent, /Keep this.*Kept\..*And\?/);
      await third.agent.request(methods.agent.session.close, { sessionId });
      await assert.rejects(ask(third, sessionId, "Closed?"), { code: -32_002 });
      await third.agent.request(methods.agent.session.delete, { sessionId });
      const left = await third.agent.request(methods.agent.session.list, { cwd });
      assert.deepEqual(left.sessions, []);
    });
  });

  it("continues after the editor, or this program, died in the middle of a prompt", async () => {
    for (const kill of ["editor", "program"] as const) {
      const engine = respond(({ items }) =>
        JSON.stringify(items).includes("And now?") ? reply.text("Back.") : reply.text("Never."),
      );
      let isHanging = true;
      await withEditor(
        engine,
        async (editor, opening) => {
          const sessionId = await newSession(editor, opening);
          const asked = ask(editor, sessionId, "Hang");
          asked.catch(() => {});
          await until(async () => opening.upstream.requests.length > 0 || undefined, "the call");
          const gone = new Promise((resolve) => editor.child.once("exit", resolve));
          if (kill === "program") editor.child.kill("SIGKILL");
          else editor.child.stdin?.end();
          await gone;
          isHanging = false;
          await using second = await openEditor(opening);
          const { cwd } = opening.place;
          const params = { sessionId, cwd, mcpServers: [] };
          await second.agent.request(methods.agent.session.load, params);
          assert.equal(await ask(second, sessionId, "And now?"), "end_turn");
          assert.match(saidBy(second.updates, "agent_message_chunk"), /Back\.$/);
          const [listed] = (await second.agent.request(methods.agent.session.list, { cwd }))
            .sessions;
          assert.equal(listed?.sessionId, sessionId);
        },
        {
          faults: {
            name: "hang",
            async *bytes(pieces) {
              if (isHanging) await new Promise(() => {});
              yield* pieces;
            },
          },
        },
      );
    }
  });

  it("reports that a session is gone, and never loads an empty one in its place", async () => {
    await withEditor(script(), async (editor, { place }) => {
      const params = { sessionId: "conv_gone", cwd: place.cwd, mcpServers: [] };
      for (const method of [methods.agent.session.load, methods.agent.session.resume]) {
        await assert.rejects(editor.agent.request(method, params), {
          code: -32_002,
          message: /^There is no session `conv_gone`/,
          data: undefined,
        });
      }
      const asked = { sessionId: "conv_gone", prompt: [{ type: "text" as const, text: "Hi" }] };
      await assert.rejects(editor.agent.request(methods.agent.session.prompt, asked), {
        message: "The session `conv_gone` is not open. Load or resume it first.",
      });
      await assert.rejects(editor.agent.request("session/fork", params), /conv_gone/);
      const relative = { cwd: "work", mcpServers: [] };
      await assert.rejects(editor.agent.request(methods.agent.session.new, relative), /absolute/);
    });
  });

  it("lists sessions in pages", async () => {
    const engine = respond(() => reply.text("Yes."));
    await withEditor(engine, async (editor, opening) => {
      const made: string[] = [];
      for (let count = 0; count < 52; count++) {
        const sessionId = await newSession(editor, opening);
        await ask(editor, sessionId, `Number ${count}`);
        await editor.agent.request(methods.agent.session.close, { sessionId });
        made.unshift(sessionId);
      }
      const { list } = methods.agent.session;
      const first = await editor.agent.request(list, { cwd: opening.place.cwd });
      const cursor = first.nextCursor ?? assert.fail("one page");
      const second = await editor.agent.request(list, { cwd: opening.place.cwd, cursor });
      const ids = [...first.sessions, ...second.sessions].map((one) => one.sessionId);
      assert.deepEqual(ids, made);
      assert.equal(second.nextCursor ?? null, null);
      await assert.rejects(editor.agent.request(list, { cursor: "x" }), /not a cursor/);
    });
  });

  it("forks a session, and both continue by themselves", async () => {
    const engine = respond(() => reply.text("Yes."));
    await withEditor(engine, async (editor, opening) => {
      const { cwd } = opening.place;
      const sessionId = await newSession(editor, opening);
      await ask(editor, sessionId, "Alpha");
      const params = { sessionId, cwd, mcpServers: [] };
      const forked = await editor.agent.request<NewSessionResponse>("session/fork", params);
      assert.notEqual(forked.sessionId, sessionId);
      await ask(editor, forked.sessionId, "Bravo");
      await ask(editor, sessionId, "Charlie");
      const [, second, third] = opening.upstream.requests.map(({ text }) => text);
      assert.match(second ?? "", /Alpha.*Bravo/);
      assert.match(third ?? "", /Alpha.*Charlie/);
      assert.doesNotMatch(third ?? "", /Bravo/);
    });
  });

  it("answers one prompt of a session at a time, and those of two in parallel", async () => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const faults: Fault = {
      name: "gate",
      async *bytes(pieces) {
        await finished;
        yield* pieces;
      },
    };
    await withEditor(
      respond(() => reply.text("Yes.")),
      async (editor, opening) => {
        const one = await newSession(editor, opening);
        const two = await newSession(editor, opening);
        const asked = [ask(editor, one, "One"), ask(editor, two, "Two")];
        await until(() => (opening.upstream.requests.length === 2 ? true : undefined), "both");
        await assert.rejects(ask(editor, one, "Again"), /being answered/);
        finish();
        assert.deepEqual(await Promise.all(asked), ["end_turn", "end_turn"]);
      },
      { faults },
    );
  });
});
