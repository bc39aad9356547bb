/**
 * Replays one run of a tree. As long as everything is the same, its model says what it said, its tools return what
 * they returned, and nothing is sent. From the first difference on it is a run like any other: only what depends on
 * the change is run again.
 */

import type { Account } from "../../agent/account.ts";
import type { ContextKeeper } from "../../agent/context/context-keeper.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ChildWord } from "../../protocol/child-news.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelCall, ModelRequest, Provider } from "../../providers/provider.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Gate } from "../../tools/gate/gate.ts";
import type { BackgroundDoor } from "../background-door.ts";
import { isDelegating, SUBAGENTS } from "../tools/names.ts";
import {
  type AskedCall,
  breakCall,
  findCall,
  isSameResult,
  type KnownCall,
  playCall,
  playTurn,
} from "./play-calls.ts";
import type { RecordedRun } from "./recorded-run.ts";
import {
  createReplayAccount,
  createReplayedChildren,
  hasChildren,
  type ReplayedChild,
  type ReplayedChildren,
} from "./replayed-children.ts";
import { wrapKeeper } from "./replayed-compactions.ts";

export interface ReplayRun {
  /** True as long as nothing has been different. */
  readonly isFaithful: boolean;
  /** The options that it was recorded with: those of today's settings are not sent. */
  readonly options: JsonObject | undefined;
  /** The recorded messages before a turn. A replayed run gets no others. */
  readInbox(turn: number): Promise<readonly Item[]>;
  wrapProvider(live: Provider): Provider;
  wrapGate(live: Gate, background: BackgroundDoor | undefined): Gate;
  /** Compacts the conversation where the record has it compacted, with the recorded words. */
  wrapKeeper(live: ContextKeeper): ContextKeeper;
  /** The recorded news of background children after a turn; undefined if the record does not say. */
  newsAfter(turn: number, isFinal: boolean): readonly ChildWord[] | undefined;
  readonly children: ReplayedChildren;
  /** For a replay that sends nothing: what was paid for is not counted again. */
  readonly account: Account | undefined;
}

export interface ReplayWish {
  /** Undefined for a run that the record does not have. */
  readonly recorded: RecordedRun | undefined;
  /** True if it begins as it was recorded: a changed prompt makes it another run. */
  readonly isSame: boolean;
  /** Called with the first difference, in words. */
  diverged(what: string): void;
  /** True if it may continue with the real model and tools then. */
  readonly mayContinue: boolean;
  /** The replay of one of its children. */
  child(key: string): ReplayedChild;
}

export function createReplayRun(wish: ReplayWish): ReplayRun {
  const { recorded } = wish;
  let isFaithful = wish.isSame && recorded !== undefined;
  let turn = 0;

  function leave(what: string): void {
    if (!isFaithful) return;
    isFaithful = false;
    wish.diverged(what);
  }

  function continueWithout(what: string): void {
    leave(`${what} is not in the record`);
    if (!wish.mayContinue) throw new Failure("conflict", `Nothing left to replay: ${what}.`);
  }

  const ownRecord = (): RecordedRun | undefined => (isFaithful ? recorded : undefined);
  const refused = (): Failure | undefined => findRefused(ownRecord(), turn + 1);
  const children = createReplayedChildren({ recorded: ownRecord, child: wish.child });

  return {
    get isFaithful() {
      return isFaithful;
    },
    children,
    account: wish.mayContinue ? undefined : createReplayAccount(refused),
    options: recorded?.start.settings.options,
    readInbox: async (before) => (isFaithful ? (recorded?.inputs.get(before) ?? []) : []),
    newsAfter: (after, isFinal) =>
      isFaithful && recorded ? readNews(recorded, { after, isFinal }) : undefined,
    wrapProvider: (live) => ({
      name: live.name,
      stream(request: ModelRequest, call: ModelCall) {
        const played = playTurn(ownRecord(), ++turn);
        if (played) return played;
        continueWithout(`turn ${turn}`);
        return live.stream(request, call);
      },
    }),
    wrapKeeper: (live) => wrapKeeper(live, { recorded: ownRecord, mayContinue: wish.mayContinue }),
    wrapGate: (live, background) => ({
      ...live,
      async call(call, context) {
        const found = isFaithful ? findCall(recorded, context.idempotencyKey) : undefined;
        const known = found?.call.name === call.name ? found : undefined;
        const result = known?.result;
        if (result) return await replayCall(live, call, { context, result, background });
        if (known) return await breakCall(live, call, { context, end: recorded?.end });
        continueWithout(`the call of ${call.name} in turn ${turn}`);
        return live.call(call, context);
      },
    }),
  };

  /** Makes a call that delegates: its children are replayed too. */
  async function replayCall(live: Gate, call: AskedCall, known: KnownCall): Promise<ToolResult> {
    const { context, result: recordedResult, background } = known;
    const { output, failed } = recordedResult;
    const { idempotencyKey: key } = context;
    if (call.name === SUBAGENTS) await (await background?.open())?.noteRecorded(key, output);
    const isStarting = isDelegating(call.name) && recorded && hasChildren(recorded, key);
    if (!isStarting) return await playCall(recordedResult, context);
    const result = await live.call(toReplayed(call, output), context);
    const isLeft = openStatus(result.output) !== undefined && openStatus(output) !== undefined;
    // If its children stayed the same, the result is what its model was told then, wherever they had run.
    const isSame = !children.changed.has(key) || isSameResult(result.output, output);
    if (isLeft || isSame) return { ...result, output, failed };
    leave(`${call.name} in turn ${turn} returned something else`);
    return result;
  }
}

interface NewsPlace {
  readonly after: number;
  readonly isFinal: boolean;
}

function readNews({ log }: RecordedRun, { after, isFinal }: NewsPlace): readonly ChildWord[] {
  for (const { event } of log) {
    if (event.type !== "child_news" || event.turn !== after) continue;
    if ((event.final ?? false) === isFinal) return event.news;
  }
  return [];
}

/** The status of a child that continues without its call. */
function openStatus(output: unknown): string | undefined {
  const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
  const metadata = isJsonObject(parsed) ? parsed["metadata"] : undefined;
  const status = isJsonObject(metadata) ? metadata["completion_status"] : undefined;
  return status === "running" || status === "asks" ? status : undefined;
}

/**
 * A child that asked is replayed without its question: its call leaves it there. Which siblings a failure
 * had stopped is in the record, too.
 */
function toReplayed(call: AskedCall, output: unknown): AskedCall {
  const given = tryParseJson(call.arguments);
  if (!isJsonObject(given)) return call;
  const { fail_fast: _, ...task } = given;
  const more = openStatus(output) === "asks" ? { background: true } : {};
  return { ...call, arguments: JSON.stringify({ ...task, ...more }) };
}

/** Why the run did not ask its model this turn: it could not pay for it, or was stopped while it waited for budget. */
function findRefused(recorded: RecordedRun | undefined, turn: number): Failure | undefined {
  const { broken, end } = recorded ?? {};
  return broken?.number === turn && end && end.turns < turn ? broken.failure : undefined;
}
