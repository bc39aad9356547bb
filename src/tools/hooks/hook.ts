/**
 * The setting `hooks`: the user's programs that run before and after tool calls and runs, by name. A hook
 * can deny and never grant. Checked when the configuration is read, so that a mistake is reported before
 * anything is sent.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { parseRule, type Rule } from "../gate/rules.ts";

/** The events that run hooks, one line each. */
export const HOOK_EVENTS = {
  before_tool: "Before a tool call, after the rules and before the user is asked. Can deny it",
  after_tool: "After a tool call. The model gets a denial after the result",
  before_run: "Before the first model call of a run or a subagent. Can deny it: the run fails",
  after_run: "After the end of a run. Changes nothing",
} as const;
export type HookEvent = keyof typeof HOOK_EVENTS;

export interface Hook {
  readonly name: string;
  readonly on: HookEvent;
  /** The calls that it is for; undefined for all. */
  readonly match: Rule | undefined;
  readonly argv: readonly [string, ...string[]];
  readonly timeoutMs: number;
  /** The decision if the hook crashes, hangs or cannot be started. */
  readonly onError: "deny" | "go_on";
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_TIMEOUT_SECONDS = 600;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The check of each field, and its rule in words that follow "must be". */
const FIELDS: Readonly<Record<string, { is(value: Json): boolean; readonly what: string }>> = {
  on: {
    is: (value) => typeof value === "string" && Object.hasOwn(HOOK_EVENTS, value),
    what: `one of ${Object.keys(HOOK_EVENTS).join(", ")}`,
  },
  match: { is: isRule, what: "a rule, as `shell` or `write(src/**)`" },
  command: {
    is: isCommand,
    what: "a line for sh, or a list of words whose program is a bare name or an absolute path",
  },
  timeout: {
    is: (value) => typeof value === "number" && value > 0 && value <= MAX_TIMEOUT_SECONDS,
    what: `a number of seconds up to ${MAX_TIMEOUT_SECONDS}`,
  },
  on_error: { is: (value) => value === "deny" || value === "go_on", what: "`deny` or `go_on`" },
};

/** Returns the map if every row of it is valid. */
export function checkHooks(map: JsonObject, where: string): JsonObject {
  for (const [name, row] of Object.entries(map)) {
    checkRow(`${where}: \`${clip(name, 70)}\``, name, row);
  }
  return map;
}

/** The hooks of a map that `checkHooks` has accepted, in order. */
export function toHooks(map: JsonObject): Hook[] {
  return Object.entries(map).map(([name, row]) => {
    const { on, match, command, timeout, on_error } = row as JsonObject;
    const seconds = typeof timeout === "number" ? timeout : DEFAULT_TIMEOUT_SECONDS;
    const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
    return {
      name,
      on: on as HookEvent,
      match: typeof match === "string" ? parseRule("deny", match, `hook ${name}`) : undefined,
      argv: argv as unknown as Hook["argv"],
      timeoutMs: seconds * 1000,
      onError: on_error === "go_on" ? "go_on" : "deny",
    };
  });
}

function checkRow(where: string, name: string, row: Json | undefined): void {
  if (!NAME.test(name)) throw invalid(`${where} is not a name: letters, digits, \`_\` and \`-\`.`);
  if (!isJsonObject(row)) throw invalid(`${where} must be a map with \`on\` and \`command\`.`);
  for (const [field, value] of Object.entries(row)) checkField(where, field, value);
  for (const needed of ["on", "command"]) {
    if (row[needed] === undefined) throw invalid(`${where} needs \`${needed}\`.`);
  }
  if (row["match"] !== undefined && String(row["on"]).endsWith("_run")) {
    throw invalid(`${where}: \`match\` is for tool calls; a hook of runs has none.`);
  }
}

function checkField(where: string, field: string, value: Json | undefined): void {
  const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (!known) {
    const near = nearest(field, Object.keys(FIELDS));
    const hint = near ? ` Did you mean \`${near}\`?` : "";
    throw invalid(`${where} has no field \`${clip(field, 40)}\`.${hint}`);
  }
  if (value === undefined || !known.is(value)) {
    throw invalid(`${where}: \`${field}\` must be ${known.what}.`);
  }
}

function isRule(value: Json): boolean {
  try {
    return typeof value === "string" && parseRule("deny", value, "hook") !== undefined;
  } catch {
    return false;
  }
}

/** A relative path would run a file of whichever project is the current folder. */
function isCommand(value: Json): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return false;
  const program = String(value[0] ?? "");
  return program !== "" && (program.startsWith("/") || !program.includes("/"));
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "hooks" });
}
