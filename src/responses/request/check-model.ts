/**
 * Checks the model that a request names: is it a possible name, and may the caller's key ask it.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Caller } from "../tenant/caller.ts";

/** Names are matched with patterns and are in every answer. */
const MAX_NAME_CHARS = 512;

export function checkName(name: string | null | undefined): void {
  if ((name?.length ?? 0) <= MAX_NAME_CHARS) return;
  const message = `\`model\` has ${name?.length} characters; at most ${MAX_NAME_CHARS} are allowed.`;
  throw new Failure("invalid_request", message, { param: "model" });
}

/** Rejects a model that the caller's key may not ask. */
export function checkAllowed(name: string, { models }: Caller): void {
  if (!models || models.some((pattern) => matchesGlob(name, pattern))) return;
  const message = `This key may not ask the model \`${name}\`. Name one of those that \`GET /v1/models\` lists.`;
  throw new Failure("forbidden", message, { param: "model" });
}
