/**
 * The meaning of a failed call for the deployments of a name: whether another one is asked, and whether the
 * failed one counts as unhealthy. One table, from which docs/server.md is made too. Pure.
 *
 * A deployment cools down for faults of its server only. A failure that a request or a model's output
 * causes is never counted against it: otherwise one client could make it unavailable to all others by
 * sending such a request three times.
 */

import type { Failure, FailureCode } from "../../base/failure.ts";
import { isAccountFailure, isSlip } from "../provider-failure.ts";

export interface FailureRule {
  /** The behaviour of the deployment, for the docs. */
  readonly told: string;
  readonly codes: readonly FailureCode[];
  /** Matches by more than the code, and comes before it. */
  readonly isOne?: (failure: Failure) => boolean;
  /** Which deployment is asked next, as long as there is no output. `larger`: only one with a larger window. */
  readonly next: "any" | "larger" | "none";
  /**
   * `counts`: one of the failures in a row. `at_once`: the next call would fail in the same way. `well`: it
   * answered, which resets the failures in a row. `unknown`: says nothing about its health.
   */
  readonly health: "counts" | "at_once" | "well" | "unknown";
}

/** The first match counts. A failure without a match ends the call, and says nothing about health. */
export const FAILURE_RULES: readonly FailureRule[] = [
  {
    told: "says that its model wrote a call that it cannot read (`tool_use_failed`)",
    codes: [],
    isOne: isSlip,
    next: "any",
    health: "well",
  },
  {
    told: "refuses the key or the account (401, 402, 403, a spent quota)",
    codes: ["provider_unauthorized"],
    isOne: isAccountFailure,
    next: "any",
    health: "at_once",
  },
  {
    told: "does not have the model, or its key is not set",
    codes: ["model_not_found", "key_missing"],
    next: "any",
    health: "at_once",
  },
  {
    told: "cannot be reached, or does not answer in time",
    codes: ["provider_unreachable", "host_unknown", "provider_timeout"],
    next: "any",
    health: "counts",
  },
  {
    told: "is busy or limits the rate (408, 409, 429, 503, 529)",
    codes: ["provider_overloaded"],
    next: "any",
    health: "counts",
  },
  {
    told: "fails inside (any other 5xx, an error in its stream)",
    codes: ["provider_failed"],
    next: "any",
    health: "counts",
  },
  {
    told: "does not keep to its API: an interrupted stream, a web page, unreadable bytes",
    codes: ["provider_broke_protocol"],
    next: "any",
    health: "counts",
  },
  {
    told: "gives an answer that cannot be used: it asks for a tool and names none, names no tool in a call, has fields of wrong types, or its model wrote what the server cannot read",
    codes: ["broken_answer"],
    next: "any",
    health: "unknown",
  },
  {
    told: "gives an empty answer",
    codes: ["empty_answer"],
    next: "any",
    health: "unknown",
  },
  {
    told: "says that the conversation is too long",
    codes: ["context_exceeded"],
    next: "larger",
    health: "well",
  },
  {
    told: "refuses the request itself (400, 413, 422, …), also for what it says (a filter for prompts)",
    codes: ["provider_rejected"],
    next: "none",
    health: "well",
  },
  {
    told: "gives more than `max_answer_bytes`",
    codes: ["answer_too_large"],
    next: "none",
    health: "well",
  },
];

/** A failure of the request, or of this process. */
const OTHER = { next: "none", health: "unknown" } as const;

function ruleFor(failure: Failure): Pick<FailureRule, "next" | "health"> {
  const rule = FAILURE_RULES.find(
    ({ codes, isOne }) => isOne?.(failure) || codes.includes(failure.code),
  );
  return rule ?? OTHER;
}

/**
 * Which deployment may be asked after a failure. The caller has passed on no output: after that no other is
 * asked.
 */
export function nextAfter(failure: Failure): FailureRule["next"] {
  return ruleFor(failure).next;
}

/** `unknown`: the call ended for another reason, such as a client that disconnected. */
export type DeploymentVerdict = "well" | "unknown" | Failure;

/** The verdict of a failed call on the health of its deployment. */
export function toVerdict(failure: Failure): DeploymentVerdict {
  const { health } = ruleFor(failure);
  return health === "counts" || health === "at_once" ? failure : health;
}

/** True if the next call would fail in the same way: a wrong key or model name is not fixed within seconds. */
export function isLasting(failure: Failure): boolean {
  return ruleFor(failure).health === "at_once";
}

interface Windowed {
  /** `vendor/model`. */
  readonly model: string;
  /** Undefined if it is not known. */
  readonly contextTokens: number | undefined;
}

/**
 * True if a conversation that is too long for one deployment may fit another: its window is larger, or one
 * of the windows is not known and it has another model.
 */
export function mayBeLarger(other: Windowed, tooSmall: Windowed): boolean {
  if (other.contextTokens !== undefined && tooSmall.contextTokens !== undefined) {
    return other.contextTokens > tooSmall.contextTokens;
  }
  return other.model !== tooSmall.model;
}
