/**
 * Writes requests to the audit: those that change something, and those that were refused. An entry has who, when,
 * what and how it ended. It has no word of a body, and of a key only its id.
 */

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Audit } from "../../store/audit.ts";
import { toFailureAnswer } from "../failure-answer.ts";
import type { About, Outcome } from "../guard.ts";
import type { ClientKey } from "./key.ts";

export interface RequestAudit {
  write(who: Who, outcome: Outcome): void;
  refuse(who: Who, about: About, failure: Failure): void;
}

export interface Who {
  readonly request: IncomingMessage;
  readonly key: ClientKey | undefined;
  /** Empty if it is not known. */
  readonly tenant: string;
}

/**
 * Requests without a known key can be refused in any number, and must not fill the disk. Those with a key are always
 * written.
 */
const MAX_NAMELESS_A_MINUTE = 600;

export function createRequestAudit(parts: { audit: Audit; clock: Clock }): RequestAudit {
  const { audit, clock } = parts;
  let minute = 0;
  let nameless = 0;

  function isFlood(nowMs: number): boolean {
    const now = Math.floor(nowMs / 60_000);
    if (now !== minute) [minute, nameless] = [now, 0];
    return ++nameless > MAX_NAMELESS_A_MINUTE;
  }

  function write({ request, key, tenant }: Who, { route, target, status }: Outcome): void {
    audit.write({
      at_ms: clock.now(),
      tenant,
      key_id: key?.id ?? null,
      action: route,
      target: target === undefined ? null : clip(target, MAX_TARGET),
      status,
      address: request.socket.remoteAddress ?? null,
    });
  }

  return {
    write(who, outcome) {
      if (isChange(outcome.route) || REFUSALS.has(outcome.status)) write(who, outcome);
    },
    refuse(who, { route = toAction(who.request), target }, failure) {
      if (!who.key && isFlood(clock.now())) return;
      write(who, { route, target, status: toFailureAnswer(failure).status ?? 500 });
    },
  };
}

/** Describes a request that no route describes: its method and path. */
export function toAction({ method, url }: IncomingMessage): string {
  return clip(`${method} ${url?.split("?", 1)[0]}`, MAX_TARGET);
}

const MAX_TARGET = 200;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429]);

/** The request's method does not say it: a turn on a socket came with a GET. */
function isChange(route: string): boolean {
  return /^(POST|DELETE) /.test(route);
}
