/**
 * The Responses API as functions: create, retrieve, follow, cancel, delete, list input. No HTTP here.
 *
 * A stored response is a run of the durable engine, one that is not stored a run of an engine that
 * keeps nothing; the code that answers is the same. Everything stored belongs to a tenant, and what is
 * another one's is not there.
 */

import { encodeTask } from "../agent/task.ts";
import { undoAfter } from "../base/busy.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { clip } from "../base/text.ts";
import type { QueuedPlace } from "../engine/engine.ts";
import type { EmittedResponse } from "../protocol/emitted.ts";
import type { Item } from "../protocol/items.ts";
import type { LoggedEvent } from "../protocol/run-events.ts";
import type { Provider } from "../providers/provider.ts";
import type { DoomedThing, Shelf } from "../store/shelf.ts";
import { checkApprovals } from "./approvals.ts";
import type { Caller } from "./caller.ts";
import type { DirectModel, DirectModels, ModelTarget } from "./direct/direct-model.ts";
import { areModelTools, findDirectItems, toDirectRequest } from "./direct/direct-request.ts";
import { createDirectResponse, type DirectParts } from "./direct/direct-response.ts";
import type { PlacedItem } from "./fold/given-items.ts";
import { followResponse, type RunPlace, readResponse } from "./fold/read-response.ts";
import { BLANK_RESPONSE, toResponseId, toRunId } from "./fold/response-object.ts";
import { followStored } from "./follow-stored.ts";
import { createInject, type InjectParts } from "./inject.ts";
import { encodeKept, findKept, type KeptResponse, RESPONSE_KIND } from "./kept-response.ts";
import type { Events, LiveResponse } from "./live-response.ts";
import { allowOptions } from "./request/allow-options.ts";
import { checkCalls } from "./request/check-calls.ts";
import { fillEcho, toUsedTier } from "./request/echo.ts";
import {
  type AskedResponse,
  type Found,
  type Planned,
  parseAsked,
  planResponse,
  type RequestDefaults,
} from "./request/plan-response.ts";
import { withId } from "./request/with-id.ts";
import { needsThoughtSeal, sealThoughts, type ThoughtSeal } from "./sealing/thought-seal.ts";

/** The name of the body in the record. */
export const RESPONSE_BODY = "response";

export interface ResponsesApi {
  /** Starts a response. Rejects what is wrong before anything is sent or stored. */
  create(body: unknown, caller: Caller): Promise<LiveResponse>;
  retrieve(id: string, caller: Caller, include?: readonly string[]): Promise<EmittedResponse>;
  /** Events after a number, live or of one that has ended. Rejects for one that is not there. */
  follow(id: string, caller: Caller, from: FollowFrom): Promise<Events>;
  cancel(id: string, caller: Caller): Promise<EmittedResponse>;
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
  readonly durable: RunPlace;
  /** Where the others run; what it keeps is removed when they end. */
  readonly passing: RunPlace;
  readonly defaults: RequestDefaults;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The model that a request means. Rejects what is not there, too large or not allowed. */
  readonly findModel: (asked: AskedResponse, caller: Caller) => ModelTarget;
  /** Finds what a request names: its model, items, files, conversation. Rejects what is not there. */
  readonly find: (asked: AskedResponse, caller: Caller) => Promise<Found>;
  /**
   * Rejects what the run would fail at, and sets aside what its first question may cost; sends nothing.
   * What it gives takes that back, for a run that does not come about.
   */
  readonly admit: (runId: string, planned: Planned) => Promise<() => Promise<void>>;
  /** The place of a background response among those of its tenant. */
  readonly placeOf: (tenant: string) => QueuedPlace;
  /** Books what a response that needs no run has used; those that do book it themselves. */
  readonly charge?: ChargeDirect | undefined;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** The models of responses that need no run. */
  readonly models: DirectModels;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
}

type ChargeDirect = (
  keyId: string,
  used: { readonly tokens: number; readonly usd: number; readonly unpriced: number },
  runId: string,
) => Promise<void>;

export function createResponsesApi(parts: ApiParts): ResponsesApi {
  const { shelf, durable } = parts;
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
    create: (body, caller) => create(parts, body, caller),
    async retrieve(id, caller, include) {
      await findOwn(id, caller);
      return await read(id, include);
    },
    async follow(id, caller, from) {
      await findOwn(id, caller);
      return followStored(durable, id, from);
    },
    async cancel(id, caller) {
      const { background } = await findOwn(id, caller);
      if (!background) {
        const message =
          "Only a response that was created with `background: true` can be cancelled.";
        throw new Failure("invalid_request", message, { param: "response_id" });
      }
      await cancelRun(durable, toRunId(id));
      return await read(id);
    },
    async delete(id, caller) {
      await findOwn(id, caller);
      await removeResponse(parts, caller.tenant, id);
    },
    inject: (id, input, caller) => inject({ id, input, caller }),
    inputItems: async (id, caller) => (await findOwn(id, caller)).input,
  };
}

async function create(parts: ApiParts, body: unknown, caller: Caller): Promise<LiveResponse> {
  const asked = allowOptions(parseAsked(body, parts.defaults), caller);
  const items = findDirectItems(asked, caller.limits);
  if (items) {
    const target = parts.findModel(asked, caller);
    const model = parts.models.known(target) ?? (await parts.models.open(target));
    if (areModelTools(asked.request, model.native)) {
      return openDirect(parts, asked, { caller, items, target, model });
    }
  }
  return await openRun(parts, asked, caller);
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
  caller: Caller,
): Promise<LiveResponse> {
  const found = await parts.find(asked, caller);
  await checkEnded(parts.durable, asked.request.previous_response_id);
  checkApprovals(found.items);
  const named = { ...found, items: found.items.map(withId) };
  const planned = planResponse(asked, named);
  const { store } = asked;
  const { task } = planned;
  const runId = makeId("run");
  const id = toResponseId(runId);
  const takeBack = await parts.admit(runId, planned);
  const place = store ? parts.durable : parts.passing;
  const title = clip(titleOf(task.items), 80);
  const { tenant, background } = planned.wish;
  const queue = background ? parts.placeOf(tenant) : undefined;
  try {
    if (store) await keep(parts, id, planned);
    const options = { id: runId, title, tenant: caller.tenant, queue };
    await place.engine.submit(RESPONSE_BODY, encodeTask(task), options);
  } catch (thrown) {
    await undoAfter(thrown, async () => {
      if (store) await parts.shelf.delete({ tenant, kind: RESPONSE_KIND, id });
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
async function checkEnded(
  { engine }: RunPlace,
  previous: string | null | undefined,
): Promise<void> {
  if (!previous || (await engine.status(toRunId(previous)))?.status !== "running") return;
  const message = `The response \`${clip(previous, 80)}\` has not ended yet. Go on with it when it has.`;
  throw new Failure("conflict", message, { param: "previous_response_id" });
}

/** Written before the run, which must not be there without an owner. */
async function keep(
  { shelf, clock, ttlMs }: ApiParts,
  id: string,
  { wish, task: { items } }: Planned,
): Promise<void> {
  const { tenant, previous_response_id, conversation, background } = wish;
  const nowMs = clock.now();
  await shelf.put({
    ...{ tenant, kind: RESPONSE_KIND, id, parent: null },
    body: encodeKept({
      previous_response_id,
      conversation_id: conversation?.id ?? null,
      background,
      input: items,
    }),
    created_at_ms: nowMs,
    expires_at_ms: ttlMs === null ? null : nowMs + ttlMs,
  });
}

function titleOf(items: readonly Item[]): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return items.at(-1)?.type ?? "response";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? String(part.text) : `[${part.type}]`)).join(" ");
}

interface Started {
  readonly id: string;
  readonly runId: string;
  readonly asked: AskedResponse;
}

function toLive(place: RunPlace, { id, runId, asked }: Started): LiveResponse {
  const { store, background } = asked;
  let failure: Failure | undefined;
  let injected: readonly PlacedItem[] = [];
  async function* events(signal?: AbortSignal): Events {
    const onFailed = (failed: Failure): void => {
      failure = failed;
    };
    const onGiven = (items: readonly PlacedItem[]): void => {
      injected = items;
    };
    try {
      const from = { after: -1, signal, onFailed, onGiven };
      yield* store ? followStored(place, id, from) : followResponse(place, runId, from);
    } finally {
      if (!store) await forget(place, runId);
    }
  }
  return {
    id,
    asked,
    events,
    injected: () => injected,
    failure: () => failure,
    async response(signal) {
      const response = await readLast(events(signal), { first: background });
      if (failure) throw failure;
      if (response) return response;
      throw new Failure("internal", `Response ${id} has no beginning.`);
    },
  };
}

/** The response as the last event tells it, or with `first` as the first one does. */
async function readLast(
  events: Events,
  { first }: { readonly first: boolean },
): Promise<EmittedResponse | undefined> {
  let response: EmittedResponse | undefined;
  for await (const batch of events) {
    for (const event of batch) {
      if ("response" in event) response = event.response;
    }
    if (first && response) break;
  }
  return response;
}

/** Ends what still runs and leaves nothing of it. */
async function forget({ engine, store }: RunPlace, runId: string): Promise<void> {
  await cancelRun({ engine, store }, runId);
  await store.deleteTree(runId);
}

/** Does nothing to a run that has ended. Resolves when it has. */
async function cancelRun({ engine }: RunPlace, runId: string): Promise<void> {
  const run = await engine.status(runId);
  if (!run || run.status === "ended") return;
  try {
    await engine.cancel(runId, { tree: true });
  } catch (thrown) {
    // It ended in the meantime.
    if ((await engine.status(runId))?.status !== "ended") throw thrown;
  }
  await engine.result(runId);
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
  durable: RunPlace,
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
