/**
 * A tree that stands still for inspection: 24 subagents, eight at once, on a terminal of a given width. Two
 * have completed, one has failed, eight work and thirteen wait, until the test lets them continue.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, type ScriptEngine, script } from "../../src/testing/index.ts";
import type { AnswerReply } from "../../src/testing/reply.ts";
import { replyEvents } from "../../src/testing/reply-events.ts";
import { createTerminalScreen, type TerminalScreen } from "../cli/output/terminal-screen.ts";
import { untilTrue } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import { type OnTerminal, startOnTerminal } from "./terminal.ts";
import { CHAT, runAt } from "./wires.ts";

export interface WatchedTree extends AsyncDisposable {
  readonly place: Place;
  readonly terminal: OnTerminal;
  /** The screen as it is now. */
  read(): TerminalScreen;
  /** Resolves when a line of the screen matches. */
  sees(pattern: RegExp): Promise<void>;
  /** Lets these subagents, or all, answer. */
  release(...parts: readonly string[]): void;
  /** Brings the tree to the state in which it stands still. */
  settle(): Promise<void>;
}

export const PARTS = Array.from({ length: 24 }, (_, at) => String(at + 1).padStart(2, "0"));
const FAILING = "03";
const USAGE = { input: 12_000, output: 400 };

const PRICES = `models:
  custom/test-model:
    context_tokens: 128000
    max_output_tokens: 1000
    price: { input: 0.5, cached: 0.1, output: 1.5 }
agent:
  subagent:
    max_parallel: 8
`;

interface Watching {
  readonly columns: number;
  readonly rows: number;
  /** What the shell does when the run is over. */
  readonly after?: string;
  /** In place of starting the run: for a shell with typed input. */
  readonly shell?: string;
}

/** The tree before it is started. */
export interface HeldTree extends AsyncDisposable {
  readonly place: Place;
  readonly args: readonly string[];
  release(...parts: readonly string[]): void;
}

export async function prepareTree(): Promise<HeldTree> {
  const place = await createPlace({ "a.txt": "1\n" });
  await mkdir(join(place.home, ".config/offshoot"), { recursive: true });
  await writeFile(join(place.home, ".config/offshoot/config.yaml"), PRICES);
  const model = createHeldModel();
  const upstream = await CHAT.start({ engine: model.engine });
  // Without the base prompt: the folder in it would change the numbers of tokens.
  const alone = [...runAt(upstream, CHAT, "go"), "--bare"];
  const args = [...alone, "--tools", "read,subagent", "--max-cost", "1"];
  return {
    place,
    args,
    release: model.release,
    async [Symbol.asyncDispose]() {
      model.release(...PARTS);
      await upstream[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

export async function watchTree({ columns, rows, ...more }: Watching): Promise<WatchedTree> {
  const held = await prepareTree();
  const { place, args, release } = held;
  const terminal = startOnTerminal(place, args, "", { columns, rows, ...more });
  const read = (): TerminalScreen => {
    const screen = createTerminalScreen(columns, { rows });
    screen.write(terminal.screen);
    return screen;
  };
  let isOver = false;
  terminal.ended.then(() => {
    isOver = true;
  });
  const counts = async (pattern: RegExp, count: number): Promise<void> => {
    await untilTrue(() => {
      const { lines } = read();
      const isSeen = lines.filter((line) => pattern.test(line)).length >= count;
      assert.ok(isSeen || !isOver, `ended without ${pattern}:\n${lines.join("\n")}`);
      return isSeen;
    }, `${pattern} on the screen`);
  };
  const sees = (pattern: RegExp): Promise<void> => counts(pattern, 1);
  return {
    place,
    terminal,
    read,
    sees,
    release,
    async settle() {
      await counts(WORKING, 8);
      for (const [at, part] of ["01", "02", FAILING].entries()) {
        release(part);
        await counts(ENDED, at + 1);
        await counts(WORKING, 8);
      }
    },
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  };
}

interface HeldModel {
  readonly engine: ScriptEngine;
  release(...parts: readonly string[]): void;
}

/** The root starts all parts at once. Each reads a file, and answers when it is released. */
function createHeldModel(): HeldModel {
  const { makeId } = script();
  const free = new Set<string>();
  const calls = PARTS.map((part) => ({
    name: "subagent",
    arguments: { label: `part ${part}`, task_prompt: `Look at part ${part}.` },
  }));
  const how = { usage: USAGE };

  const choose = (request: ModelRequest): { said: AnswerReply; part?: string } => {
    const hasRead = request.items.some(({ type }) => type === "function_call_output");
    const [, part] = /^Look at part (\d\d)\./.exec(firstAsked(request)) ?? [];
    if (part === undefined) {
      return { said: hasRead ? reply.text("All parts are done.", how) : reply.calls(calls, how) };
    }
    if (!hasRead) return { said: reply.calls([READ], how) };
    if (part !== FAILING) return { said: reply.text(`Part ${part} is fine.`, how), part };
    return { said: reply.failure("The model broke down.", { ...how, text: "It" }), part };
  };

  return {
    release(...parts) {
      for (const part of parts.length > 0 ? parts : PARTS) free.add(part);
    },
    async *engine(request, { signal }) {
      const { said, part } = choose(request);
      if (part !== undefined) {
        await untilTrue(() => free.has(part) || signal.aborted, `part ${part} to be let go`);
      }
      yield* replyEvents(said, request, { signal, makeId });
    },
  };
}

/** A subagent that has read its file, and one that has ended. */
const WORKING = /^[├└] ● .*12[.,]4/;
const ENDED = /^[✓✗] /;
const READ = { name: "read", arguments: '{"path":"a.txt"}' };

function firstAsked({ items }: ModelRequest): string {
  const first = items.find((item) => item.type === "message" && item.role === "user");
  return first?.type === "message" ? dropReportWish(String(first.content)) : "";
}
