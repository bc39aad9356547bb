/**
 * What a failed call means for the deployments of a name: whether another one is asked, and whether the one
 * that failed is held to be ill. One table, from which docs/server.md is made too. Pure.
 *
 * A deployment cools down for what is its server's fault. What a request or a model's words bring about is
 * never held against it: one client could take it from all others by asking for that three times.
 */

import type { Failure, FailureCode } from "../../base/failure.ts";
import { isAccountFailure, isSlip } from "../provider-failure.ts";
import type { Verdict } from "./health.ts";

export interface FailureRule {
  /** What the deployment does, for the docs. */
  readonly told: string;
  readonly codes: readonly FailureCode[];
  /** Fits by more than its code, and comes before that. */
  readonly isOne?: (failure: Failure) => boolean;
  /** Who is asked then, where nothing was given on yet. `larger`: only one with a larger window. */
  readonly next: "any" | "larger" | "none";
  /**
   * `counts`: one of the failures in a row; `at_once`: the next call would fail in the same way. `well`: it
   * answered, which ends its row of failures; `unknown`: nothing is learned of it.
   */
  readonly health: "counts" | "at_once" | "well" | "unknown";
}

/** The first that fits counts. What fits none ends the call, and nothing is learned. */
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
    told: "does not keep to its API: a cut stream, a web page, unreadable bytes",
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

/** Of the request, or of this process. */
const OTHER = { next: "none", health: "unknown" } as const;

function ruleFor(failure: Failure): Pick<FailureRule, "next" | "health"> {
  const rule = FAILURE_RULES.find(
    ({ codes, isOne }) => isOne?.(failure) || codes.includes(failure.code),
  );
  return rule ?? OTHER;
}

/** Who may do better. Whoever uses this has given on no output: after the first nothing is asked again. */
export function nextAfter(failure: Failure): FailureRule["next"] {
  return ruleFor(failure).next;
}

/** What a failed call says of its deployment. */
export function toVerdict(failure: Failure): Verdict {
  const { health } = ruleFor(failure);
  return health === "counts" || health === "at_once" ? failure : health;
}

/** The next call would fail in the same way: nobody mends a key or a model's name within seconds. */
export function isLasting(failure: Failure): boolean {
  return ruleFor(failure).health === "at_once";
}

interface Windowed {
  /** `vendor/model`. */
  readonly model: string;
  /** Undefined where it is not known. */
  readonly contextTokens: number | undefined;
}

/**
 * Whether a conversation that is too long for one may fit another: its window is larger, or nothing is
 * known of the two and it is another model.
 */
export function mayBeLarger(other: Windowed, tooSmall: Windowed): boolean {
  if (other.contextTokens !== undefined && tooSmall.contextTokens !== undefined) {
    return other.contextTokens > tooSmall.contextTokens;
  }
  return other.model !== tooSmall.model;
}
