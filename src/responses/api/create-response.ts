/**
 * Begins a response, in one of three ways. A response that is not stored and needs only the model is requested
 * directly. One that is stored, and whose client waits for the whole answer, is written down when it is answered. All
 * others are runs from their first moment.
 */

import { encodeTask } from "../../agent/task.ts";
import { undoAfter } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { Engine, SubmitOptions } from "../../engine/engine.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { Provider } from "../../providers/provider.ts";
import type { NewThing, ThingName } from "../../store/shelf.ts";
import { nameConversation } from "../conversations/conversation-name.ts";
import { toSessionRunThing } from "../conversations/session-things.ts";
import type { DirectModel } from "../direct/direct-model.ts";
import { areModelTools, findDirectItems, toDirectRequest } from "../direct/direct-request.ts";
import { createDirectResponse, type DirectParts } from "../direct/direct-response.ts";
import { BLANK_RESPONSE, toResponseId, toRunId } from "../fold/response-object.ts";
import { withInputIds } from "../fold/with-id.ts";
import type { LiveResponse } from "../follow/live-response.ts";
import { toLive } from "../follow/run-response.ts";
import { checkApprovals } from "../kept/approvals.ts";
import { RESPONSE_BODY, toKeptInput, toKeptThing } from "../kept/kept-response.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { checkCalls } from "../request/check-calls.ts";
import { fillEcho, toUsedTier } from "../request/echo.ts";
import { type Planned, planResponse } from "../request/plan-response.ts";
import { toTitle } from "../request/title.ts";
import {
  type AskedModel as CallAsking,
  type HandedCall,
  makeCall,
  makeStreamedCall,
} from "../run/handed-calls.ts";
import { createSoonResponse } from "../run/soon-response.ts";
import { needsThoughtSeal, sealThoughts } from "../sealing/thought-seal.ts";
import type { Caller } from "../tenant/caller.ts";
import { claimMade, findMade, type Once, toOnceKey } from "../tenant/idempotency.ts";
import type { ApiParts } from "./api-parts.ts";

export interface CreateOrigin {
  readonly caller: Caller;
  readonly once: Once | undefined;
}

export async function createResponse(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, once }: CreateOrigin,
): Promise<LiveResponse> {
  // Only a run enforces what the server adds to a request (an agent's bounds).
  const items = asked.preset ? undefined : findDirectItems(asked, caller.limits);
  if (items && (!asked.store || (!once && mayBeSoon(asked, items)))) {
    const target = parts.findModel(asked, caller);
    const model = parts.models.known(target) ?? (await parts.models.open(target));
    const found = { caller, items, target, model };
    const soon = asked.store ? toSoonCall(asked, model) : undefined;
    if (soon) return await openSoon(parts, asked, { soon, ...found });
    if (!asked.store && areModelTools(asked.request, model.native)) {
      return openDirect(parts, asked, found);
    }
  }
  if (!once || !asked.store) return await openRun(parts, asked, startNew(parts, caller));
  return await openOnce(parts, asked, { caller, once });
}

/** True if it needs only the model: tools and items have rules of their own. */
function mayBeSoon({ request, background }: AskedResponse, items: readonly Item[]): boolean {
  if (background) return false;
  const { tools, tool_choice, include, top_logprobs } = request;
  if (tools?.length || include?.length || top_logprobs) return false;
  const isFree = !tool_choice || tool_choice === "auto" || tool_choice === "none";
  return isFree && items.every(({ type }) => type === "message");
}

type MakeCall = (asking: CallAsking) => HandedCall;

/** Undefined for a model that can only stream, if the answer is wanted whole. */
function toSoonCall({ stream }: AskedResponse, { provider }: DirectModel): MakeCall | undefined {
  const { answer } = provider;
  if (stream) return (asking) => makeStreamedCall((...given) => provider.stream(...given), asking);
  return answer && ((asking) => makeCall(answer, asking));
}

/** A response that is written down when it is answered, or becomes a run if that takes long. */
async function openSoon(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, target, model, soon }: FoundDirect & { readonly soon: MakeCall },
): Promise<LiveResponse> {
  const { clock, durable: engine, settle, handed } = parts;
  const start = startNew(parts, caller);
  const { runId } = start;
  const ready = await prepareRun(parts, asked, start);
  const { planned, things, id, title, takeBack } = ready;
  try {
    await parts.shelf.checkRoom(caller.tenant, things[0].body);
  } catch (thrown) {
    await undoAfter(thrown, takeBack);
    throw thrown;
  }
  const { items } = planned.task;
  const request = toDirectRequest(asked, { model: target.model, items, sealed: model.sealed });
  const call = soon({ request, run: runId, owner: caller.tenant });
  return createSoonResponse({
    id,
    runId,
    title,
    asked,
    planned,
    model,
    things,
    call,
    clock,
    engine,
    settle,
    async begin() {
      handed.set(runId, call);
      const drop = (): void => {
        handed.delete(runId);
        call.stop();
      };
      try {
        const live = await submitRun(parts, asked, { start, ready });
        // If the run is cancelled before it takes the call, the call must not stay open.
        engine.ended(runId).then(drop, drop);
        return live;
      } catch (thrown) {
        drop();
        throw thrown;
      }
    },
  });
}

/** How a run begins: its id, and how its response is written down. */
interface Start {
  readonly caller: Caller;
  readonly runId: string;
  /** True if the response is written down before its run, and others may know it by then. */
  readonly isKnown: boolean;
  /** Writes the response down. Returns the response that is already there, if there is one. */
  keep?(response: NewThing): Promise<LiveResponse | undefined>;
  /**
   * Called if the run could not be begun, or if that is unknown, because the answer of the record was lost.
   * Removes what no other request can have found.
   */
  undo(ready: ReadyRun): Promise<unknown>;
}

/**
 * Only this request knows the id. So the response is removed together with its run, in one transaction, also if that
 * was written down or has begun: no request could find, end or delete the run of a response that is gone.
 */
function startNew({ shelf }: ApiParts, caller: Caller): Start {
  const runId = makeId("run");
  return {
    caller,
    runId,
    isKnown: false,
    async undo({ things: [response, ...others], takeBack }) {
      await shelf.removeAll([{ ...response, run: runId }, ...others]);
      await takeBack();
    },
  };
}

/**
 * The response that the key has made, or a new one. A failed one is made again. If it was written down and has no
 * run, the run is begun under its id, here or by the process that wrote it: of two attempts, one succeeds.
 *
 * From the moment when the key is claimed, other requests with it may have found the response, and may be beginning
 * or following its run. So a request that fails after that removes nothing: the next request with the key gets the
 * run if it was written down, and begins it otherwise.
 */
async function openOnce(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, once }: CreateOrigin & { readonly once: Once },
): Promise<LiveResponse> {
  const { shelf, clock, durable, sealKey } = parts;
  const key = await toOnceKey(once, caller.tenant, sealKey);
  const made = await findMade(shelf, key, clock.now());
  if (made !== undefined) {
    const runId = toRunId(made);
    const run = await durable.status(runId);
    if (!run) return await openRun(parts, asked, startKnown(parts, caller, runId));
    if (run.ending !== "failed") {
      return { ...toLive(durable, { id: made, runId, asked }), isReplayed: true };
    }
  }
  const keep: Start["keep"] = async (response) => {
    const making = { made: response.id, things: [response], inPlaceOf: made };
    const isFirst = await claimMade(shelf, key, making, clock.now());
    return isFirst ? undefined : await openOnce(parts, asked, { caller, once });
  };
  return await openRun(parts, asked, { ...startKnown(parts, caller, makeId("run")), keep });
}

/** The run of a response that other requests may know. What it reserved stays if another one has begun it. */
function startKnown({ durable }: ApiParts, caller: Caller, runId: string): Start {
  return {
    caller,
    runId,
    isKnown: true,
    async undo({ takeBack }) {
      if (!(await durable.status(runId))) await takeBack();
    },
  };
}

interface FoundDirect {
  readonly caller: Caller;
  readonly items: readonly Item[];
  readonly target: ModelTarget;
  readonly model: DirectModel;
}

function openDirect(parts: ApiParts, asked: AskedResponse, found: FoundDirect): LiveResponse {
  const { items, target } = found;
  const { sealed, checkInput, provider } = found.model;
  checkInput(items);
  checkCalls([], items);
  const { model } = target;
  const runId = makeId("run");
  const { include, instructions = null } = asked.request;
  const echo: EmittedResponse = { ...BLANK_RESPONSE };
  fillEcho(echo, asked, { instructions, model });
  echo.service_tier = toUsedTier(echo, provider);
  return createDirectResponse({
    runId,
    owner: found.caller.tenant,
    id: toResponseId(runId),
    asked,
    model,
    provider: toSealing(parts, asked, found),
    clock: parts.clock,
    observe: parts.observeDirect,
    charge: toCharge(parts, found, runId),
    costOf: found.model.costOf,
    request: toDirectRequest(asked, { model, items, sealed }),
    settings: { echo, include: include ?? [], ignored: asked.ignored },
  });
}

/** A run that is ready to begin. */
interface ReadyRun {
  readonly id: string;
  readonly title: string;
  readonly planned: Planned;
  /** The things that are stored with it; the response comes first. */
  readonly things: readonly [NewThing, ...NewThing[]];
  /** The conversation that it continues, if it does. */
  readonly conversation: ThingName | undefined;
  /** Returns what was reserved, if the run does not begin. */
  takeBack(): Promise<void>;
}

async function openRun(parts: ApiParts, asked: AskedResponse, start: Start): Promise<LiveResponse> {
  return await submitRun(parts, asked, { start, ready: await prepareRun(parts, asked, start) });
}

/** Rejects an invalid request before anything is sent or stored. */
async function prepareRun(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, runId }: Start,
): Promise<ReadyRun> {
  const found = await parts.find(asked, caller);
  await checkEnded(parts.durable, asked.request.previous_response_id);
  checkApprovals(found.items);
  const planned = planResponse(asked, { ...found, items: withInputIds(found.items, runId) });
  const id = toResponseId(runId);
  const takeBack = await parts.admit(runId, planned);
  const things = toResponseThings(parts, { id, runId }, planned);
  const { tenant, conversation: held } = planned.wish;
  const conversation = held ? nameConversation(tenant, held.id) : undefined;
  return { id, title: toTitle(planned.task.items), planned, things, conversation, takeBack };
}

async function submitRun(
  parts: ApiParts,
  asked: AskedResponse,
  { start, ready }: { readonly start: Start; readonly ready: ReadyRun },
): Promise<LiveResponse> {
  const { caller, runId, isKnown, keep, undo } = start;
  const { id, title, planned, takeBack } = ready;
  const { store } = asked;
  const place = store ? parts.durable : parts.passing;
  const { tenant, background } = planned.wish;
  const queue = background ? parts.placeOf(tenant) : undefined;
  try {
    if (store && !keep) await parts.shelf.checkRoom(tenant, ready.things[0].body);
    const other = store ? await keep?.(ready.things[0]) : undefined;
    if (other) {
      await takeBack();
      return other;
    }
    const stored = store ? toStored(ready, { isKnown }) : {};
    const timeoutMs = asked.preset?.timeoutMs;
    const options = { id: runId, title, tenant: caller.tenant, queue, timeoutMs, ...stored };
    await place.submit(RESPONSE_BODY, encodeTask(planned.task), options);
  } catch (thrown) {
    await undoAfter(thrown, () => (store ? undo(ready) : takeBack()));
    const isGone = isKnown && isNotFound(thrown) && !(await parts.shelf.get(ready.things[0]));
    throw isGone ? toDeleted(id, thrown) : thrown;
  }
  return toLive(place, { id, asked, runId });
}

/**
 * What is stored with the run, and what must exist by then: a response that was deleted does not come back, its run
 * does not begin, and nothing is left of a conversation that was deleted.
 */
function toStored(
  { things: [response, ...others], conversation }: ReadyRun,
  { isKnown }: Pick<Start, "isKnown">,
): Pick<SubmitOptions, "things" | "needs"> {
  const before = conversation ? [conversation] : [];
  if (!isKnown) return { things: [response, ...others], needs: before };
  return { things: others, needs: [response, ...before] };
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "not_found";
}

function toDeleted(id: string, cause: unknown): Failure {
  const message = `The response \`${id}\` of this \`Idempotency-Key\` was deleted before it began. Send the request again to make another one.`;
  return new Failure("conflict", message, { cause });
}

function toSealing(
  { thoughtSealOf }: ApiParts,
  { request: { include } }: AskedResponse,
  { model: { provider }, items, caller: { tenant } }: FoundDirect,
): Provider {
  if (!needsThoughtSeal(include, items)) return provider;
  return sealThoughts(provider, thoughtSealOf(tenant), include);
}

/** If dollars are limited, a run keeps to the limit; the cost is counted here in any case. */
function toCharge(
  { charge }: ApiParts,
  { caller: { keyId } }: FoundDirect,
  runId: string,
): DirectParts["charge"] {
  if (keyId === null || !charge) return undefined;
  return (used) => charge(keyId, used, runId);
}

/**
 * A running response is not a conversation yet: it would be continued from a part of its answer.
 */
async function checkEnded(engine: Engine, previous: string | null | undefined): Promise<void> {
  if (!previous || (await engine.status(toRunId(previous)))?.status !== "running") return;
  const message = `The response \`${clip(previous, 80)}\` has not ended yet. Continue it when it has.`;
  throw new Failure("conflict", message, { param: "previous_response_id" });
}

interface Keeping {
  readonly clock: Clock;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
}

interface Names {
  readonly id: string;
  readonly runId: string;
}

/**
 * The things that are stored with a response's run: first the response, then its place in its conversation.
 */
function toResponseThings(
  { clock, ttlMs }: Keeping,
  { id, runId }: Names,
  { wish, task }: Planned,
): readonly [NewThing, ...NewThing[]] {
  const { tenant, previous_response_id, conversation, background } = wish;
  const conversation_id = conversation?.id ?? null;
  const input = toKeptInput(task.items);
  const kept = { previous_response_id, conversation_id, background, input };
  const nowMs = clock.now();
  const response = toKeptThing({ tenant, id, kept }, { nowMs, ttlMs });
  if (!conversation) return [response];
  const session = { tenant, id: conversation.id };
  return [response, toSessionRunThing(session, { run: runId, folder: null }, nowMs)];
}
