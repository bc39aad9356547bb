/**
 * The meaning of `always` as an answer. It does not allow every call of a tool that runs commands: the user
 * saw one command, so it allows commands with the same beginning.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { Question } from "./ask.ts";
import { fits, parseRule, type Rule, type ToolCall, type Touched } from "./rules.ts";

/** The calls that one answer allows from then on. */
export interface Allowance {
  /** In the form in which they are shown: `shell(git log *)`. */
  readonly rules: readonly string[];
  /** The call itself if no rule covers it, so that only an identical call is allowed; otherwise null. */
  readonly call: ToolCall | null;
}

/** The calls that the user always allows, in one run or in a tree of runs. */
export interface Always {
  /** Returns the rules that cover the call, in the form in which they are shown; undefined if none does. */
  find(call: ToolCall, touched: Touched): string | undefined;
  add(call: ToolCall, touched: Touched): void;
  /** Adds an answer that was given elsewhere. Adding it twice has no further effect. */
  allow(allowance: Allowance): void;
  /** True if exactly this was added before. */
  has(allowance: Allowance): boolean;
  /** All of them, in order. */
  readonly all: readonly Allowance[];
  /** Calls the listener for each addition, until the returned function is called. */
  onAdd(listener: (added: Allowance) => void): () => void;
}

export function createAlways(): Always {
  const rules: Rule[] = [];
  const calls = new Set<string>();
  const said = new Map<string, Allowance>();
  const listeners = new Set<(added: Allowance) => void>();
  function allow(allowance: Allowance): void {
    const { rules: texts, call } = allowance;
    if (said.has(nameOf(allowance))) return;
    said.set(nameOf(allowance), allowance);
    if (call) calls.add(keyOf(call));
    for (const text of texts) rules.push(parseRule("allow", text, "the answer `always`"));
    for (const listener of [...listeners]) listener(allowance);
  }
  return {
    find(call, touched) {
      if (calls.has(keyOf(call))) return "this very call";
      const { commands } = touched;
      const parts = commands
        ? commands.map((words) => ({ ...touched, commands: [words] }))
        : [touched];
      const found = parts.map((part) => rules.find((rule) => fits(rule, part)));
      if (found.length === 0 || found.includes(undefined)) return undefined;
      return [...new Set(found.map((rule) => rule?.text))].join(", ");
    },
    add: (call, touched) => allow(toAllowance(toAlwaysRules(touched), call)),
    allow,
    has: (allowance) => said.has(nameOf(allowance)),
    get all() {
      return [...said.values()];
    },
    onAdd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The allowance that `always` would give as the answer to a question. */
export function allowanceOf({ always, tool, arguments: text }: AskedCall): Allowance {
  return toAllowance(always, { name: tool, arguments: text });
}

type AskedCall = Pick<Question, "always" | "tool" | "arguments">;

function toAllowance(rules: readonly string[], call: ToolCall): Allowance {
  return { rules, call: rules.length === 0 ? call : null };
}

/** Reads what another process wrote; undefined if it is not an allowance. */
export function readAllowance(given: Json | undefined): Allowance | undefined {
  if (!isJsonObject(given)) return undefined;
  const { rules, call } = given;
  if (!Array.isArray(rules) || !rules.every(isRule)) return undefined;
  if (call === null) return rules.length > 0 ? { rules, call } : undefined;
  if (!isJsonObject(call)) return undefined;
  const { name, arguments: text } = call;
  if (typeof name !== "string" || typeof text !== "string") return undefined;
  return { rules, call: { name, arguments: text } };
}

function isRule(text: Json): text is string {
  try {
    return typeof text === "string" && parseRule("allow", text, "an answer").text !== "";
  } catch {
    return false;
  }
}

/** The rules that `always` adds; empty if it covers only an identical call. */
export function toAlwaysRules(touched: Touched): readonly string[] {
  const { tool, commands, isReadable, redirects, staysInRepository } = touched;
  if (commands === undefined) return [tool];
  if (!isReadable || redirects.length > 0 || !staysInRepository) return [];
  const prefixes = commands.map(toPrefix);
  if (prefixes.length === 0 || prefixes.some((prefix) => !isPlain(prefix))) return [];
  return [...new Set(prefixes.map((words) => `${tool}(${words.join(" ")} *)`))];
}

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  [
    "git gh glab npm pnpm yarn bun deno npx uv uvx pip pip3 poetry pipenv pdm bundle cargo go rustup dotnet",
    "make just task mvn gradle rails rake docker podman kubectl helm terraform systemctl apt apt-get brew",
    "python python3 node ruby perl php sh bash env sudo timeout xargs nice nohup time",
  ]
    .join(" ")
    .split(" "),
);

/** The program and its subcommand; the whole command if an option comes first. */
function toPrefix(words: readonly string[]): readonly string[] {
  const [program = "", first = ""] = words;
  if (!WITH_SUBCOMMANDS.has(program.split("/").at(-1) ?? "") || first === "") return [program];
  return /^[\w./:@][\w./:@-]*$/.test(first) ? [program, first] : words;
}

/** True if the words mean the same in a rule. */
function isPlain(words: readonly string[]): boolean {
  return words.every((word) => /^[^\s*()]+$/.test(word));
}

function nameOf({ rules, call }: Allowance): string {
  return JSON.stringify([[...rules].sort(), call && keyOf(call)]);
}

function keyOf({ name, arguments: text }: ToolCall): string {
  return JSON.stringify([name, text]);
}
