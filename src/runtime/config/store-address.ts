/**
 * Where the record is: a file, or a database whose address may have a password. A password belongs in the variable
 * `OFFSHOOT_STORE` or where Postgres's own tools look for it (`PGPASSWORD`, `~/.pgpass`), never in a file of settings
 * or an argument: those are shown.
 */

import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { isPostgres } from "../../store/open-kept.ts";
import { hasPassword, withoutPassword } from "./address-text.ts";
import type { Config } from "./config.ts";

/** Undefined if runs are not recorded. */
export function toStoreAddress(config: Config, env: Environment): string | undefined {
  const store = config.get("store");
  if (store === false) return undefined;
  if (store === true) return config.get("store_path") ?? config.paths.runsFile;
  const given = config.sourceOf("store") === VARIABLE ? env[VARIABLE]?.trim() : undefined;
  return given !== undefined && isPostgres(store) ? given : store;
}

/** Adds the password that the environment has for an address without one. */
export function withPassword(address: string | undefined, env: Environment): string | undefined {
  const given = env[VARIABLE]?.trim();
  return given !== undefined && withoutPassword(given) === address ? given : address;
}

/** The address for commands that read the record, whether or not runs are recorded now. */
export function toRecordAddress(config: Config, env: Environment): string {
  return toStoreAddress(config, env) ?? config.get("store_path") ?? config.paths.runsFile;
}

const VARIABLE = "OFFSHOOT_STORE";
const TO_VARIABLE = "OFFSHOOT_STORE_TO";

/** The target of `store copy`: `--to`, with the password that a variable has for it, or `OFFSHOOT_STORE_TO`. */
export function toCopyTarget(flag: string | undefined, env: Environment): string {
  const own = env[TO_VARIABLE]?.trim();
  const used = env[VARIABLE]?.trim();
  const address = flag?.trim() ?? own ?? "";
  if (!isPostgres(address)) {
    const found = address === "" ? "is missing" : "is not an address of Postgres";
    const message = `The database to copy to ${found}. Name it with \`--to postgres://USER@HOST/DATABASE\`, or with its password in the variable \`${TO_VARIABLE}\`.`;
    throw new Failure("invalid_request", message);
  }
  if (flag === undefined) return address;
  if (hasPassword(address)) {
    const message = `\`--to\` has a password, which other users of this machine can see. Put the whole address into the variable \`${TO_VARIABLE}\`, or the password into \`PGPASSWORD\` or \`~/.pgpass\`.`;
    throw new Failure("invalid_request", message);
  }
  const isIt = (given: string | undefined): boolean =>
    given !== undefined && withoutPassword(given) === withoutPassword(address);
  return [own, used].find(isIt) ?? address;
}
