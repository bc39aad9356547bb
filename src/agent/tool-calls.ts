/**
 * The tool calls of one turn: at the same time if they only read, in order if they change things.
 *
 * A changing call is a fence: what the model asked for before it is done before, what it asked for after it is done
 * after. Results go back in call order, whichever was done first.
 */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import { storedObject } from "../base/stored.ts";
import { createTurnstile, type Turnstile } from "../base/turnstile.ts";
import type { RunContext, Step } from "../engine/engine.ts";
import type { FunctionCallOutput } from "../protocol/items.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { Gate } from "../tools/gate/gate.ts";
import { type Account, takeDrawn } from "./account.ts";
import type { Background, CallNote } from "./background.ts";
import type { MadeCall, OwnCall } from "./calls.ts";
import { type Amount, addAmounts, isNothing, NOTHING } from "./limits.ts";
import { recordQuestion } from "./record-question.ts";
import type { AgentTask } from "./task.ts";

export interface ToolParts {
  readonly context: RunContext;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly task: AgentTask;
  readonly account: Account;
  /** The spending of a call's children, by the call's idempotency key. */
  readonly spentBelow: (idempotencyKey: string) => Amount | undefined;
  /**
   * Reserves what children of these calls have spent that an earlier owner has begun. Returns the calls that have such
   * children.
   */
  readonly findChildren?:
    | ((callKeys: readonly string[]) => Promise<ReadonlySet<string>>)
    | undefined;
  /** Called once for each call that is made, or was made before a takeover. */
  readonly onCall?: (() => void) | undefined;
  /** The cost of the run's last model call. The next one also reads the results, so it costs more. */
  readonly lastCall?: Partial<Amount> | undefined;
  readonly backgroundChildren?: Background | undefined;
}

/** A call as the journal has it. */
interface Done extends MadeCall {
  readonly thrown: string | null;
  /** The call's cost to the budget, its children's included. */
  readonly spent: Partial<Amount>;
  /** The call's effects on background children; most calls have none. */
  readonly note?: CallNote | undefined;
}

const STORED_CALL = storedObject<Done>("a call that was made", ["item", "spent"]);

/** Runs the calls and returns what came of them in call order. `turn` names their steps, once in a run. */
export async function runToolCalls(
  parts: ToolParts,
  turn: number | string,
  calls: readonly OwnCall[],
): Promise<MadeCall[]> {
  const outputs: MadeCall[] = [];
  for (const group of toGroups(calls, parts.gate)) {
    const places = createTurnstile(parts.gate.parallelCalls);
    const steps = group.map((call, at) => ({
      // By index and not by id: some servers give one id to all calls, or count ids from 0 in every answer.
      key: `tool:${turn}.${outputs.length + at}`,
      // The first call after a takeover finds the background children again, whatever it does.
      isStage: parts.gate.mayWait(call.name) || parts.backgroundChildren?.isOpen,
      fn: async (step: Step) => {
        parts.onCall?.();
        await parts.backgroundChildren?.restore();
        const done = await runBeside(parts, { call, step, places, begun });
        if (done.note) parts.backgroundChildren?.learn(done.note, { isReplayed: false });
        return STORED_CALL.write(done);
      },
    }));
    const begun = await findBegun(parts, countEnded(parts, steps));
    const done = await makeAll(parts, steps);
    outputs.push(...done.map(({ item, shown = null }) => ({ item, shown })));
    const thrown = done.find((one) => one.thrown !== null)?.thrown;
    if (thrown && parts.task.on_throw === "end") throw new Failure("tool_failed", thrown);
  }
  return outputs;
}

/** Counts the calls that the journal has, before any other of their group is made. Returns the keys of the others. */
function countEnded(
  { context, account, backgroundChildren, onCall }: ToolParts,
  steps: readonly { readonly key: string }[],
): readonly string[] {
  const open: string[] = [];
  for (const { key } of steps) {
    const ended = context.recall(key);
    if (ended === undefined) {
      open.push(key);
      continue;
    }
    const { spent, note } = STORED_CALL.read(ended);
    if (note) backgroundChildren?.learn(note, { isReplayed: true });
    account.charge(spent);
    if (spent.children) account.family.charge(spent);
    onCall?.();
  }
  return open;
}

type CallStep = { readonly key: string; fn(step: Step): Promise<Json> };

/** However they end, the spending of found children that were not admitted again stays spent. */
async function makeAll(
  { context, account }: ToolParts,
  steps: readonly CallStep[],
): Promise<readonly Done[]> {
  try {
    return (await context.all([...steps])).map(STORED_CALL.read);
  } finally {
    for (const { key } of steps) account.family.found.giveUp(`${context.id}/${key}`);
  }
}

/** Calls that an earlier owner of the run was making, and whose children it had begun. They are paid for. */
async function findBegun(
  { context, account, findChildren }: ToolParts,
  open: readonly string[],
): Promise<ReadonlySet<string>> {
  const callKeys = open.map((key) => `${context.id}/${key}`);
  const begun = (await findChildren?.(callKeys)) ?? new Set<string>();
  for (const _ of begun) account.charge(ONE_CALL);
  return begun;
}

function toGroups(calls: readonly OwnCall[], gate: Gate): OwnCall[][] {
  const groups: OwnCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const readOnly = gate.isReadOnly(call.name);
    if (readOnly && isOpen) groups.at(-1)?.push(call);
    else groups.push([call]);
    isOpen = readOnly;
  }
  return groups;
}

interface Beside {
  readonly call: OwnCall;
  readonly step: Step;
  readonly places: Turnstile;
  /** The calls that were paid for before a takeover. */
  readonly begun: ReadonlySet<string>;
}

/**
 * Takes a place among the calls that work at once. A call that delegates takes none: it waits for children, which are
 * announced before any of them begins, so that all children of the turn get the same share.
 */
async function runBeside(parts: ToolParts, beside: Beside): Promise<Done> {
  const { call, step, places } = beside;
  const { family } = parts.account;
  const { idempotencyKey, signal } = step;
  const children = parts.gate.countChildren(call);
  if (children > 0) family.announce(idempotencyKey, children, parts.lastCall);
  const leave = children > 0 ? undefined : await places.enter(signal);
  try {
    return await runCall(parts, beside);
  } finally {
    leave?.();
    if (children > 0) family.withdraw(idempotencyKey);
  }
}

const ONE_CALL = { tool_calls: 1 };

async function runCall(parts: ToolParts, { call, step, begun }: Beside): Promise<Done> {
  const { context, gate, clock, account } = parts;
  const { callId: call_id, name, arguments: text } = call;
  const { signal, idempotencyKey } = step;
  let spent: Partial<Amount> = {};
  await context.emit([{ type: "tool_start", call_id, name, arguments: text, at_ms: clock.now() }]);
  const result = await gate.call(
    { name, arguments: text },
    {
      signal,
      idempotencyKey,
      tell: (event) => context.emit([{ type: "tool_progress", call_id, event }]),
      starting: (process) => context.emit([{ type: "tool_process", call_id, ...process }]),
      notice: (message) => context.emit([{ type: "notice", code: "hook", message }]),
      keepFiles: (events) => context.emit(events.map((event) => ({ ...event, call_id }))),
      async take() {
        const wish = { least: ONE_CALL, most: ONE_CALL, signal };
        const isPaid = begun.has(idempotencyKey);
        if (!isPaid) await takeDrawn(account, wish, () => account.hold(ONE_CALL).settle(ONE_CALL));
        spent = ONE_CALL;
      },
      asked: (question) =>
        recordQuestion(question, { context, clock, callId: call_id, key: idempotencyKey }),
      // The last thing before the tool runs.
      async decided(decision) {
        const event = { type: "tool_decision", call_id, name, ...decision } as const;
        await context.emit([{ ...event, at_ms: clock.now() }]);
        await step.confirm();
      },
    },
  );
  const { output, failed, thrown } = result;
  const sent = typeof output === "string" ? output : [...output];
  const item: FunctionCallOutput = {
    type: "function_call_output",
    call_id,
    output: sent,
    ...(failed ? { status: "incomplete" as const } : {}),
  };
  const shown = call.show?.(result);
  const end: RunEvent = { type: "tool_end", call_id, name, item, failed, at_ms: clock.now() };
  step.end([shown ? { ...end, shown } : end]);
  const lost = account.family.found.giveUp(idempotencyKey);
  const below = addAmounts(parts.spentBelow(idempotencyKey) ?? NOTHING, lost);
  const note = parts.backgroundChildren?.noteOf(idempotencyKey);
  return {
    ...(note ? { note } : {}),
    item,
    shown: shown ?? null,
    thrown: thrown && typeof output === "string" ? output : null,
    spent: isNothing(below) ? spent : addAmounts({ ...NOTHING, ...spent }, below),
  };
}
