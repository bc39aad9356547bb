/** Routes of responses: create, retrieve or follow, cancel, steer, delete, list the input. */

import { Failure } from "../../base/failure.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import type { ContextApi } from "../../responses/api/context-api.ts";
import { checkMinTokens } from "../../responses/request/check-min-tokens.ts";
import { readOnce } from "../../responses/tenant/idempotency.ts";
import { parseInclude } from "../../responses/tenant/paging.ts";
import { type Route, type RouteAnswer, type RouteCall, readOptional, toJson } from "../route.ts";

export function createResponseRoutes(api: ResponsesApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/responses",
      summary: "Create a response, streamed or not, in the background or not",
      scope: "responses",
      speaks: "responses",
      handle: (call) => create(api, call),
    },
    {
      method: "GET",
      path: "/v1/responses/:id",
      summary: "Retrieve a response, or follow its events from any event on",
      scope: "responses",
      speaks: "responses",
      handle: (call) => retrieve(api, call),
    },
    {
      method: "DELETE",
      path: "/v1/responses/:id",
      summary: "Delete a response and everything that belongs to it",
      scope: "responses",
      speaks: "responses",
      async handle({ params, caller }) {
        const id = params["id"] ?? "";
        await api.delete(id, caller);
        return toJson({ id, object: "response.deleted", deleted: true });
      },
    },
    {
      method: "POST",
      path: "/v1/responses/:id/cancel",
      summary: "Cancel a response that runs in the background, or one subagent of any",
      scope: "responses",
      speaks: "responses",
      handle: async (call) =>
        toJson(await api.cancel(call.params["id"] ?? "", call.caller, await readOptional(call))),
    },
    {
      method: "POST",
      path: "/v1/responses/:id/steer",
      summary: "Leave a message that a response, or a subagent of it, reads before its next turn",
      scope: "responses",
      speaks: "responses",
      handle: async ({ params, caller, json }) =>
        toJson(await api.steer(params["id"] ?? "", caller, await json())),
    },
  ];
}

/** Routes about what a response continues from: input items, compaction, the size of an input. */
export function createContextRoutes(api: ContextApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/responses/:id/input_items",
      summary: "List the input items of a response, those of the chain before it included",
      scope: "responses",
      speaks: "responses",
      handle: async ({ params, caller, query }) =>
        toJson(await api.inputItems(params["id"] ?? "", caller, query)),
    },
    {
      method: "POST",
      path: "/v1/responses/compact",
      summary: "Compact a conversation; nothing is stored",
      scope: "responses",
      speaks: "responses",
      handle: async ({ json, caller, signal }) =>
        toJson(await api.compact(await json(), caller, signal)),
    },
    {
      method: "POST",
      path: "/v1/responses/input_tokens",
      summary: "Estimate how many tokens an input has",
      scope: "responses",
      speaks: "responses",
      handle: async ({ json, caller }) => toJson(await api.countInput(await json(), caller)),
    },
  ];
}

async function create(api: ResponsesApi, call: RouteCall): Promise<RouteAnswer> {
  const body = await call.json();
  checkMinTokens(body);
  const once = readOnce(call.request.headers, "POST /v1/responses", body);
  const live = await api.create(body, call.caller, once);
  const headers = {
    "x-request-id": live.id,
    ...(live.isReplayed ? { "idempotent-replayed": "true" } : {}),
  };
  const { stream, store } = live.asked;
  // A stored response continues without its client; others end with it.
  const signal = call.signal;
  if (stream) {
    return { kind: "events", events: live.events(signal), failure: () => live.failure(), headers };
  }
  const response = await live.response(store ? call.cutSignal() : signal);
  return { kind: "json", body: response, headers: withPolling(headers, response) };
}

async function retrieve(api: ResponsesApi, call: RouteCall): Promise<RouteAnswer> {
  const { params, query, caller, signal } = call;
  const id = params["id"] ?? "";
  const include = [...parseInclude(query)];
  if (query.get("stream") !== "true") {
    const body = await api.retrieve(id, caller, include);
    return { kind: "json", body, headers: withPolling({}, body) };
  }
  const after = readAfter(query.get("starting_after"));
  return { kind: "events", events: await api.follow(id, caller, { after, include, signal }) };
}

/** Tells a client that polls when to ask again. */
const POLL_AFTER_MS = 500;

function withPolling(
  headers: Readonly<Record<string, string>>,
  { status }: EmittedResponse,
): Readonly<Record<string, string>> {
  const isEnded = status !== "queued" && status !== "in_progress";
  return isEnded ? headers : { ...headers, "openai-poll-after-ms": `${POLL_AFTER_MS}` };
}

function readAfter(text: string | null): number {
  if (text === null) return -1;
  const after = Number(text);
  if (Number.isInteger(after) && after >= -1) return after;
  const message = "`starting_after` must be the number of an event.";
  throw new Failure("invalid_request", message, { param: "starting_after" });
}
