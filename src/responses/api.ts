/**
 * The Responses API as functions: create, retrieve, follow, cancel, delete, list input. No HTTP here.
 *
 * A stored response is a run of the durable engine, one that is not stored a run of an engine that
 * keeps nothing; the code that answers is the same. Everything stored belongs to a tenant, and what is
 * another one's is not there.
 */

import { type AgentTask, encodeTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { clip } from "../base/text.ts";
import type { EmittedEvent, EmittedResponse } from "../protocol/emitted.ts";
import type { Item } from "../protocol/items.ts";
import type { LoggedEvent } from "../protocol/run-events.ts";
import type { Provider } from "../providers/provider.ts";
import type { Shelf } from "../store/shelf.ts";
import type { Caller } from "./caller.ts";
import { idPrefixOf } from "./fold/emitted-item.ts";
import { followResponse, type RunPlace, readResponse } from "./fold/read-response.ts";
import { toResponseId, toRunId } from "./fold/response-object.ts";
import { encodeKept, findKept, type KeptResponse, RESPONSE_KIND } from "./kept-response.ts";
import { type Passing, runPassing } from "./passing-response.ts";
import {
  type AskedResponse,
  type Found,
  type Planned,
  parseAsked,
  planResponse,
  type RequestDefaults,
} from "./request/plan-response.ts";
import type { ResponseWish } from "./request/response-wish.ts";

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
  /** The request's own items, oldest first. */
  inputItems(id: string, caller: Caller): Promise<readonly Item[]>;
}

export type Events = AsyncGenerator<readonly EmittedEvent[]>;

export interface FollowFrom {
  /** -1 for all. */
  readonly after: number;
  readonly include?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LiveResponse {
  readonly id: string;
  /** What the request asked for. */
  readonly asked: AskedResponse;
  /** All events, live. Leaving early ends a response that is not stored, and no other. */
  events(signal?: AbortSignal): Events;
  /** Why it failed, where it has and had said nothing before. Known once its events were read. */
  failure(): Failure | undefined;
  /**
   * The response as it ended, or of one in the background as it began. Rejects with the failure of one
   * that had said nothing before.
   */
  response(signal?: AbortSignal): Promise<EmittedResponse>;
}

export interface ApiParts {
  readonly clock: Clock;
  readonly shelf: Shelf;
  /** Where stored responses run. */
  readonly durable: RunPlace;
  /** Where the others run; what it keeps is removed when they end. */
  readonly passing: RunPlace;
  readonly defaults: RequestDefaults;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** Finds what a request names: its model, items, files, conversation. Rejects what is not there. */
  readonly find: (asked: AskedResponse, caller: Caller) => Promise<Found>;
  /**
   * Rejects what the run would fail at, and sets aside what its first question may cost; sends nothing.
   * What it gives takes that back, for a run that does not come about.
   */
  readonly admit: (runId: string, planned: Planned) => Promise<() => Promise<void>>;
  /** Books what a response that needs no run has used; those that do book it themselves. */
  readonly charge?: ChargeDirect | undefined;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** The model of a response that needs no run; undefined for one that does. Rejects as `admit` does. */
  readonly openDirect: (task: AgentTask, wish: ResponseWish) => Promise<Direct | undefined>;
}

type ChargeDirect = (
  keyId: string,
  used: { readonly tokens: number; readonly usd: number },
  runId: string,
) => Promise<void>;

/** A model that is asked without a run. */
export interface Direct {
  readonly provider: Provider;
  readonly sealed: boolean | undefined;
}

export function createResponsesApi(parts: ApiParts): ResponsesApi {
  const { shelf, durable } = parts;

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
      return followResponse(durable, toRunId(id), from);
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
    inputItems: async (id, caller) => (await findOwn(id, caller)).input,
  };
}

async function create(parts: ApiParts, body: unknown, caller: Caller): Promise<LiveResponse> {
  const asked = parseAsked(body, parts.defaults);
  const found = await parts.find(asked, caller);
  await checkEnded(parts.durable, asked.request.previous_response_id);
  const named = { ...found, items: found.items.map(withId) };
  const planned = planResponse(asked, named);
  const { store } = asked;
  const { task, wish } = planned;
  const runId = makeId("run");
  const id = toResponseId(runId);
  const direct = await parts.openDirect(task, wish);
  if (direct) {
    const { clock, observeDirect: observe } = parts;
    const charge = toCharge(parts, wish, runId);
    return toPassing({ id, asked, runId }, { ...direct, clock, task, wish, charge, observe });
  }
  const takeBack = await parts.admit(runId, planned);
  const place = store ? parts.durable : parts.passing;
  const title = clip(titleOf(task.items), 80);
  try {
    if (store) await keep(parts, id, planned);
    await place.engine.submit(RESPONSE_BODY, encodeTask(task), { id: runId, title });
  } catch (thrown) {
    await takeBack();
    throw thrown;
  }
  return toLive(place, { id, asked, runId });
}

/** Where dollars are limited, a run keeps to the limit: so none are spent here. */
function toCharge(
  { charge }: ApiParts,
  { key_id }: ResponseWish,
  runId: string,
): Passing["charge"] {
  if (key_id === null || !charge) return undefined;
  return (tokens) => charge(key_id, { tokens, usd: 0 }, runId);
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

/** Ids that a client gives are its own; what has none gets one, so that it can be listed and referred to. */
function withId(item: Item): Item {
  const known = "id" in item && typeof item.id === "string" && item.id !== "";
  return known ? item : ({ ...item, id: makeId(idPrefixOf(item.type)) } as Item);
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
  async function* events(signal?: AbortSignal): Events {
    const onFailed = (failed: Failure): void => {
      failure = failed;
    };
    try {
      yield* followResponse(place, runId, { after: -1, signal, onFailed });
    } finally {
      if (!store) await forget(place, runId);
    }
  }
  return {
    id,
    asked,
    events,
    failure: () => failure,
    async response(signal) {
      const response = await readLast(events(signal), { first: background });
      if (failure) throw failure;
      if (response) return response;
      throw new Failure("internal", `Response ${id} has no beginning.`);
    },
  };
}

/** Its events are made while they are read, once. */
function toPassing(
  { id, asked, runId }: Started,
  passing: Omit<Passing, "runId" | "signal" | "onFailed">,
): LiveResponse {
  let failure: Failure | undefined;
  const onFailed = (failed: Failure): void => {
    failure = failed;
  };
  const begin = (
    { endOnly }: Pick<Passing, "endOnly">,
    signal = new AbortController().signal,
  ): PassingRun => runPassing({ ...passing, runId, signal, onFailed, endOnly });
  return {
    ...{ id, asked },
    events: (signal) => begin({ endOnly: false }, signal),
    failure: () => failure,
    async response(signal) {
      const run = begin({ endOnly: true }, signal);
      let step = await run.next();
      while (!step.done) step = await run.next();
      if (failure) throw failure;
      if (step.value) return step.value;
      throw new Failure("internal", `Response ${id} has no beginning.`);
    },
  };
}

type PassingRun = ReturnType<typeof runPassing>;

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

export async function removeResponse(
  { shelf, durable }: Pick<ApiParts, "shelf" | "durable">,
  tenant: string,
  id: string,
): Promise<void> {
  await cancelRun(durable, toRunId(id));
  await shelf.delete({ tenant, kind: RESPONSE_KIND, id });
  await durable.store.deleteTree(toRunId(id));
}

export function toUnknownResponse(id: string): Failure {
  return new Failure("not_found", `There is no response \`${clip(id, 80)}\`.`, {
    param: "response_id",
  });
}
