/**
 * The outside world of the chaos test: a model that slowly writes what the label of a job asks for, and an
 * MCP server whose tool changes data. Both count requests by job and step. A second request for a step that
 * is in the journal means that finished work was repeated.
 */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type ScriptEngine, startChatUpstream, type Upstream } from "../../../src/testing/index.ts";
import { type AnswerReply, reply } from "../../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../../src/testing/reply-events.ts";
import { TEXT } from "../../runtime/small-mcp-server.ts";

/** The call to the MCP server in a `tools` job, by its step. */
export const MARKS: Readonly<Record<string, string>> = {
  first: "tool:1.0",
  left: "tool:2.0",
  right: "tool:2.1",
};
export const CHILDREN = 3;
export const MCP_LABEL = "count";
export const MARK_TOOL = { name: "mark", description: "Marks.", inputSchema: TEXT };

/** Each piece of an answer takes up to this long. */
const PIECE_MS = 25;
const USAGE = { input: 100, output: 10 };

export interface Asked {
  readonly label: string;
  /** The key of the step in the journal. */
  readonly step: string;
  /** The machine that asks, if it is known. */
  readonly by?: string | undefined;
}

export interface Count {
  /** Called before the answer begins. */
  add(asked: Asked): Promise<void>;
  /** How often each step was requested: `LABEL STEP`. */
  readonly times: ReadonlyMap<string, number>;
  /** Steps that were finished and requested again. */
  readonly repeated: readonly string[];
}

/**
 * `findFinished` searches the journal, and reports what it found. A later request for the same step waits
 * for the search: otherwise its answer could be in the journal before the earlier one is searched.
 */
export function createCount(findFinished: (asked: Asked) => Promise<string | undefined>): Count {
  const times = new Map<string, number>();
  const repeated: string[] = [];
  const history = new Map<string, string[]>();
  const looks = new Map<string, Promise<void>>();
  const look = async (key: string, asked: Asked): Promise<void> => {
    const finished = await findFinished(asked);
    if (finished !== undefined) repeated.push(`${key}: ${finished}; ${history.get(key)?.join()}`);
  };
  return {
    times,
    repeated,
    async add(asked) {
      const key = `${asked.label} ${asked.step}`;
      const before = times.get(key) ?? 0;
      times.set(key, before + 1);
      const told = history.get(key) ?? [];
      told.push(`${asked.by ?? ""} at ${Math.round(performance.now())}`);
      history.set(key, told);
      if (before === 0) return;
      const looked = (looks.get(key) ?? Promise.resolve()).then(() => look(key, asked));
      looks.set(key, looked);
      await looked;
    },
  };
}

export async function startChaosModel(chance: () => number, count: Count): Promise<Upstream> {
  const makeId = createCountingIds();
  const engine: ScriptEngine = async function* (request, { signal }) {
    const label = labelOf(request);
    const turn = turnOf(request, label);
    await count.add({ label, step: `model:${turn}`, by: nameAsker(upstream, label) });
    for await (const batch of replyEvents(answer(label, turn), request, { signal, makeId })) {
      await setTimeout(chance() * PIECE_MS);
      yield batch;
    }
  };
  const upstream = await startChatUpstream({ engine });
  return upstream;
}

/** Each machine has its name as its key, which shows who asks. */
export const KEY_VARIABLE = "CHAOS_MODEL_KEY";

function nameAsker({ requests }: Upstream, label: string): string | undefined {
  const last = requests.findLast(({ text }) => text.includes(label));
  return last?.headers.authorization?.replace("Bearer ", "");
}

/** `plain-3`, `conv-4.1` (the second of a conversation), `tree-5/c0` (a subagent). */
const LABEL = /\b[a-z]+-\d+(?:\.\d+|\/c\d)?/;

/** From the user's last message. */
function labelOf({ items }: ModelRequest): string {
  const said = items.findLast((item) => item.type === "message" && item.role === "user");
  return LABEL.exec(JSON.stringify(said ?? ""))?.[0] ?? assert.fail(JSON.stringify(items));
}

/** From the results after the label. */
function turnOf({ items }: ModelRequest, label: string): number {
  const from = items.findLastIndex((item) => item.type === "message" && item.role === "user");
  const results = items.slice(from).filter(({ type }) => type === "function_call_output").length;
  const turns: Readonly<Record<number, number>> = label.startsWith("tree")
    ? { 0: 1, [CHILDREN]: 2 }
    : { 0: 1, 1: 2, 3: 3 };
  return turns[results] ?? assert.fail(`${label}: ${results} results`);
}

function answer(label: string, turn: number): AnswerReply {
  const options = { usage: USAGE, pieceLength: 6 };
  const mark = (word: string) => ({
    name: `${MCP_LABEL}__${MARK_TOOL.name}`,
    arguments: { text: `${label} ${word}` },
  });
  if (label.startsWith("tools") && turn === 1) {
    return reply.calls([mark("first")], { ...options, text: "I mark it." });
  }
  if (label.startsWith("tools") && turn === 2) {
    return reply.calls([mark("left"), mark("right")], { ...options, text: "Again." });
  }
  if (/^tree-\d+$/.test(label) && turn === 1) {
    const calls = Array.from({ length: CHILDREN }, (_, at) => ({
      name: "offshoot__subagent",
      arguments: { label: `c${at}`, task_prompt: `Say ${label}/c${at}` },
    }));
    return reply.calls(calls, options);
  }
  const more = label.startsWith("cancel") ? " And so on.".repeat(20) : "";
  return reply.text(`All of ${label} is said, as it was asked for.${more}`, options);
}
