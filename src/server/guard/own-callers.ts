/** Callers by the rules of a program that embeds the server, in place of keys. */

import type { IncomingMessage } from "node:http";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import type { Scope } from "../route.ts";
import { toLeast } from "./allowance.ts";
import { USUAL_SCOPES } from "./key.ts";

/** Who asks, as the program knows them. */
export interface OwnCaller {
  /** Whose stored things they see and make. */
  readonly tenant: string;
  /** What they may do; what a usual key may when left out. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Globs of the models that they may ask; all when left out. */
  readonly models?: readonly string[] | undefined;
  /** Globs of the server's own tools that they may use; all that the server offers when left out. */
  readonly tools?: readonly string[] | undefined;
  /** What one response of theirs may spend. */
  readonly limits?: Partial<Limits> | undefined;
}

/** Undefined is nobody, who is refused. What it throws is the program's own failure. */
export type CallerOf = (
  request: IncomingMessage,
) => OwnCaller | undefined | Promise<OwnCaller | undefined>;

export interface EnteredCaller {
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
}

interface Bounds {
  /** The server's own tools that clients may use, by name. */
  readonly catalogue: readonly string[];
  readonly limits?: Limits | undefined;
}

/** Rejects with `unauthorized`, or with `forbidden` where the scope is missing. */
export async function enterOwn(
  callerOf: CallerOf,
  request: IncomingMessage,
  scope: Scope,
  { catalogue, limits = NO_LIMITS }: Bounds,
): Promise<EnteredCaller> {
  const who = await callerOf(request);
  if (!who) throw new Failure("unauthorized", "This request shows nobody that may use the server.");
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
