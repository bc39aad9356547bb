/**
 * Where the record is: a file, or a database whose address may hold a password. A password stands in the variable
 * `OFFSHOOT_STORE` or where Postgres's own tools look for it (`PGPASSWORD`, `~/.pgpass`), never in a file of
 * settings or an argument: those are shown.
 */

import { Failure } from "../../base/failure.ts";
import { isPostgres } from "../../store/open-kept.ts";
import type { Environment } from "../paths.ts";
import type { Config } from "./config.ts";

/** Undefined where nothing is kept. */
export function toStoreAddress(config: Config, env: Environment): string | undefined {
  const store = config.get("store");
  if (store === false) return undefined;
  if (store === true) return config.get("store_path") ?? config.paths.runsFile;
  const given = config.sourceOf("store") === VARIABLE ? env[VARIABLE]?.trim() : undefined;
  return given !== undefined && isPostgres(store) ? given : store;
}

/** An address that came without its password, with the one that the environment has for it. */
export function withPassword(address: string | undefined, env: Environment): string | undefined {
  const given = env[VARIABLE]?.trim();
  return given !== undefined && withoutPassword(given) === address ? given : address;
}

/** The same for commands that look at the record, whether or not runs are kept in it now. */
export function toRecordAddress(config: Config, env: Environment): string {
  return toStoreAddress(config, env) ?? config.get("store_path") ?? config.paths.runsFile;
}

const VARIABLE = "OFFSHOOT_STORE";
const TO_VARIABLE = "OFFSHOOT_STORE_TO";

/** Where `store copy` copies to: what `--to` says, with the password that a variable has for it, or `OFFSHOOT_STORE_TO`. */
export function toCopyTarget(flag: string | undefined, env: Environment): string {
  const [own, used] = [env[TO_VARIABLE]?.trim(), env[VARIABLE]?.trim()];
  const address = flag?.trim() ?? own ?? "";
  if (!isPostgres(address)) {
    const found = address === "" ? "is missing" : "is not an address of Postgres";
    const message = `The database to copy to ${found}. Name it with \`--to postgres://USER@HOST/DATABASE\`, or with its password in the variable \`${TO_VARIABLE}\`.`;
    throw new Failure("invalid_request", message);
  }
  if (flag === undefined) return address;
  if (passwordOf(address) !== "") {
    const message = `\`--to\` has a password, which other users of this machine can see. Put the whole address into the variable \`${TO_VARIABLE}\`, or the password into \`PGPASSWORD\` or \`~/.pgpass\`.`;
    throw new Failure("invalid_request", message);
  }
  const isIt = (given: string | undefined): boolean =>
    given !== undefined && withoutPassword(given) === withoutPassword(address);
  return [own, used].find(isIt) ?? address;
}

/** Whether a text may be the value of `store`: no address with a password is. */
export function isStoreAddress(text: string): boolean {
  if (text.trim() === "") return false;
  return isPath(text) || (isPostgres(text) && passwordOf(text) === "");
}

export function isPath(text: string): boolean {
  return !/^[a-z][a-z0-9+.-]+:/i.test(text);
}

/** What may be shown: also of what is no address at all. */
export function withoutPassword(address: string): string {
  const trimmed = address.trim();
  if (!isPostgres(trimmed) || !URL.canParse(trimmed)) return address;
  const url = new URL(trimmed);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

export function passwordOf(address: string): string {
  if (!URL.canParse(address)) return "";
  const url = new URL(address);
  return decodeURIComponent(url.password) || (url.searchParams.get("password") ?? "");
}
