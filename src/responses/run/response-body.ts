/**
 * The body that the engine runs for every response: its model with the bridge, its tools and gate, the conversation
 * that it continues, the loop. It is a run like any other, so it can delegate, be resumed and be replayed.
 */

import { type Account, createAccount } from "../../agent/account.ts";
import { type Amount, addAmounts, NOTHING } from "../../agent/limits.ts";
import { runLoop } from "../../agent/loop.ts";
import type { Begun, LoopParts, TaskAdditions } from "../../agent/loop-parts.ts";
import { createPayer, type Payer } from "../../agent/payer.ts";
import { createOutputCheck } from "../../agent/structured-output.ts";
import { type AgentTask, parseTask } from "../../agent/task.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type CountedChildren, toCountedChildren } from "../../delegation/past-children.ts";
import { toFailedOutcome, toUsedByRun } from "../../engine/ending.ts";
import type { RunBody, RunContext, RunOutcome } from "../../engine/engine.ts";
import { lookAgain } from "../../engine/run-code.ts";
import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Gate } from "../../tools/gate/gate.ts";
import { type Bridge, openBridge } from "../bridge/bridge.ts";
import { bridgeProvider } from "../bridge/bridged-provider.ts";
import { chooseNative } from "../bridge/native.ts";
import { isPlainItem } from "../bridge/plain-items.ts";
import { createResponseCalls } from "../bridge/response-calls.ts";
import { nameUnknown } from "../bridge/unknown-items.ts";
import { asksForSeal } from "../fold/show-item.ts";
import { withSubagents } from "../fold/subagent-usage.ts";
import { useApproval } from "../kept/approvals.ts";
import { collectTools, joinTools } from "../kinds/collect-tools.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import type { ResponseModel } from "../models/response-model.ts";
import type { Team } from "../multi-agent/team.ts";
import { TEAM_TOOL } from "../multi-agent/team-kind.ts";
import { checkOffered } from "../request/check-choice.ts";
import { toUsedTier } from "../request/echo.ts";
import { type IsBacked, mayUse } from "../request/hosted-kinds.ts";
import { encodeResponseSettings } from "../request/response-settings.ts";
import { type ResponseWish, readWish } from "../request/response-wish.ts";
import { type EnterPlace, enterBackground } from "./background-queue.ts";
import { beginResponse, callApproved, readTold } from "./begin-response.ts";
import { type HandedCalls, takeHanded } from "./handed-calls.ts";
import { encodeOpening, readOpening, toBefore } from "./past-opening.ts";
import { type ContextSettings, type OpenedContext, openContext } from "./response-context.ts";
import { payFor, type ResponseMoney, toCharged } from "./response-money.ts";
import { joinTeam, openTeam, type TeamJoining, type TeamSurroundings } from "./response-team.ts";
import { NO_GATE, openCatalogue, openResponseGate } from "./response-tools.ts";
import type { ResponsesParts } from "./responses-parts.ts";

export interface ResponseBodyParts extends ResponsesParts, TeamSurroundings, ResponseMoney {
  readonly context: ContextSettings;
  /** Model calls that were made before their runs began. */
  readonly handed: HandedCalls;
  readonly kinds: readonly ToolKind[];
  /** The conversation that a request continues. */
  readonly readBefore: (wish: ResponseWish) => Promise<readonly Item[]>;
  /** Tools with their secrets restored. */
  readonly unseal: (tools: ResponseWish["tools"]) => ResponseWish["tools"];
  /** True if the server makes the calls of a client's kind of tool itself. */
  readonly isBacked: IsBacked;
  /** The kinds of tools that vendors may run themselves, as globs. */
  readonly nativeTools: readonly string[];
  /** The log of a run in the engine of the responses. */
  readonly readLog: (runId: string) => Promise<readonly LoggedEvent[]>;
  /** Stores what belongs to a conversation, once there is an answer. May be repeated. */
  readonly keepOutput: (
    wish: ResponseWish,
    context: RunContext,
    outcome: RunOutcome,
  ) => Promise<RunOutcome["things"]>;
  readonly enterPlace?: EnterPlace | undefined;
}

export function createResponseBody(parts: ResponseBodyParts): RunBody {
  return async (context, input) => {
    const task = parseTask(input);
    const asked: Asked = { context, task, wish: readWish(task.response ?? {}) };
    const progress: Progress = {};
    let outcome: RunOutcome;
    try {
      outcome = await answer(parts, asked, progress);
    } catch (thrown) {
      const used = progress.ended && toUsedByRun(progress.ended);
      const { signal } = context;
      outcome = toFailedOutcome(thrown, { signal, atMs: parts.clock.now(), used });
    }
    const { opened, ended = outcome } = progress;
    return await payFor(outcome, parts, { used: opened && toCharged(opened, ended), ...asked });
  };
}

/** How far a response has come, for the case that it fails. */
interface Progress {
  opened?: OpenedResponse;
  /** The output of its agents, which may be all there is to store. */
  ended?: RunOutcome;
}

async function answer(
  parts: ResponseBodyParts,
  asked: Asked,
  progress: Progress,
): Promise<RunOutcome> {
  const { context, wish } = asked;
  const scope: Closing[] = [];
  try {
    const opened: OpenedResponse = await open(parts, { scope, ...asked }).catch((thrown: unknown) =>
      toBroken(parts, asked, toFailure(thrown)),
    );
    progress.opened = opened;
    const own = await runLoop(opened);
    const ended = opened.delegates ? await withSubagents(own, context.id, parts.readLog) : own;
    const outcome = (await opened.team?.end(ended)) ?? ended;
    progress.ended = outcome;
    return { ...outcome, things: await parts.keepOutput(wish, context, outcome) };
  } finally {
    for (const close of scope.reverse()) await close();
  }
}

type Closing = () => unknown;

interface OpenedResponse extends LoopParts {
  readonly team?: Team | undefined;
  /** True if its calls may start subagents. */
  readonly delegates?: boolean | undefined;
}

interface Asked {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly wish: ResponseWish;
}

async function open(
  parts: ResponseBodyParts,
  { context, task, wish, scope }: Asked & { readonly scope: Closing[] },
): Promise<OpenedResponse> {
  const { clock } = parts;
  const model = takeHanded(await parts.openModel(task), parts.handed, context.id);
  const account =
    parts.accounts.get(context.id) ?? (await openAccount(parts, { context, task, wish }));
  const past = readOpening(context);
  const found = await lookAgain(context.id, () => parts.readBefore(wish));
  const before = toBefore(past, found, task.items);
  const items = [...before, ...task.items];
  const team = openTeam(parts, { context, task, wish }, { account, before });
  scope.push(() => team?.close());
  // Tools that earlier requests brought as items are still available; a repeated one counts. An agent of a team may
  // have got some since its team was created.
  const asked = withBrought(parts, wish, wish.multi_agent?.name === undefined ? before : items);
  const about = { context, task, wish, asked, scope };
  const served = await openServed(parts, about, { model, account, team, items, past });
  const { bridge, told, native, gate, counted, delegates } = served;
  const tools = { context, gate, clock, task, account, ...counted };
  const enter = (): Promise<void> => enterTurn(parts, { context, task, wish, scope }, team);
  const opening = encodeOpening({ before, offers: bridge.offers });
  const useApproval = toUseApproval(parts, { context, wish });
  const { background } = wish;
  const beginning = { bridge, told, enter, background, opening, useApproval, ...tools };
  const kept = openContext(parts.context, { wish, model, items, tools: bridge.tools, ...tools });
  const { contextTokens, costOf, tellsCost, reasoning, own } = model;
  const opened: OpenedResponse = {
    delegates,
    provider: isPlain(bridge, asked.tools, items)
      ? kept.provider
      : bridgeProvider(kept.provider, bridge, () => account.left.tool_calls),
    contextTokens,
    costOf,
    tellsCost,
    reasoning,
    own,
    keeper: kept.keeper,
    opening: background ? undefined : opening,
    checkOutput: await createOutputCheck(task.format, wish.tenant),
    calls: createResponseCalls(bridge),
    wishes: {
      before,
      begin: async (given) => {
        const begun = await beginResponse(beginning, given);
        return wish.is_compaction ? await compactAll(kept, begun) : { items: begun };
      },
      ...withShown(withUsedTier(asked, model), reasoning.sealed, [
        ...bridge.ignored,
        ...(wish.is_compaction ? [] : checkOffered(task.tool_choice, bridge)),
        ...nameUnknown(task.items, native.owns),
      ]),
    },
    ...tools,
  };
  const call: TeamJoining["callApproved"] = (...given) => callApproved(beginning, ...given);
  return joinTeam(opened, { team, wish, callApproved: call });
}

interface Served {
  readonly bridge: Bridge;
  readonly gate: Gate;
  readonly native: Native;
  /** What calls before the first turn have told. */
  readonly told: Awaited<ReturnType<typeof readTold>>;
  readonly counted: CountedChildren;
  /** True if its calls may start subagents. */
  readonly delegates: boolean;
}

interface Serving extends Asked {
  /** The wish with the tools of earlier requests. */
  readonly asked: ResponseWish;
  readonly scope: Closing[];
}

interface ServedFor {
  readonly model: ResponseModel;
  readonly account: Account;
  readonly team: Team | undefined;
  /** The whole conversation. */
  readonly items: readonly Item[];
  readonly past: ReturnType<typeof readOpening>;
}

/** Opens what the server does for the model: its tools, and those of the request that it runs. */
async function openServed(
  parts: ResponseBodyParts,
  { context, task, wish, asked, scope }: Serving,
  { model, account, team, items, past }: ServedFor,
): Promise<Served> {
  const own = await openCatalogue(parts, { context, task, wish: asked }, account);
  const isLimited = account.limits.usd !== null;
  const { isBacked, nativeTools } = parts;
  const native = chooseNative(model.native, { isBacked, nativeTools, isLimited });
  const paid = createPaidCalls(account, own.node && toCountedChildren(own.node, context));
  const told = await readTold(context);
  const bridge = await openBridge({
    // A conversation that is to be summarised is not answered, so no tool of it is called.
    tools: wish.is_compaction ? [] : [...parts.unseal(asked.tools), ...(team ? [TEAM_TOOL] : [])],
    kinds: team ? [...parts.kinds, team.kind] : parts.kinds,
    native,
    past: past?.offers,
    request: {
      tenant: wish.tenant,
      runId: context.id,
      include: new Set(wish.include),
      catalogue: own.tools,
      signal: context.signal,
      payerOf: paid.payerOf,
      items: [...items, ...told],
    },
  });
  scope.push(() => bridge.close());
  const gate = await openResponseGate(parts, { task, context }, bridge);
  scope.push(() => gate.close());
  const delegates = own.node !== undefined;
  return { bridge, gate, native, told, counted: paid.counted, delegates };
}

/** Waits until the response may work: in its queue, and among the agents of its team. */
async function enterTurn(
  parts: ResponseBodyParts,
  { context, wish, scope }: Asked & { readonly scope: Closing[] },
  team: Team | undefined,
): Promise<void> {
  // A run that was cancelled before it was taken over begins nothing: its first unfinished step rejects.
  if (context.signal.aborted) return;
  if (wish.background) {
    const take = () => enterBackground(parts, { context, wish });
    scope.push(await context.waiting(undefined, take));
  }
  await context.waiting(undefined, async () => team?.enter(context.signal));
}

interface PaidCalls {
  readonly counted: CountedChildren;
  readonly payerOf: (idempotencyKey: string) => Payer;
}

/** The cost of calls besides the model and their children is in the journal with them, too. */
function createPaidCalls(account: Account, children: CountedChildren | undefined): PaidCalls {
  const paid = new Map<string, Amount>();
  return {
    payerOf: (key) =>
      createPayer(account, (amount) => paid.set(key, addAmounts(paid.get(key) ?? NOTHING, amount))),
    counted: {
      findChildren: children?.findChildren,
      untilClosed: children?.untilClosed,
      spentBelow(key) {
        const [below, beside] = [children?.spentBelow(key), paid.get(key)];
        return below && beside ? addAmounts(below, beside) : (below ?? beside);
      },
    },
  };
}

/** Leaves out kinds that the key may not use, though earlier requests brought them. */
function withBrought(
  { isBacked }: ResponseBodyParts,
  wish: ResponseWish,
  items: readonly Item[],
): ResponseWish {
  const { kinds, tools } = wish;
  const brought = collectTools(items, []).filter((tool) => !kinds || mayUse(kinds, tool, isBacked));
  return brought.length === 0 ? wish : { ...wish, tools: joinTools(brought, tools) };
}

/** A response that is not stored leaves nothing in the record. */
function toUseApproval(
  { context: { kept } }: ResponseBodyParts,
  { context, wish }: Pick<Asked, "context" | "wish">,
): (id: string) => Promise<boolean> {
  const using = { tenant: wish.tenant, runId: context.id };
  return async (id) => !wish.store || (await useApproval(kept, using, id));
}

async function openAccount(
  { openPurse }: ResponseBodyParts,
  { context, task, wish }: Asked,
): Promise<Account> {
  const purse = wish.key_id === null ? undefined : await openPurse?.(wish.key_id, context.id);
  return createAccount(task.limits, purse);
}

/** The summary of the conversation is the whole answer. */
async function compactAll({ compactor }: OpenedContext, items: readonly Item[]): Promise<Begun> {
  const { items: short, answer: done } = await compactor.compact(items, { place: "0" });
  return { items: short, done };
}

/** True if the model needs no bridge: most requests have only functions and messages. */
function isPlain(
  { offers, tools }: Bridge,
  asked: readonly Tool[],
  items: readonly Item[],
): boolean {
  if (offers.length > 0 || tools.length !== asked.length) return false;
  // The code that keeps the conversation opens compactions.
  return items.every(({ type }) => isPlainItem(type) || type === "compaction");
}

/** A wish is spelled like the model's request; fields for the answer are logged at the start. */
function withShown(
  wish: ResponseWish,
  sealed: boolean | undefined,
  ignored: readonly string[],
): Omit<TaskAdditions, "begin" | "before"> {
  const { echo, include, reasoning } = wish;
  const shown = { echo, include, ignored: [...wish.ignored, ...ignored] };
  return {
    ...wish,
    reasoning: { sealed: sealed ?? asksForSeal(include), ...reasoning },
    response: encodeResponseSettings(shown),
  };
}

function withUsedTier(wish: ResponseWish, { provider }: ResponseModel): ResponseWish {
  const { echo } = wish;
  return { ...wish, echo: { ...echo, service_tier: toUsedTier(echo, provider) } };
}

/** A run whose parts could not be opened writes the failure to its log, as any other ending. */
function toBroken(
  { clock, accounts }: ResponseBodyParts,
  { context, task, wish }: Asked,
  failure: Failure,
): LoopParts {
  return {
    ...{ context, task, clock },
    provider: NO_PROVIDER,
    gate: NO_GATE,
    checkOutput: async () => ({ ok: true, value: undefined }),
    costOf: () => 0,
    contextTokens: undefined,
    reasoning: wish.reasoning,
    account: accounts.get(context.id) ?? createAccount(task.limits),
    spentBelow: () => undefined,
    calls: { findOwn: () => [], waitsForClient: () => false },
    wishes: { ...withShown(wish, undefined, []), before: [], begin: () => Promise.reject(failure) },
  };
}

const NO_PROVIDER: Provider = {
  name: "none",
  // biome-ignore lint/correctness/useYield: it never answers.
  async *stream() {
    throw new Failure("internal", "There is no model.");
  },
};
