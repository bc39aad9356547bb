/** `offshoot acp` with the protocol's own client: every announced method, restarts, permissions, choices. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { methods, type NewSessionResponse } from "@agentclientprotocol/sdk";
import { reply, respond, script } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import {
  ask,
  type Editor,
  newSession,
  type Opening,
  saidBy,
  updatesOf,
  withEditor,
} from "./acp-editor.ts";
import { createPlace, type Place } from "./command.ts";

const WRITE = { name: "write", arguments: JSON.stringify({ path: "a.txt", content: "hello" }) };

async function writeConfig({ home }: Place, path: string, text: string): Promise<void> {
  const file = join(home, ".config", "offshoot", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

describe("offshoot acp", () => {
  it("answers a prompt in a session, with usage and a title, and continues it", async () => {
    await withEditor(script(reply.text("Blue."), reply.text("Sky.")), async (editor, opening) => {
      const sessionId = await newSession(editor, opening);
      assert.equal(await ask(editor, sessionId, "Colour?"), "end_turn");
      assert.equal(saidBy(editor.updates, "agent_message_chunk"), "Blue.");
      const [usage] = updatesOf(editor, "usage_update");
      assert.ok(usage && usage.used > 0);
      assert.equal(updatesOf(editor, "session_info_update")[0]?.title, "Colour?");
      await ask(editor, sessionId, "Of what?");
      const sent = JSON.stringify(opening.upstream.requests.at(-1)?.body);
      assert.match(sent, /Colour\?.*Blue\..*Of what\?/);
    });
  });

  it("reports how much of the model's window is used, and what all prompts cost", async () => {
    const place = await createPlace();
    const facts = "{ context_tokens: 5000, price: { input: 1000, output: 1000 } }";
    await writeConfig(place, "config.yaml", `models:\n  custom/test-model: ${facts}\n`);
    const usage = { usage: { input: 400, output: 100 } };
    const engine = script(reply.text("One.", usage), reply.text("Two.", usage));
    await withEditor(
      engine,
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        await ask(editor, sessionId, "One?");
        await ask(editor, sessionId, "Two?");
        const told = updatesOf(editor, "usage_update").map(({ used, size, cost }) => [
          ...[used, size, cost?.amount],
        ]);
        assert.deepEqual(told, [
          [500, 5000, 0.5],
          [500, 5000, 1],
        ]);
        await ask(editor, sessionId, "/cost");
        assert.match(saidBy(editor.updates, "agent_message_chunk"), /custom\/test-model +2 /);
      },
      { place },
    );
    await place[Symbol.asyncDispose]();
  });

  it("asks for permission with the change, under the call that it shows, and obeys the user", async () => {
    for (const answer of ["once", "no"] as const) {
      const engine = script(reply.calls([WRITE]), reply.text("Done."));
      await withEditor(
        engine,
        async (editor, opening) => {
          await ask(editor, await newSession(editor, opening), "Write it");
          assert.equal(existsSync(join(opening.place.cwd, "a.txt")), answer === "once");
          const [call] = updatesOf(editor, "tool_call");
          const path = join(opening.place.cwd, "a.txt");
          const diff = [{ type: "diff", path, oldText: null, newText: "hello" }];
          assert.deepEqual([call?.content, call?.locations], [diff, [{ path }]]);
          const [asked] = editor.permissions;
          assert.equal(asked?.toolCall.toolCallId, call?.toolCallId);
          assert.deepEqual(asked?.toolCall.content, diff);
          const [end] = updatesOf(editor, "tool_call_update");
          const status = answer === "once" ? "completed" : "failed";
          assert.deepEqual([end?.toolCallId, end?.status], [call?.toolCallId, status]);
        },
        { answer },
      );
    }
  });

  it("no longer asks about calls that are always allowed, and ends the prompt whose question is cancelled", async () => {
    const again = { ...WRITE, arguments: JSON.stringify({ path: "b.txt", content: "hello" }) };
    const engine = script(reply.calls([WRITE]), reply.calls([again]), reply.text("Done."));
    await withEditor(
      engine,
      async (editor, opening) => {
        assert.equal(await ask(editor, await newSession(editor, opening), "Write"), "end_turn");
        assert.equal(editor.permissions.length, 1);
        assert.ok(existsSync(join(opening.place.cwd, "b.txt")));
      },
      { answer: "always" },
    );
    await withEditor(
      script(reply.calls([WRITE]), reply.text("Done.")),
      async (editor, opening) => {
        assert.equal(await ask(editor, await newSession(editor, opening), "Write"), "cancelled");
        assert.ok(!existsSync(join(opening.place.cwd, "a.txt")));
        assert.equal(opening.upstream.requests.length, 1);
      },
      { answer: "cancelled" },
    );
  });

  it("offers model, approvals and thinking as options, and accepts a choice by each way", async () => {
    const engine = script(reply.calls([WRITE]), reply.text("Done."));
    await withEditor(engine, async (editor, { place, upstream }) => {
      const { agent } = editor;
      const params = { cwd: place.cwd, mcpServers: [] };
      const opened: NewSessionResponse = await agent.request(methods.agent.session.new, params);
      const { sessionId, configOptions } = opened;
      const categories = (configOptions ?? []).map(({ category }) => category);
      assert.deepEqual(categories, ["model", "mode", "thought_level"]);
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: "deny" });
      assert.match(
        JSON.stringify(updatesOf(editor, "config_option_update")),
        /"currentValue":"deny".*"id":"mode"/,
      );
      const set = { sessionId, configId: "thinking", value: "low" };
      const changed = await agent.request(methods.agent.session.setConfigOption, set);
      assert.match(JSON.stringify(changed), /"id":"thinking".*"currentValue":"low"/);
      await ask(editor, sessionId, "Write it");
      assert.match(upstream.requests[0]?.text ?? "", /"reasoning_effort":"low"/);
      assert.ok(!existsSync(join(place.cwd, "a.txt")));
      const byOption = { sessionId, configId: "mode", value: "auto" };
      await agent.request(methods.agent.session.setConfigOption, byOption);
      assert.equal(updatesOf(editor, "current_mode_update")[0]?.currentModeId, "auto");
      await agent.request("session/set_model", { sessionId, modelId: "embedded/offline" });
      assert.equal(await ask(editor, sessionId, "compute 6*7"), "end_turn");
      assert.match(saidBy(editor.updates, "agent_message_chunk"), /42/);
      for (const [method, wrong, said] of [
        ["session/set_mode", { modeId: "nope" }, /Unknown mode/],
        ["session/set_config_option", { configId: "nope", value: "x" }, /Unknown option/],
        [
          "session/set_config_option",
          { configId: "thinking", value: "x" },
          /one of: off, low, medium, high, max/,
        ],
        ["session/set_model", {}, /must be text/],
      ] as const) {
        await assert.rejects(agent.request(method, { sessionId, ...wrong }), said, method);
      }
    });
  });

  it("begins with the thinking of the settings", async () => {
    for (const [think, value] of [
      ["true", "high"],
      ["false", "off"],
    ] as const) {
      const use = async ({ agent }: Editor, { place }: Opening): Promise<void> => {
        const params = { cwd: place.cwd, mcpServers: [] };
        const opened: NewSessionResponse = await agent.request(methods.agent.session.new, params);
        const thinking = opened.configOptions?.find(({ id }) => id === "thinking");
        assert.equal(thinking?.currentValue, value);
      };
      await withEditor(script(), use, { env: { OFFSHOOT_THINK: think } });
    }
  });

  it("offers to set up a model in a terminal if the editor has one, and never asks for it", async () => {
    const place = await createPlace();
    const authOf = ({ sent }: Editor): unknown[] =>
      (sent[0] as unknown as { result: { authMethods: unknown[] } }).result.authMethods;
    await withEditor(
      script(),
      async (editor) => {
        const [method] = authOf(editor) as { type: string; args: string[] }[];
        assert.deepEqual([method?.type, method?.args], ["terminal", ["--setup"]]);
      },
      { place, capabilities: { auth: { terminal: true } } },
    );
    await withEditor(
      script(),
      async ({ agent, sent }, { place: { cwd } }) => {
        const [method] = authOf({ sent } as Editor) as { id: string; type?: string }[];
        assert.deepEqual([method?.id, method?.type], ["setup", undefined]);
        await agent.request(methods.agent.authenticate, { methodId: "setup" });
        await assert.rejects(
          agent.request(methods.agent.authenticate, { methodId: "x" }),
          /Unknown method/,
        );
        await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      },
      { place },
    );
    const { code, stdout } = await place.run(["acp", "--setup"]);
    assert.equal(code, 0);
    assert.match(stdout, /offshoot/i);
    await place[Symbol.asyncDispose]();
  });

  it("answers with an error of its own if no model can be asked", async () => {
    const env = { OFFSHOOT_MODEL: "openai/gpt-5.1", OFFSHOOT_URL: "" };
    await withEditor(
      script(),
      async (editor, opening) => {
        await assert.rejects(newSession(editor, opening), (error: { code?: number }) => {
          assert.equal(error.code, -32_000);
          return true;
        });
        const asked = { methodId: "setup" };
        await assert.rejects(
          editor.agent.request(methods.agent.authenticate, asked),
          /OPENAI_API_KEY/,
        );
      },
      { env },
    );
    await withEditor(
      script(),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        for (const [model, said] of [
          ["nobody/x", /nobody/],
          ["openai/gpt-5.1", /OPENAI_API_KEY/],
        ] as const) {
          const option = { sessionId, configId: "model", value: model };
          const { setConfigOption } = methods.agent.session;
          await assert.rejects(editor.agent.request(setConfigOption, option), said);
          const chosen = { sessionId, modelId: model };
          await assert.rejects(editor.agent.request("session/set_model", chosen), said);
        }
      },
      { env: { ...env, OFFSHOOT_MODEL: "embedded/offline" } },
    );
  });

  it("sends commands after the answer that names the session, and answers them itself", async () => {
    const place = await createPlace();
    const head = "---\ndescription: Reviews\n---\n";
    await writeConfig(place, "templates/review.md", `${head}Review this: {{input}}`);
    await withEditor(
      script(reply.calls([WRITE]), reply.text("Done."), reply.text("Reviewed.")),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        const [told] = await until(() => {
          const found = updatesOf(editor, "available_commands_update");
          return found.length > 0 ? found : undefined;
        }, "the commands");
        const names = told?.availableCommands.map(({ name }) => name);
        assert.deepEqual(names, ["cost", "tools", "agents", "undo", "help", "review"]);
        const indexOf = (text: string): number =>
          editor.sent.findIndex((one) => JSON.stringify(one).includes(text));
        assert.ok(indexOf(`"result":{"sessionId":"${sessionId}"`) < indexOf("available_commands"));
        for (const [command, said] of [
          ["/cost", /Nothing was called yet/],
          ["/tools", /^write$/m],
          ["/agents", /none yet/],
          ["/undo", /nothing to undo/],
          ["/help", /\/review: Reviews/],
        ] as const) {
          editor.updates.length = 0;
          assert.equal(await ask(editor, sessionId, command), "end_turn");
          assert.match(saidBy(editor.updates, "agent_message_chunk"), said, command);
        }
        assert.equal(opening.upstream.requests.length, 0);
        await ask(editor, sessionId, "Write it");
        const file = join(place.cwd, "a.txt");
        assert.equal(await readFile(file, "utf8"), "hello");
        await ask(editor, sessionId, "/undo");
        assert.ok(!existsSync(file));
        await ask(editor, sessionId, "/review a.ts");
        assert.match(opening.upstream.requests.at(-1)?.text ?? "", /Review this: a\.ts/);
      },
      { place },
    );
    await place[Symbol.asyncDispose]();
  });

  it("shows subagents as calls with their work, under their runs' ids", async () => {
    const order = { name: "subagent", arguments: '{"label":"scout","task_prompt":"Look."}' };
    const read = { name: "read", arguments: '{"path":"a.txt"}' };
    const engine = respond(({ items }) => {
      const text = JSON.stringify(items);
      if (text.includes("Look.")) {
        return text.includes("function_call_output") && !text.includes("Send one")
          ? reply.text("Found it.")
          : text.includes("Send one")
            ? reply.text("All done.")
            : reply.calls([read]);
      }
      return reply.calls([order]);
    });
    await withEditor(
      engine,
      async (editor, opening) => {
        await ask(editor, await newSession(editor, opening), "Send one");
        const child = updatesOf(editor, "tool_call").find(
          ({ title }) => title === "subagent scout",
        );
        const id = child?.toolCallId ?? "";
        assert.deepEqual([child?.kind, child?._meta], ["think", { "offshoot/run_id": id }]);
        assert.equal((await opening.place.show(id)).ending, "completed");
        const told = updatesOf(editor, "tool_call_update").filter((one) => one.toolCallId === id);
        assert.deepEqual(told.map(({ status }) => status).filter(Boolean), ["completed"]);
        assert.match(JSON.stringify(told.at(-1)?.content), /read a\.txt.*Found it\./);
        const calls = updatesOf(editor, "tool_call").map(({ title }) => title);
        assert.deepEqual(calls, ["subagent scout"]);
      },
      { files: { "a.txt": "x" }, answer: "once" },
    );
  });

  it("sends notices and compactions only to an editor that shows them", async () => {
    const place = await createPlace({ "long.txt": "word ".repeat(2000) });
    const facts = "{ context_tokens: 9000 }";
    await writeConfig(place, "config.yaml", `models:\n  custom/test-model: ${facts}\n`);
    const read = { name: "read", arguments: '{"path":"long.txt"}' };
    const engine = () => {
      let turns = 0;
      return respond(({ instructions = "" }) => {
        if (instructions.startsWith("You write the memory")) return reply.text("MEMORY.");
        turns += 1;
        const usage = { usage: { input: turns * 2500, output: 10 } };
        return turns < 4 ? reply.calls([read], usage) : reply.text("Done.", usage);
      });
    };
    const kinds = ({ updates }: Editor): string[] => [
      ...new Set(updates.map(({ sessionUpdate }) => sessionUpdate)),
    ];
    const session = { notices: {}, compaction: {} };
    await withEditor(
      engine(),
      async (editor, opening) => {
        await ask(editor, await newSession(editor, opening), "Read on");
        const [began, ended] = updatesOf(editor, "compaction_update");
        assert.deepEqual([began?.status, ended?.status], ["in_progress", "completed"]);
        assert.match(JSON.stringify(updatesOf(editor, "compaction_summary_chunk")), /MEMORY\./);
      },
      { place, capabilities: { session }, args: ["--tools", "read"] },
    );
    await withEditor(
      engine(),
      async (editor, opening) => {
        await ask(editor, await newSession(editor, opening), "Read on");
        assert.doesNotMatch(kinds(editor).join(), /compaction|notice/);
      },
      { place, args: ["--tools", "read"] },
    );
    await place[Symbol.asyncDispose]();
  });

  it("ends with `max_tokens` if its answer was truncated at its token limit", async () => {
    await withEditor(script(reply.length("Once upon a")), async (editor, opening) => {
      assert.equal(await ask(editor, await newSession(editor, opening), "A tale"), "max_tokens");
      assert.equal(saidBy(editor.updates, "agent_message_chunk"), "Once upon a");
    });
  });

  it("is an error with its reason if it ends by a limit or a failure", async () => {
    const place = await createPlace();
    const facts = "{ price: { input: 1000, output: 1000 } }";
    await writeConfig(place, "config.yaml", `models:\n  custom/test-model: ${facts}\n`);
    for (const capabilities of [{}, { session: { notices: {} } }]) {
      await withEditor(
        script(reply.text("Never.")),
        async (editor, opening: Opening) => {
          const asked = ask(editor, await newSession(editor, opening), "Go");
          await assert.rejects(asked, /budget/i);
        },
        { place, args: ["--max-cost", "0.001"], capabilities },
      );
    }
    await place[Symbol.asyncDispose]();
    await withEditor(
      script(),
      async (editor, opening) => {
        await opening.upstream.close();
        const asked = ask(editor, await newSession(editor, opening), "Go");
        await assert.rejects(asked, /answers at/);
        const [notice] = updatesOf(editor, "notice").filter(({ severity }) => severity === "error");
        assert.ok(notice);
      },
      { capabilities: { session: { notices: {} } }, env: { OFFSHOOT_MAX_RETRIES: "0" } },
    );
  });
});
