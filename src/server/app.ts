/**
 * The server's one function: a request in, an answer out. In this order: find the route, let the
 * guard decide, read, handle, send, count. Whatever goes wrong is an answer in the API's form.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { toFailure } from "../base/failure.ts";
import { isOwnFault } from "../base/own-fault.ts";
import { cutSignalOf, signalOf } from "./client-signal.ts";
import { createFindRoute, type FoundRoute } from "./find-route.ts";
import type { About, Admitted, Guard, Outcome } from "./guard.ts";
import { requirePath } from "./path-prefix.ts";
import { type BodyLimits, readJsonBody } from "./read-body.ts";
import type { Route, Speaks } from "./route.ts";
import { type SendSettings, sendAnswer, sendFailure } from "./send-answer.ts";

export interface AppParts {
  readonly routes: readonly Route[];
  /** In front of all addresses; none when left out. */
  readonly prefix?: string | undefined;
  readonly guard: Guard;
  readonly body: BodyLimits;
  readonly send: SendSettings;
  /** Told of failures that are this server's own fault. */
  readonly onDefect: (thrown: unknown) => void;
}

export type App = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createApp(parts: AppParts): App {
  const findRoute = createFindRoute(parts.routes);
  const { prefix = "" } = parts;
  return async (request, response) => {
    const [asked, query] = splitUrl(request.url ?? "/");
    const signal = signalOf(request.socket);
    let admitted: Admitted | undefined;
    let found: FoundRoute | undefined;
    try {
      if (request.method === "OPTIONS") {
        // A page asks what it may ask; what the guard says of it is in the headers.
        admitted = await parts.guard.admit(request, null, { answer: response });
        response.writeHead(204).end();
        return;
      }
      found = findRoute(request.method ?? "GET", requirePath(prefix, asked));
      const { route, params } = found;
      admitted = await parts.guard.admit(request, route.scope, toAbout(found, response));
      const cutSignal = (): AbortSignal => cutSignalOf(request.socket);
      const { caller, scopes = [], countMore, untilRefused = keyless } = admitted;
      const json = (): Promise<unknown> => readJsonBody(request, parts.body, caller.tenant);
      const asker = { caller, scopes, countMore, untilRefused };
      const call = { params, query, ...asker, json, request, signal, cutSignal };
      const speaks = speaksOf(route, request);
      const sending = { settings: parts.send, speaks, owner: caller.tenant };
      await sendAnswer(response, await route.handle(call), sending);
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (isOwnFault(failure)) parts.onDefect(thrown);
      // What is left of a body that was refused is not read: the connection ends with the answer.
      if (!request.complete && !response.headersSent) response.setHeader("connection", "close");
      sendFailure(response, failure, speaksOf(found?.route, request));
    } finally {
      admitted?.done(toOutcome(found, response));
    }
  };
}

/** Without a key there is nothing that could be revoked. */
const keyless = async (): Promise<undefined> => undefined;

/** Clients of the Messages API name its version wherever they ask: addresses that all share answer in its words. */
function speaksOf(route: Route | undefined, { headers }: IncomingMessage): Speaks | undefined {
  return route?.speaks ?? ("anthropic-version" in headers ? "messages" : undefined);
}

/** Nobody changes it. */
const NO_QUERY = new URLSearchParams();

function splitUrl(url: string): [string, URLSearchParams] {
  const mark = url.indexOf("?");
  if (mark < 0) return [url, NO_QUERY];
  return [url.slice(0, mark), new URLSearchParams(url.slice(mark + 1))];
}

function toAbout({ route, name, params }: FoundRoute, answer: ServerResponse): About {
  return { route: name, target: params["id"], answer, needsKey: route.needsKey };
}

function toOutcome(found: FoundRoute | undefined, { statusCode }: ServerResponse): Outcome {
  return { route: found?.name ?? "unknown", status: statusCode, target: found?.params["id"] };
}
