/**
 * The Responses API as functions: create, retrieve, follow, cancel, delete, list input. No HTTP here.
 *
 * A stored response is a run of the durable engine, one that is not stored a run of an engine that
 * keeps nothing; the code that answers is the same. Everything stored belongs to a tenant, and what is
 * another one's is not there.
 */

import { encodeTask } from "../../agent/task.ts";
import { undoAfter } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Engine, QueuedPlace } from "../../engine/engine.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Provider } from "../../providers/provider.ts";
import type { DoomedThing, NewThing, Shelf } from "../../store/shelf.ts";
import type { DirectModel, DirectModels } from "../direct/direct-model.ts";
import { areModelTools, findDirectItems, toDirectRequest } from "../direct/direct-request.ts";
import { createDirectResponse, type DirectParts } from "../direct/direct-response.ts";
import { readResponse } from "../fold/read-response.ts";
import { BLANK_RESPONSE, toResponseId, toRunId } from "../fold/response-object.ts";
import { withId } from "../fold/with-id.ts";
import { followStored } from "../follow/follow-stored.ts";
import type { Events, LiveResponse } from "../follow/live-response.ts";
import { cancelRun, toLive } from "../follow/run-response.ts";
import { checkApprovals } from "../kept/approvals.ts";
import {
  findKept,
  type KeptResponse,
  RESPONSE_BODY,
  RESPONSE_KIND,
  readInput,
} from "../kept/kept-response.ts";
import type { ModelTarget } from "../models/model-target.ts";
import { createInject, type InjectParts } from "../multi-agent/inject.ts";
import { allowOptions } from "../request/allow-options.ts";
import { checkCalls } from "../request/check-calls.ts";
import { checkCounts, SIZE_LIMITS, type SizeLimits } from "../request/check-size.ts";
import { fillEcho, toUsedTier } from "../request/echo.ts";
import {
  type AskedResponse,
  type Found,
  parseAsked,
  planResponse,
  type RequestDefaults,
} from "../request/plan-response.ts";
import { toTitle } from "../request/title.ts";
import type { Admit } from "../run/admission.ts";
import type { Charge } from "../run/response-money.ts";
import { needsThoughtSeal, sealThoughts, type ThoughtSeal } from "../sealing/thought-seal.ts";
import type { Caller } from "../tenant/caller.ts";
import { claimMade, findMade, type Once, toOnceKey } from "../tenant/idempotency.ts";
import { cancelSubagent, readSubagent, type SteeredResponse, steerResponse } from "./control.ts";
import { toResponseThings } from "./response-things.ts";

export interface ResponsesApi {
  /**
   * Starts a response. Rejects what is wrong before anything is sent or stored. With `once` it is the one
   * that was made before with that key, if one was; a response that is not stored is always a new one.
   */
  create(body: unknown, caller: Caller, once?: Once): Promise<LiveResponse>;
  /** Rejects a body whose lists are too long. Called by `create`, and by whoever reads a body before. */
  checkCounts(body: unknown): void;
  retrieve(id: string, caller: Caller, include?: readonly string[]): Promise<EmittedResponse>;
  /** Events after a number, live or of one that has ended. Rejects for one that is not there. */
  follow(id: string, caller: Caller, from: FollowFrom): Promise<Events>;
  /** Ends it; or with `body` that names one, a subagent of it. */
  cancel(id: string, caller: Caller, body?: unknown): Promise<EmittedResponse>;
  /** Leaves a message that it, or a subagent of it, reads before its next turn. */
  steer(id: string, caller: Caller, body: unknown): Promise<SteeredResponse>;
  /** Removes the response, its run and all that belongs to it. Ends it first, if it still runs. */
  delete(id: string, caller: Caller): Promise<void>;
  /**
   * Answers calls of a response that still runs and has a team: resolves when the answers are its own.
   * Takes all or none: rejects with `conflict` when it is too late, else with what is wrong.
   */
  inject(id: string, input: readonly unknown[], caller: Caller): Promise<void>;
  /** The request's own items, oldest first. */
  inputItems(id: string, caller: Caller): Promise<readonly Item[]>;
}

export interface FollowFrom {
  /** -1 for all. */
  readonly after: number;
  readonly include?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiParts extends Pick<InjectParts, "findInput"> {
  readonly clock: Clock;
  readonly shelf: Shelf;
  /** Where stored responses run. */
  readonly durable: Engine;
  /** Where the others run; what it keeps is removed when they end. */
  readonly passing: Engine;
  readonly defaults: RequestDefaults;
  readonly size?: SizeLimits | undefined;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The model that a request means. Rejects what is not there, too large or not allowed. */
  readonly findModel: (asked: AskedResponse, caller: Caller) => ModelTarget;
  /** Finds what a request names: its model, items, files, conversation. Rejects what is not there. */
  readonly find: (asked: AskedResponse, caller: Caller) => Promise<Found>;
  readonly admit: Admit;
  /** The place of a background response among those of its tenant. */
  readonly placeOf: (tenant: string) => QueuedPlace;
  /** Books what a response that needs no run has used; those that do book it themselves. */
  readonly charge?: Charge | undefined;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** The models of responses that need no run. */
  readonly models: DirectModels;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
  readonly sealKey: Uint8Array;
}

export function createResponsesApi(parts: ApiParts): ResponsesApi {
  const { shelf, durable, size = SIZE_LIMITS } = parts;
  const inject = createInject(parts);

  const findOwn = async (id: string, { tenant }: Caller): Promise<KeptResponse> => {
    const kept = await findKept(shelf, tenant, id);
    if (kept) return kept;
    throw toUnknownResponse(id);
  };
  const read = async (id: string, include?: readonly string[]): Promise<EmittedResponse> => {
    const response = await readResponse(durable, toRunId(id), { include });
    if (response) return response;
    throw toUnknownResponse(id);
  };

  return {
    create(body, caller, once) {
      checkCounts(body, size);
      const asked = allowOptions(parseAsked(body, parts.defaults), caller);
      return create(parts, asked, { caller, once });
    },
    checkCounts: (body) => checkCounts(body, size),
    async retrieve(id, caller, include) {
      await findOwn(id, caller);
      return await read(id, include);
    },
    async follow(id, caller, from) {
      await findOwn(id, caller);
      return followStored(durable, id, from);
    },
    async cancel(id, caller, body = {}) {
      const { background } = await findOwn(id, caller);
      const subagent = readSubagent(body);
      if (subagent !== undefined) {
        await cancelSubagent(durable, id, subagent);
        return await read(id);
      }
      if (!background) {
        const message =
          "Only a response that was created with `background: true` can be cancelled.";
        throw new Failure("invalid_request", message, { param: "response_id" });
      }
      await cancelRun(durable, toRunId(id));
      return await read(id);
    },
    async steer(id, caller, body) {
      await findOwn(id, caller);
      await shelf.checkRoom(caller.tenant, (body ?? null) as Json);
      return await steerResponse(durable, id, body);
    },
    async delete(id, caller) {
      await findOwn(id, caller);
      await removeResponse(parts, caller.tenant, id);
    },
    inject: (id, input, caller) => inject({ id, input, caller }),
    async inputItems(id, caller) {
      const items = await readInput(durable, id, await findOwn(id, caller));
      if (items) return items;
      throw toUnknownResponse(id);
    },
  };
}

interface Asking {
  readonly caller: Caller;
  readonly once: Once | undefined;
}

async function create(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, once }: Asking,
): Promise<LiveResponse> {
  const items = findDirectItems(asked, caller.limits);
  if (items) {
    const target = parts.findModel(asked, caller);
    const model = parts.models.known(target) ?? (await parts.models.open(target));
    if (areModelTools(asked.request, model.native)) {
      return openDirect(parts, asked, { caller, items, target, model });
    }
  }
  if (!once || !asked.store) return await openRun(parts, asked, startNew(parts, caller));
  return await openOnce(parts, asked, { caller, once });
}

/** How a run begins: under which id, and how its response is written down before it. */
interface Start {
  readonly caller: Caller;
  readonly runId: string;
  /**
   * Written before the run, which must not be there without an owner. What it gives is the response that
   * stands in its place.
   */
  keep?(things: readonly [NewThing, ...NewThing[]]): Promise<LiveResponse | undefined>;
  /** For a run that does not come about. */
  undo(things: readonly NewThing[]): Promise<unknown>;
}

function startNew({ shelf }: ApiParts, caller: Caller): Start {
  return {
    caller,
    runId: makeId("run"),
    undo: (things) => shelf.removeAll(things),
  };
}

/**
 * The response that the key has made, or a new one. One that failed is made again. One that was written down
 * and has no run is begun under its id, here or by whoever wrote it: of two who do it, one does.
 */
async function openOnce(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, once }: Asking & { readonly once: Once },
): Promise<LiveResponse> {
  const { shelf, clock, durable, sealKey } = parts;
  const key = await toOnceKey(once, caller.tenant, sealKey);
  const made = await findMade(shelf, key, clock.now());
  if (made !== undefined) {
    const runId = toRunId(made);
    const run = await durable.status(runId);
    if (!run) return await openRun(parts, asked, { caller, runId, keep: nothing, undo: nothing });
    if (run.ending !== "failed") {
      return { ...toLive(durable, { id: made, runId, asked }), isReplayed: true };
    }
  }
  const keep: Start["keep"] = async (things) => {
    const making = { made: things[0].id, things, inPlaceOf: made };
    const isFirst = await claimMade(shelf, key, making, clock.now());
    return isFirst ? undefined : await openOnce(parts, asked, { caller, once });
  };
  return await openRun(parts, asked, { ...startNew(parts, caller), keep });
}

async function nothing(): Promise<undefined> {}

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

async function openRun(
  parts: ApiParts,
  asked: AskedResponse,
  { caller, runId, keep, undo }: Start,
): Promise<LiveResponse> {
  const found = await parts.find(asked, caller);
  await checkEnded(parts.durable, asked.request.previous_response_id);
  checkApprovals(found.items);
  const named = { ...found, items: found.items.map(withId) };
  const planned = planResponse(asked, named);
  const { store } = asked;
  const { task } = planned;
  const id = toResponseId(runId);
  const takeBack = await parts.admit(runId, planned);
  const place = store ? parts.durable : parts.passing;
  const title = toTitle(task.items);
  const { tenant, background } = planned.wish;
  const queue = background ? parts.placeOf(tenant) : undefined;
  const kept = toResponseThings(parts, { id, runId }, planned);
  try {
    if (store && !keep) await parts.shelf.checkRoom(tenant, kept[0].body);
    const other = store ? await keep?.(kept) : undefined;
    if (other) {
      await takeBack();
      return other;
    }
    const things = store && !keep ? kept : undefined;
    const options = { id: runId, title, tenant: caller.tenant, queue, things };
    await place.submit(RESPONSE_BODY, encodeTask(task), options);
  } catch (thrown) {
    await undoAfter(thrown, async () => {
      if (store) await undo(kept);
      await takeBack();
    });
    throw thrown;
  }
  return toLive(place, { id, asked, runId });
}

function toSealing(
  { thoughtSealOf }: ApiParts,
  { request: { include } }: AskedResponse,
  { model: { provider }, items, caller: { tenant } }: FoundDirect,
): Provider {
  if (!needsThoughtSeal(include, items)) return provider;
  return sealThoughts(provider, thoughtSealOf(tenant), include);
}

/** Where dollars are limited, a run keeps to the limit; what is spent here is counted all the same. */
function toCharge(
  { charge }: ApiParts,
  { caller: { keyId } }: FoundDirect,
  runId: string,
): DirectParts["charge"] {
  if (keyId === null || !charge) return undefined;
  return (used) => charge(keyId, used, runId);
}

/** What still runs is no conversation yet: an answer to half of it would be an answer to something else. */
async function checkEnded(engine: Engine, previous: string | null | undefined): Promise<void> {
  if (!previous || (await engine.status(toRunId(previous)))?.status !== "running") return;
  const message = `The response \`${clip(previous, 80)}\` has not ended yet. Go on with it when it has.`;
  throw new Failure("conflict", message, { param: "previous_response_id" });
}

async function removeResponse(
  { shelf, durable }: Pick<ApiParts, "shelf" | "durable">,
  tenant: string,
  id: string,
): Promise<void> {
  await shelf.removeAll([await doomResponse(durable, tenant, id)]);
}

/** Ends what still runs of a response, and gives what is to be removed of it in one transaction. */
export async function doomResponse(
  durable: Engine,
  tenant: string,
  id: string,
): Promise<DoomedThing> {
  const run = toRunId(id);
  await cancelRun(durable, run);
  return { tenant, kind: RESPONSE_KIND, id, run };
}

export function toUnknownResponse(id: string): Failure {
  return new Failure("not_found", `There is no response \`${clip(id, 80)}\`.`, {
    param: "response_id",
  });
}
