/**
 * The Responses API as functions: create, retrieve, follow, cancel, delete, list input. No HTTP here.
 *
 * A stored response is a run of the durable engine; one that is not stored is a run of an engine that keeps nothing.
 * The code that answers is the same. Everything stored belongs to a tenant; other tenants cannot see it.
 */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { DoomedThing } from "../../store/shelf.ts";
import { readResponse } from "../fold/read-response.ts";
import { toRunId } from "../fold/response-object.ts";
import { followStored } from "../follow/follow-stored.ts";
import type { Events, LiveResponse } from "../follow/live-response.ts";
import { cancelRun } from "../follow/run-response.ts";
import { findKept, type KeptResponse, RESPONSE_KIND, readInput } from "../kept/kept-response.ts";
import { createInject } from "../multi-agent/inject.ts";
import { allowOptions } from "../request/allow-options.ts";
import { parseAsked, type ResponsePreset } from "../request/asked-response.ts";
import { checkCounts, SIZE_LIMITS } from "../request/check-size.ts";
import type { Caller } from "../tenant/caller.ts";
import type { Once } from "../tenant/idempotency.ts";
import type { ApiParts } from "./api-parts.ts";
import { cancelSubagent, readSubagent, type SteeredResponse, steerResponse } from "./control.ts";
import { createResponse } from "./create-response.ts";

export interface ResponsesApi {
  /**
   * Starts a response. Rejects an invalid request before anything is sent or stored. With `once`, returns the
   * response that an earlier request with that key made, if there is one; a response that is not stored is always
   * new. `preset` is set by the server itself, for responses that it begins.
   */
  create(
    body: unknown,
    caller: Caller,
    once?: Once,
    preset?: ResponsePreset,
  ): Promise<LiveResponse>;
  /**
   * Rejects a body whose lists are too long. Called by `create`, and by code that reads a body before.
   */
  checkCounts(body: unknown): void;
  retrieve(id: string, caller: Caller, include?: readonly string[]): Promise<EmittedResponse>;
  /** Events after a number, live or of a response that has ended. Rejects if it does not exist. */
  follow(id: string, caller: Caller, from: FollowFrom): Promise<Events>;
  /** Ends the response, or the subagent of it that `body` names. */
  cancel(id: string, caller: Caller, body?: unknown): Promise<EmittedResponse>;
  /** Leaves a message that the response, or a subagent of it, reads before its next turn. */
  steer(id: string, caller: Caller, body: unknown): Promise<SteeredResponse>;
  /** Removes the response, its run and all that belongs to it. Ends it first if it still runs. */
  delete(id: string, caller: Caller): Promise<void>;
  /**
   * Answers calls of a team's response that still runs. Resolves when the response has taken the answers: all or
   * none. Rejects with `conflict` when it is too late, else with what is wrong.
   */
  inject(id: string, input: readonly unknown[], caller: Caller): Promise<void>;
  /** The request's own items, oldest first. */
  inputItems(id: string, caller: Caller): Promise<readonly Item[]>;
}

export interface FollowFrom {
  /** The number after which to begin; -1 for all events. */
  readonly after: number;
  readonly include?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
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
    create(body, caller, once, preset) {
      checkCounts(body, size);
      const asked = allowOptions(parseAsked(body, parts.defaults), caller);
      return createResponse(parts, preset ? { ...asked, preset } : asked, { caller, once });
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
      await cancelIn(durable, id, { body, kept: await findOwn(id, caller) });
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

/** Cancels the response, or the subagent of it that the request names. */
async function cancelIn(
  durable: ApiParts["durable"],
  id: string,
  { body, kept }: { readonly body: unknown; readonly kept: KeptResponse },
): Promise<void> {
  const subagent = readSubagent(body);
  if (subagent !== undefined) return await cancelSubagent(durable, id, subagent);
  if (kept.background) return await cancelRun(durable, toRunId(id));
  const message = "Only a response that was created with `background: true` can be cancelled.";
  throw new Failure("invalid_request", message, { param: "response_id" });
}

async function removeResponse(
  { shelf, durable }: Pick<ApiParts, "shelf" | "durable">,
  tenant: string,
  id: string,
): Promise<void> {
  await shelf.removeAll([await doomResponse(durable, tenant, id)]);
}

/** Ends a response that still runs, and returns what must be removed with it in one transaction. */
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
