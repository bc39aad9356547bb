/** Identifies callers by the rules of a program that embeds the server, in place of keys. */

import type { IncomingMessage } from "node:http";
import { type Limits, NO_LIMITS, toLeast } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import type { Scope } from "../route.ts";
import { USUAL_SCOPES } from "./key.ts";

/** The caller of a request, as the program knows it. */
export interface OwnCaller {
  /** The tenant whose stored things the caller sees and makes. */
  readonly tenant: string;
  /** The rights of the caller. When left out, the scopes of a usual key. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Globs of the models that the caller may ask; all when left out. */
  readonly models?: readonly string[] | undefined;
  /**
   * Globs of the server's own tools that the caller may use; all that the server offers when left out.
   */
  readonly tools?: readonly string[] | undefined;
  /** The most that one response of the caller may spend. */
  readonly limits?: Partial<Limits> | undefined;
}

/**
 * Returns the caller of a request. A request with undefined is refused. If it throws, the fault is the program's.
 */
export type CallerOf = (
  request: IncomingMessage,
) => OwnCaller | undefined | Promise<OwnCaller | undefined>;

export interface EnteredCaller {
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
}

interface Bounds {
  /** Names of the server's own tools that clients may use. */
  readonly catalogue: readonly string[];
  readonly limits?: Limits | undefined;
}

/** Rejects with `unauthorized`, or with `forbidden` if the scope is missing. */
export async function enterOwn(
  callerOf: CallerOf,
  request: IncomingMessage,
  scope: Scope,
  { catalogue, limits = NO_LIMITS }: Bounds,
): Promise<EnteredCaller> {
  const who = await callerOf(request);
  if (!who)
    throw new Failure("unauthorized", "This request has no caller that may use the server.");
  const { tenant, scopes = USUAL_SCOPES, models, tools, limits: own } = who;
  if (typeof tenant !== "string" || tenant === "") {
    throw new Failure("internal", "`caller` gave no `tenant`.");
  }
  if (!scopes.includes(scope)) {
    throw new Failure("forbidden", `This caller lacks the scope \`${scope}\`.`);
  }
  const mayUse = (tool: string): boolean =>
    tools === undefined || tools.some((glob) => matchesGlob(tool, glob));
  const caller: Caller = {
    tenant,
    keyId: null,
    models,
    kinds: tools,
    catalogue: catalogue.filter(mayUse),
    limits: toLeast({ ...NO_LIMITS, ...own }, limits),
  };
  return { caller, scopes };
}
