/** The guard decides who may ask what. Every request passes it before a route sees the request. */

import type { IncomingMessage } from "node:http";
import type { Failure } from "../base/failure.ts";
import type { Caller } from "../responses/tenant/caller.ts";
import type { Scope } from "./route.ts";

export interface Guard {
  /**
   * Admits a request, or rejects it: a wrong host or origin (`forbidden`), no key or a wrong one (`unauthorized`), a
   * key without the scope (`forbidden`), a key that has reached its limits (`rate_limited`, `budget_exceeded`).
   * `scope` is null if the address is open to all.
   *
   * An upgrade to a WebSocket passes here as it is, and again for each response that is requested on the socket: keys
   * are revoked and budgets run out while it is open.
   */
  admit(request: IncomingMessage, scope: Scope | null, about?: About): Promise<Admitted>;
}

/** The facts about a request that the guard learns beyond its head. */
export interface About {
  /** For example `POST /v1/responses/:id`. Without it the log has the path of the request. */
  readonly route?: string | undefined;
  /** True if the request is refused on a server that asks for no key. */
  readonly needsKey?: boolean | undefined;
  /** The id of the thing that the request is about. */
  readonly target?: string | undefined;
  /**
   * Receives the headers that every answer carries, a refusal too: what remains of the limits, and what pages may
   * read.
   */
  readonly answer?: { setHeader(name: string, value: string): unknown } | undefined;
  /** Called with the key of the request, also if the request is then refused. */
  readonly onKey?: ((key: { readonly id: string; readonly tenant: string }) => void) | undefined;
}

export interface Admitted {
  readonly caller: Caller;
  /** All scopes of its key. If no key is asked for: the scopes that need none. */
  readonly scopes?: readonly Scope[] | undefined;
  /**
   * Counts the request as this many more, once its body shows that it asks for several answers. Rejects with
   * `rate_limited`, and counts none of them, if that is over the key's limit.
   */
  countMore(requests: number): Promise<void>;
  /**
   * For answers that last for hours. Resolves with the reason once the key may no longer do this (revoked, expired,
   * without the scope), and with undefined once the signal aborts.
   */
  untilRefused?: ((signal: AbortSignal) => Promise<Failure | undefined>) | undefined;
  /** Called once, when the answer has been sent. Counts the answer and writes the audit entry. */
  done(outcome: Outcome): void;
}

export interface Outcome {
  /** For example `POST /v1/responses/:id`. */
  readonly route: string;
  readonly status: number;
  /** The id of the thing that the request was about, for example of a response. */
  readonly target: string | undefined;
}
