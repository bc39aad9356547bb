/**
 * The server's one function: a request in, an answer out. In this order: find the route, let the
 * guard decide, read, handle, send, count. Whatever goes wrong is an answer in the API's form.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { toFailure } from "../base/failure.ts";
import { isOwnFault } from "../base/server-fault.ts";
import { cutSignalOf, signalOf } from "./client-signal.ts";
import { createFindRoute, type FoundRoute } from "./find-route.ts";
import type { About, Admitted, Guard, Outcome } from "./guard.ts";
import { speaksMessages } from "./messages-headers.ts";
import { pathBehind, requirePath } from "./path-prefix.ts";
import { type BodyLimits, readJsonBody } from "./read-body.ts";
import type { Route, RouteCall, Scope, Speaks } from "./route.ts";
import { type SendSettings, sendAnswer, sendFailure } from "./send-answer.ts";

export interface AppParts {
  readonly routes: readonly Route[];
  /** Stands before all addresses, for example `/llm`. None when left out. */
  readonly prefix?: string | undefined;
  readonly guard: Guard;
  readonly body: BodyLimits;
  readonly send: SendSettings;
  /** Called for each failure that is a defect of this server. */
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
        // A preflight request of a page. The guard's answer to it is in the headers.
        admitted = await parts.guard.admit(request, null, { answer: response });
        response.writeHead(204).end();
        return;
      }
      found = findRoute(request.method ?? "GET", requirePath(prefix, asked));
      const { route, params } = found;
      admitted = await parts.guard.admit(request, route.scope, toAbout(found, response));
      const cutSignal = (): AbortSignal => cutSignalOf(request.socket);
      const { caller, scopes = NO_SCOPES, countMore, untilRefused = keyless } = admitted;
      const json = (): Promise<unknown> => readJsonBody(request, parts.body, caller.tenant);
      // One literal and no spreads: each request has one (bench/gateway.ts).
      const call: RouteCall = {
        params,
        query,
        caller,
        scopes,
        countMore,
        untilRefused,
        json,
        request,
        signal,
        cutSignal,
      };
      const speaks = speaksOf(route, request);
      const sending = { settings: parts.send, speaks, owner: caller.tenant };
      await sendAnswer(response, await route.handle(call), sending);
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (isOwnFault(failure)) parts.onDefect(thrown);
      const route = found?.route ?? { speaks: findRoute.speaksAt(pathBehind(prefix, asked)) };
      sendFailure(response, failure, speaksOf(route, request));
    } finally {
      admitted?.done(toOutcome(found, response));
    }
  };
}

const NO_SCOPES: readonly Scope[] = [];

/** Without a key there is nothing that could be revoked. */
const keyless = async (): Promise<undefined> => undefined;

/**
 * Clients of the Messages API send its version with every request, so addresses that all APIs share answer in that
 * API's form.
 */
function speaksOf(
  { speaks }: { readonly speaks?: Speaks | undefined },
  request: IncomingMessage,
): Speaks | undefined {
  return speaks ?? (speaksMessages(request) ? "messages" : undefined);
}

/** Shared by all requests without a query; it is never changed. */
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
