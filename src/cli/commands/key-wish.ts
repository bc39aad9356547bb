/** Reads the flags of `offshoot keys create`, `update` and `rotate`. */

import type { Limits } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import { clip, nearest } from "../../base/text.ts";
import { findOptionsProblem } from "../../protocol/own-options.ts";
import { ALL_SCOPES, KEY_LIMITS, type KeyLimit } from "../../server/guard/key.ts";
import type { KeyChange, KeyWish } from "../../server/guard/keys.ts";
import type { Scope } from "../../server/route.ts";
import { namesTool } from "../../tools/gate/rule-names.ts";
import type { Options } from "../command.ts";

interface KeySurroundings {
  readonly nowMs: number;
  /** Names of tools, except those of MCP servers, which are not known here. */
  readonly knownTools: readonly string[];
}

/** Rejects with `invalid_request` an invalid number, scope, tool or time. */
export function parseKeyWish(
  name: string,
  options: Options,
  around: KeySurroundings,
): KeyWish & Pick<KeyChange, "responseLimits"> {
  const { tenant } = options;
  const change = parseKeyChange(options, around);
  const { models, catalogue, options: fields, limits = {}, expiresAtMs, ...rest } = change;
  const given = Object.entries(limits).filter(([, limit]) => limit !== null);
  return {
    name,
    tenant: typeof tenant === "string" ? tenant : undefined,
    models: models ?? undefined,
    catalogue: catalogue ?? undefined,
    options: fields ?? undefined,
    limits: Object.fromEntries(given) as KeyWish["limits"],
    expiresAtMs: expiresAtMs ?? undefined,
    ...rest,
  };
}

/** Changes only what the flags name: `none` removes a limit, `all` a restriction. */
export function parseKeyChange(
  options: Options,
  { nowMs, knownTools }: KeySurroundings,
): KeyChange {
  const tools = readGlobs(options, "tools");
  for (const tool of tools ?? []) checkTool(tool, knownTools);
  return {
    scopes: readList(options, "scopes")?.map(parseScope),
    models: readGlobs(options, "models"),
    catalogue: tools?.filter((tool) => tool !== "none") ?? tools,
    options: readFields(options),
    limits: readLimits(options),
    responseLimits: readResponseLimits(options),
    expiresAtMs: readExpiry(options["expires"], nowMs),
  };
}

/** `--keep-old 1h` in milliseconds; 0 without the flag. */
export function readKeepOld(value: Options[string]): number {
  if (value === undefined || value === "0") return 0;
  const ms = readSpan(String(value));
  if (ms !== undefined) return ms;
  const message = `--keep-old takes a time like \`30m\`, \`1h\` or \`7d\`, or \`0\`, not \`${clip(String(value), 40)}\`.`;
  throw new Failure("invalid_request", message);
}

/** The flag of a limit: `requests_per_minute` is `--requests-per-minute`. */
export function toFlag(limit: string): string {
  return limit.replaceAll("_", "-");
}

/** Null for all, which is not a restriction. */
function readGlobs(options: Options, flag: string): string[] | null | undefined {
  const words = readList(options, flag);
  return words?.length === 1 && words[0] === "all" ? null : words;
}

/**
 * Null for the fields of sampling, which every key may set. `all` has the same meaning as for models and tools.
 */
function readFields(options: Options): string[] | null | undefined {
  const words = readList(options, "options");
  if (words?.length !== 1) return words?.filter(isOption);
  if (words[0] === "sampling") return null;
  return words[0] === "all" ? ["*"] : words.filter(isOption);
}

/** Texts for the refusal of an empty list: what a key without the flag may use, and how to allow nothing. */
const EMPTY: Readonly<Record<string, readonly [string, string]>> = {
  tools: ["all of them", " `none` makes a key without tools."],
  options: ["those of sampling", " `none` makes a key without options."],
};

/** An empty list would make a key that may do nothing, probably because a variable was not set. */
function readList(options: Options, flag: string): string[] | undefined {
  const value = options[flag];
  if (typeof value !== "string") return undefined;
  const words = value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  if (words.length > 0) return words;
  const [left, none] = EMPTY[flag] ?? ["all of them", ""];
  throw new Failure("invalid_request", `--${flag} is empty. Leave it out for ${left}.${none}`);
}

/** Rejects names of fields that no key may set. */
function isOption(name: string): boolean {
  const problem = findOptionsProblem({ [name]: true });
  if (problem) throw new Failure("invalid_request", `--options ${problem}.`);
  return name !== "none";
}

/** Hosted kinds that are not tools of the gate. */
const KINDS = ["mcp"];

function checkTool(tool: string, knownTools: readonly string[]): void {
  const known = [...knownTools, ...KINDS];
  if (tool === "none" || namesTool(tool, known)) return;
  const guess = nearest(tool, known);
  const hint = guess === undefined ? `Tools: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
  throw new Failure("invalid_request", `No tool fits \`${clip(tool, 40)}\`. ${hint}`);
}

function parseScope(word: string): Scope {
  const scope = ALL_SCOPES.find((known) => known === word);
  if (scope) return scope;
  const guess = nearest(word, ALL_SCOPES);
  const hint = guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
  const known = ALL_SCOPES.join(", ");
  const message = `Unknown scope \`${clip(word, 40)}\`.${hint} Available: ${known}.`;
  throw new Failure("invalid_request", message);
}

function readLimits(options: Options): KeyChange["limits"] {
  const limits: { [Name in KeyLimit]?: number | null } = {};
  for (const name of Object.keys(KEY_LIMITS) as KeyLimit[]) {
    const limit = readNumber(options, toFlag(name));
    if (limit !== undefined) limits[name] = limit;
  }
  return limits;
}

/** The flags of the limits of one response, with the names that `offshoot run` uses. */
export const RESPONSE_FLAGS = {
  "max-cost": "usd",
  "max-total-tokens": "tokens",
  "max-tool-calls": "tool_calls",
  "max-turns": "turns",
} as const satisfies Record<string, keyof Limits>;

function readResponseLimits(options: Options): Partial<Limits> {
  const given = Object.entries(RESPONSE_FLAGS).flatMap(([flag, kind]) => {
    const limit = readNumber(options, flag);
    return limit === undefined ? [] : [[kind, limit]];
  });
  return Object.fromEntries(given) as Partial<Limits>;
}

/** Only dollars may have decimals. Null removes the limit. */
function readNumber(options: Options, flag: string): number | null | undefined {
  const value = options[flag];
  if (value === undefined) return undefined;
  if (value === "none") return null;
  const isMoney = flag.startsWith("usd") || flag === "max-cost";
  const form = isMoney ? /^\d{1,12}(\.\d{1,9})?$/ : /^\d{1,15}$/;
  if (form.test(String(value)) && Number(value) > 0) return Number(value);
  const wanted = isMoney ? "dollars, as `2.50`" : "a whole number above 0";
  throw new Failure(
    "invalid_request",
    `--${flag} takes ${wanted}, or \`none\`, not \`${clip(String(value), 40)}\`.`,
  );
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Undefined if it is not a span of time. */
function readSpan(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const ms = UNITS_MS[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

function readExpiry(value: Options[string], nowMs: number): number | null | undefined {
  if (typeof value !== "string") return undefined;
  if (value === "none" || value === "never") return null;
  const span = readSpan(value);
  const atMs = span === undefined ? readDay(value) : nowMs + span;
  if (atMs > nowMs) return atMs;
  const wanted = "a time to come: `12h`, `30d`, `8w` or a day as `2030-12-31`, or `none`";
  throw new Failure("invalid_request", `--expires takes ${wanted}, not \`${clip(value, 40)}\`.`);
}

/** NaN if it is not a day. */
function readDay(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
}
