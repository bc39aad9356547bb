/**
 * Two terminals of one user: one runs a tree of three subagents; in the other, one subagent is stopped,
 * another gets a message, and the call of the third is approved. The first shows all of it.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  createScriptedProvider,
  type Reply,
  reply,
  type ScriptEngine,
} from "../../src/testing/index.ts";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const run = promisify(execFile);

const DELEGATE = reply.calls(
  ["stopped", "steered", "writer"].map((label) => ({
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt: `Work as ${label}` }),
  })),
);
const WRITE = reply.calls([
  { name: "write", arguments: JSON.stringify({ path: "a.txt", content: "hello" }) },
]);

/** `stopped` never ends by itself, `steered` waits for a message, `writer` writes a file. */
function createModel(): { readonly engine: ScriptEngine; release(): void } {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answers: Readonly<Record<string, (text: string) => Reply | Promise<Reply>>> = {
    stopped: () => reply.silence("Half"),
    steered: async () => {
      await released;
      return reply.text("Looked at it.");
    },
    writer: (text) => (text.includes("function_call_output") ? reply.text("Wrote it.") : WRITE),
  };
  const answer = async ({ items }: ModelRequest): Promise<Reply> => {
    const text = JSON.stringify(items);
    const [, label = ""] = /Work as (\w+)/.exec(JSON.stringify(items[0])) ?? [];
    if (answers[label]) return await answers[label](text);
    return text.includes("function_call_output") ? reply.text("All three are back.") : DELEGATE;
  };
  return {
    release: () => release(),
    async *engine(request, call) {
      yield* createScriptedProvider(await answer(request)).stream(request, call);
    },
  };
}

interface Terminals extends AsyncDisposable {
  /** Types a line into one of them. */
  type(name: string, line: string): Promise<void>;
  /** Waits until its screen, or its scrollback, has the text. */
  sees(name: string, text: RegExp): Promise<string>;
}

async function openTerminals({ home, cwd }: Place, ...names: string[]): Promise<Terminals> {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LC_ALL: "C.UTF-8",
    OFFSHOOT_PROBE_LOCAL: "false",
    PS1: "$ ",
  };
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run("tmux", ["-S", `${home}/tmux`, "-f", "/dev/null", ...words], { env })).stdout;
  for (const name of names) {
    const size = ["-x", "120", "-y", "40"];
    await tmux("new-session", "-d", "-s", name, ...size, "-c", cwd, "sh");
  }
  return {
    async type(name, line) {
      await tmux("send-keys", "-t", name, "-l", line);
      await tmux("send-keys", "-t", name, "Enter");
    },
    async sees(name, text) {
      let screen = "";
      await untilTrue(async () => {
        screen = await tmux("capture-pane", "-p", "-J", "-t", name, "-S", "-");
        return text.test(screen);
      }, `${text} in the terminal ${name}`);
      return screen;
    },
    async [Symbol.asyncDispose]() {
      await tmux("kill-server").catch(() => {});
    },
  };
}

function toLine(words: readonly string[]): string {
  return [process.execPath, CLI, ...words].map((word) => `'${word}'`).join(" ");
}

describe(...unless(programLack("tmux"))("two terminals in tmux (needs tmux)"), () => {
  it("share a tree: one runs it, the other stops, steers and approves", async () => {
    await using place = await createPlace();
    const model = createModel();
    await using upstream = await CHAT.start({ engine: model.engine });
    await using terminals = await openTerminals(place, "runs", "controls");
    const { type, sees } = terminals;
    await type("runs", toLine(runAt(upstream, CHAT, "--tools", "subagent,write", "Begin")));
    await sees("runs", /Work as writer|writer-1\.2/);
    await sees("runs", /write/);

    await type("controls", toLine(["runs", "cancel", "last/stopped-1.0"]));
    await sees("controls", /stopped-1\.0 has ended: cancelled; run_\w+ continues/);
    await type("controls", toLine(["runs", "steer", "last/steered-1.1", "Look at b"]));
    await sees("controls", /left for run_\w+\/steered-1\.1: it reads it before its next/);
    await type("controls", toLine(["runs", "waiting"]));
    await sees("controls", /runs approve run_\w+\/writer-1\.2 tool:1\.0/);
    await type("controls", toLine(["runs", "approve", "last/writer-1.2", "tool:1.0"]));
    await sees("controls", /approved: write a\.txt/);
    model.release();

    const screen = await sees("runs", /run: run_\w+/);
    assert.match(screen, /– .*stopped/);
    assert.match(screen, /✓ .*steered/);
    assert.match(screen, /✓ .*writer/);
    assert.match(screen, /All three are back\./);
    assert.equal(readFileSync(join(place.cwd, "a.txt"), "utf8"), "hello");
    const told = await place.run(["runs", "show", "last/steered-1.1"]);
    assert.match(told.stdout, /Look at b/);
  });
});
