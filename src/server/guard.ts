/** Who may ask what: the port through which every request passes before a route sees it. */

import type { IncomingMessage } from "node:http";
import type { Failure } from "../base/failure.ts";
import type { Caller } from "../responses/tenant/caller.ts";
import type { Scope } from "./route.ts";

export interface Guard {
  /**
   * Lets a request in, or rejects it: a wrong host or origin (`forbidden`), no key or a wrong one
   * (`unauthorized`), one without the scope (`forbidden`), one that has used what it may
   * (`rate_limited`, `budget_exceeded`). `scope` is null for what anybody may ask.
   *
   * An upgrade to a WebSocket passes here as it is, and again for each response that is asked for on
   * the socket: keys are revoked and budgets end while it is open.
   */
  admit(request: IncomingMessage, scope: Scope | null, about?: About): Promise<Admitted>;
}

/** What the guard is told of a request beyond its head. */
export interface About {
  /** `POST /v1/responses/:id`. Without it the log has the path that was asked for. */
  readonly route?: string | undefined;
  /** Whether it is refused where no key is asked for. */
  readonly needsKey?: boolean | undefined;
  /** The id it is about. */
  readonly target?: string | undefined;
  /** Given the headers that every answer carries, a refusal too: what is left, what pages may read. */
  readonly answer?: { setHeader(name: string, value: string): unknown } | undefined;
  /** Told whose key is shown, also where the request is then refused. */
  readonly onKey?: ((key: { readonly id: string; readonly tenant: string }) => void) | undefined;
}

export interface Admitted {
  readonly caller: Caller;
  /** All that its key may do; where no key is asked for, what needs none. */
  readonly scopes?: readonly Scope[] | undefined;
  /**
   * Counts the request as so many more, once it is read and known to ask for several answers. Rejects with
   * `rate_limited`, and counts none of them, where the key may not have that many.
   */
  countMore(requests: number): Promise<void>;
  /**
   * For answers that go on for hours. Resolves with the reason once its key may not do this any more (revoked, expired,
   * without the scope), and with undefined once the signal aborts.
   */
  untilRefused?: ((signal: AbortSignal) => Promise<Failure | undefined>) | undefined;
  /** Called once, when the answer has been sent: counts it, and writes down who did what. */
  done(outcome: Outcome): void;
}

export interface Outcome {
  /** `POST /v1/responses/:id`. */
  readonly route: string;
  readonly status: number;
  /** What it was about: a response's id. */
  readonly target: string | undefined;
}
