/** The engines that a setting can name, and what they need. */

import { Failure } from "../base/failure.ts";
import { isPostgres } from "../store/open-kept.ts";

export const ENGINES = ["own", "dbos"] as const;

export type EngineName = (typeof ENGINES)[number];

/** The database of DBOS; undefined for our own engine. Throws `invalid_request` if DBOS cannot work with the store. */
export function toDbosPlace(
  name: EngineName | undefined,
  address: string | undefined,
): { readonly address: string } | undefined {
  if (name !== "dbos") return undefined;
  if (address !== undefined && isPostgres(address)) return { address };
  const message =
    "The engine `dbos` needs a Postgres store. Set `store` to postgres://USER@HOST/DATABASE, or `engine` to `own`.";
  throw new Failure("invalid_request", message, { param: "engine" });
}
