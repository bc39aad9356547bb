import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type KeptTurns,
  keepTurns,
  type TurnsRoom,
} from "../../../src/agent/context/keep-turns.ts";
import { estimateTokens } from "../../../src/agent/context/token-estimate.ts";
import type { Item } from "../../../src/protocol/items.ts";

/** Numbers that are the same in every run. */
function createChance(seed: number): (most: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
}

type Chance = ReturnType<typeof createChance>;

const say = (role: "user" | "assistant" | "developer", chars: number): Item => ({
  type: "message",
  role,
  content: "w".repeat(chars),
});

/** One turn of a model: any thinking and words, some calls, and their results in any order. */
function makeTurn(chance: Chance, at: number): Item[] {
  const calls = 1 + chance(3);
  const ids = Array.from({ length: calls }, (_, call) => `call_${at}_${call}`);
  const thought: Item = { type: "reasoning", id: `rs_${at}`, summary: [] };
  const result = (call_id: string): Item => ({
    type: "function_call_output",
    call_id,
    output: `line "${call_id}"\n`.repeat(chance(chance(5) === 0 ? 3000 : 60)),
  });
  const results = ids.map(result);
  return [
    ...(chance(2) === 0 ? [thought] : []),
    ...(chance(2) === 0 ? [say("assistant", chance(300))] : []),
    ...ids.map(
      (call_id): Item => ({ type: "function_call", call_id, name: "work", arguments: "{}" }),
    ),
    ...(chance(2) === 0 ? results : results.reverse()),
    ...(chance(6) === 0 ? [say(chance(3) === 0 ? "developer" : "user", chance(400))] : []),
  ];
}

interface Conversation {
  readonly task: readonly Item[];
  readonly items: readonly Item[];
  readonly lastTurn: readonly Item[];
}

function makeConversation(chance: Chance): Conversation {
  const history = chance(3) === 0 ? [say("user", 50), say("assistant", 80)] : [];
  const task = [...history, say("user", 20 + chance(600))];
  const turns = Array.from({ length: 1 + chance(25) }, (_, at) => makeTurn(chance, at));
  return { task, items: [...task, ...turns.flat()], lastTurn: turns.at(-1) ?? [] };
}

const WINDOW = 6000;

function toRoom({ task }: Conversation): TurnsRoom {
  return { window: WINDOW, maxTokens: WINDOW * 0.8, fixedTokens: 300, task, summary: undefined };
}

/** With the longest summary that is kept. */
function sentOf({ before, last }: KeptTurns): Item[] {
  return [...before, say("user", WINDOW * 0.1 * 3 * 0.9), ...last];
}

const idsOf = (items: readonly Item[], type: string): string[] =>
  items.flatMap((item) => (item.type === type && "call_id" in item ? [String(item.call_id)] : []));

const isPrompt = (item: Item | undefined): boolean =>
  item?.type === "message" && item.role !== "assistant";

function checkKept({ items, task, lastTurn }: Conversation, kept: KeptTurns, what: string): void {
  const sent = sentOf(kept);
  const tokens = estimateTokens({ items: sent }) + 300;
  assert.ok(tokens <= WINDOW * 0.8, `${what}: ${tokens} are left`);
  const calls = idsOf(sent, "function_call").sort();
  assert.deepEqual(calls, idsOf(sent, "function_call_output").sort(), what);
  assert.notEqual(kept.last[0]?.type, "function_call_output", what);
  const said = lastTurn.filter(({ type }) => type !== "function_call_output");
  for (const item of said) assert.ok(kept.last.includes(item), `${what}: ${item.type}`);
  const instructions = items.filter((item) => item.type === "message" && item.role === "developer");
  for (const item of [task[0], task.at(-1), ...instructions]) {
    assert.ok(item && sent.includes(item), `${what}: ${JSON.stringify(item)} is gone`);
  }
}

describe("the kept part of a long conversation", () => {
  it("fits, has no call without its result, and has the task and the last turn, whatever was said", () => {
    let made = 0;
    for (let seed = 0; seed < 2000; seed++) {
      const conversation = makeConversation(createChance(seed));
      const kept = keepTurns(conversation.items, toRoom(conversation));
      const size = estimateTokens({ items: conversation.items }) + 300;
      if (kept) made++;
      if (kept) checkKept(conversation, kept, `seed ${seed}, ${size} tokens`);
      else assert.ok(size < WINDOW * 1.2, `${seed}: ${size} tokens were left as they are`);
    }
    assert.ok(made > 500, `${made} were long enough`);
  });

  it("leaves thinking with all the calls that followed from it", () => {
    for (let seed = 0; seed < 500; seed++) {
      const conversation = makeConversation(createChance(seed));
      const kept = keepTurns(conversation.items, toRoom(conversation));
      const at = kept ? conversation.items.indexOf(kept.last[0] as Item) : -1;
      if (at <= 0) continue;
      const [before, first] = conversation.items.slice(at - 1);
      const isWhole = before?.type === "function_call_output" || isPrompt(before);
      assert.ok(isWhole || isPrompt(first), `${seed}: cut after ${before?.type}`);
    }
  });

  it("is the same conversation if the task alone fills the window, or little was said", () => {
    const long = [say("user", WINDOW * 3)];
    const little = [say("user", 30), ...makeTurn(createChance(1), 0).slice(0, 1)];
    for (const task of [long, little]) {
      assert.equal(keepTurns(task, toRoom({ task, items: task, lastTurn: [] })), undefined);
    }
  });
});
