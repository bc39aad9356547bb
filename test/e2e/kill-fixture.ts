/**
 * The parts of the kill test: a server that dies and comes back on the same record, a model that writes
 * slowly and calls the server's own tools, and clients that follow a response over all of it.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type ScriptEngine,
  type ScriptedCall,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { type AnswerReply, reply } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import type { Place, RunningCommand } from "./command.ts";
import { readEvents } from "./served.ts";

type Chance = () => number;

/** What the server writes down for each response, in the order of its turns. */
export const WORDS = ["first", "left", "right"];
const CALLS_FILE = "calls.txt";
/** The prompt that leads to no call. */
export const GO_ON = "Is that all?";

export interface SlowModel extends AsyncDisposable {
  readonly upstream: Upstream;
  /** `LABEL model:TURN` for each request, in order. */
  readonly asked: readonly string[];
}

/** Answers a label in three turns: one call, two calls, a sentence. Every piece takes some time. */
export async function startSlowModel(chance: Chance): Promise<SlowModel> {
  const asked: string[] = [];
  const makeId = createCountingIds();
  const engine: ScriptEngine = async function* (request, { signal }) {
    const label = labelOf(request);
    const turn = turnOf(request);
    asked.push(`${label} model:${turn}`);
    for await (const batch of replyEvents(answer(label, turn), request, { signal, makeId })) {
      await setTimeout(chance() * 12);
      yield batch;
    }
  };
  const upstream = await startChatUpstream({ engine });
  return { upstream, asked, [Symbol.asyncDispose]: upstream.close };
}

/** The user's last message. */
function labelOf({ items }: ModelRequest): string {
  const said = items.findLast((item) => item.type === "message" && item.role === "user");
  return said?.type === "message" && typeof said.content === "string" ? said.content : "";
}

/** From the number of results after the label: none, one, three. */
function turnOf({ items }: ModelRequest): number {
  const from = items.findLastIndex((item) => item.type === "message" && item.role === "user");
  const results = items.slice(from).filter(({ type }) => type === "function_call_output");
  return { 0: 1, 1: 2, 3: 3 }[results.length] ?? assert.fail(`${results.length} results`);
}

function answer(label: string, turn: number): AnswerReply {
  const [first = "", ...others] = WORDS;
  const options = { text: "I write it down.", pieceLength: 24 };
  if (label === GO_ON) return reply.text("Yes.");
  if (turn === 1) return reply.calls([writeDown(label, first)], options);
  if (turn === 2)
    return reply.calls(
      others.map((word) => writeDown(label, word)),
      options,
    );
  return reply.text(`All of ${label} is written down, as it was asked for.`, { pieceLength: 6 });
}

function writeDown(label: string, word: string): ScriptedCall {
  const command = `echo ${label} tool:${word} >> ${CALLS_FILE}`;
  return { name: "offshoot__shell", arguments: { command } };
}

/** `LABEL tool:WORD` for each command that was run, in order. */
export async function readCalls({ cwd }: Place): Promise<string[]> {
  const text = await readFile(join(cwd, CALLS_FILE), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

export interface MortalServer {
  /** Its present URL; while it is down, its next one. */
  url(): Promise<string>;
  /** Starts a process on the same record. Resolves when it listens, or has died. */
  start(): Promise<void>;
  /** Resolves when the process has ended for any reason. */
  ended(): Promise<void>;
  /** `kill -9`. Resolves when it is gone; rejects if it had ended by itself. */
  kill(): Promise<void>;
}

export function createMortalServer(place: Place, { upstream }: SlowModel): MortalServer {
  const model = ["-m", "custom/slow", "--provider", "openai-chat", "--url", upstream.url];
  const words = ["serve", "--port", "0", "--no-auth", "--tools", "shell", ...model];
  let command: RunningCommand | undefined;
  let isKilled = false;
  let found: ((url: string) => void) | undefined;
  let url: Promise<string>;
  /** Earlier callers continue to wait for the same promise. */
  const forget = (): void => {
    if (found) return;
    url = new Promise((resolve) => {
      found = resolve;
    });
  };
  forget();
  return {
    url: () => url,
    async start() {
      command = place.start(words);
      isKilled = false;
      const { child, ended } = command;
      let said = "";
      const listening = new Promise<void>((resolve) => {
        child.stderr?.on("data", (piece: string) => {
          said += piece;
          const at = /listening at (http[^\s,]+)[\s,]/.exec(said)?.[1];
          // Output of a killed process may be read later: it does not listen any more.
          if (at === undefined || isKilled) return;
          found?.(at);
          found = undefined;
          resolve();
        });
      });
      await Promise.race([listening, ended]);
    },
    ended: async () => void (await command?.ended),
    async kill() {
      isKilled = true;
      forget();
      command?.child.kill("SIGKILL");
      const { signal, stderr } = (await command?.ended) ?? {};
      assert.equal(signal, "SIGKILL", `it ended by itself:\n${stderr}`);
    },
  };
}

/** What one client has received about one response, over all its connections. */
export interface Heard {
  readonly label: string;
  readonly id: string;
  readonly events: readonly EmittedEvent[];
  readonly connections: number;
}

interface Listening {
  readonly streams: boolean;
  /** Called whenever events arrive. */
  onHeard(events: number): void;
}

/** Asks in the background, and continues to listen after an interruption. Undefined if it never got an id. */
export async function hearOut(
  server: MortalServer,
  label: string,
  { streams, onHeard }: Listening,
): Promise<Heard | undefined> {
  const events: EmittedEvent[] = [];
  const add = (more: readonly EmittedEvent[]): void => {
    events.push(...more);
    onHeard(more.length);
  };
  const body = JSON.stringify({ input: label, background: true, stream: streams, tools: [TOOLS] });
  const asked = `${await server.url()}/v1/responses`;
  const id = await begin(asked, body, add);
  if (id === undefined) return undefined;
  let connections = 1;
  for (; !isOver(events); connections++) {
    const after = events.at(-1)?.sequence_number ?? -1;
    const from = `${await server.url()}/v1/responses/${id}?stream=true&starting_after=${after}`;
    await hear(from, {}, add);
  }
  return { label, id, events, connections };
}

type Add = (events: readonly EmittedEvent[]) => void;

const TOOLS = { type: "mcp", server_label: "offshoot", require_approval: "never" };

/** The id, if one arrived before the server died. */
async function begin(url: string, body: string, add: Add): Promise<string | undefined> {
  if (body.includes('"stream":true')) return await hear(url, { method: "POST", body }, add);
  const answer = await fetch(url, { method: "POST", body }).catch(() => undefined);
  const made = (await answer?.json().catch(() => undefined)) as { id: string } | undefined;
  if (answer && made) assert.equal(answer.status, 200, JSON.stringify(made));
  return made?.id;
}

/** Adds whole frames until the stream ends or is cut; an incomplete frame is dropped. */
async function hear(url: string, init: RequestInit, add: Add): Promise<string | undefined> {
  let first: EmittedEvent | undefined;
  let rest = "";
  try {
    const answer = await fetch(url, init);
    assert.equal(answer.status, 200, url);
    const text = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream());
    for await (const piece of text) {
      const end = (rest + piece).lastIndexOf("\n\n") + 2;
      const events = readEvents((rest + piece).slice(0, end));
      first ??= events[0];
      add(events);
      rest = (rest + piece).slice(end);
    }
  } catch (thrown) {
    if (thrown instanceof assert.AssertionError) throw thrown;
  }
  return first && "response" in first ? first.response.id : undefined;
}

function isOver(events: readonly EmittedEvent[]): boolean {
  return /^response\.(completed|failed|incomplete)$/.test(events.at(-1)?.type ?? "");
}
