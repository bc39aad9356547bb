/**
 * A model's server on the loopback, for tests: one POST path below `/v1`, every request recorded,
 * every answer open to faults. The wires on top of it are `chat-upstream.ts` and
 * `responses-upstream.ts`.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import type { Exchange } from "./exchange/exchange.ts";
import { type Rejection, reject, rejectionExchange } from "./exchange/rejection.ts";
import { applyFaults, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import { type RecordedRequest, startLoopback, type Upstream } from "./loopback.ts";

export interface UpstreamOptions {
  /** The path below `/v1`: `/responses`. */
  readonly path: string;
  /** The rejection of an invalid request; undefined for a valid one. No fault changes a rejection. */
  readonly check: (body: JsonObject) => Rejection | undefined;
  /** Answers a checked request. Not called when a fault replaces the answer. */
  readonly answer: (body: JsonObject, signal: AbortSignal) => Promise<Exchange>;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string | undefined;
  readonly faults?: Faults | undefined;
}

export function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  return startLoopback({
    basePath: "/v1",
    async answer({ request, path, number }, signal) {
      const parsed = tryParseJson(request.text);
      const body = isJsonObject(parsed) ? parsed : undefined;
      const rejection = checkHttp({ request, path, body }, options) ?? options.check(body ?? {});
      if (rejection) return rejectionExchange(rejection);
      const faults = faultsOf(options.faults, number);
      return replacementOf(faults) ?? applyFaults(faults, await options.answer(body ?? {}, signal));
    },
  });
}

interface Received {
  readonly request: RecordedRequest;
  readonly path: string;
  readonly body: JsonObject | undefined;
}

function checkHttp(
  { request, path: asked, body }: Received,
  { path, key }: UpstreamOptions,
): Rejection | undefined {
  if (asked !== `/v1${path}`) {
    return reject(`Invalid URL (${request.method} ${asked})`, { status: 404 });
  }
  if (request.method !== "POST") {
    return reject("Only POST requests are accepted.", {
      status: 405,
      code: "method_not_supported",
    });
  }
  const { authorization } = request.headers;
  if (key !== undefined && authorization === undefined) {
    return reject("You didn't provide an API key: send it as `Authorization: Bearer KEY`.", {
      status: 401,
    });
  }
  if (key !== undefined && authorization !== `Bearer ${key}`) {
    const message = `Incorrect API key provided: ${toMasked(authorization ?? "")}. You can find your API key at https://platform.openai.com/account/api-keys.`;
    return reject(message, { status: 401, code: "invalid_api_key" });
  }
  if (!body) return reject("We could not parse the JSON body of your request.");
  return undefined;
}

/** The refused key as the service repeats it: its beginning and its end. */
function toMasked(authorization: string): string {
  const key = authorization.replace(/^Bearer /, "");
  return key.length < 16 ? "*".repeat(key.length) : `${key.slice(0, 8)}***${key.slice(-4)}`;
}
