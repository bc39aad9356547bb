/**
 * What `always` stands for as an answer. A tool that runs commands is not let through whole: what the
 * person saw is one command, so commands with the same beginning are meant.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { Question } from "./ask.ts";
import type { ToolCall } from "./call.ts";
import { fits, parseRule, type Rule, type Touched } from "./rules.ts";

/** What one answer lets through from then on. */
export interface Allowance {
  /** As they are shown: `shell(git log *)`. */
  readonly rules: readonly string[];
  /** The very same call, where no rule stands for it; else null. */
  readonly call: ToolCall | null;
}

/** What a person always lets through, in one run or in a tree of them. */
export interface Always {
  /** Whether it covers the call. Returns the rules that do, as they are shown. */
  find(call: ToolCall, touched: Touched): string | undefined;
  add(call: ToolCall, touched: Touched): void;
  /** Adds what was said in another place. Saying it twice is saying it once. */
  allow(allowance: Allowance): void;
  /** Whether this was said before, word for word. */
  has(allowance: Allowance): boolean;
  /** All that was said, in order. */
  readonly all: readonly Allowance[];
  /** Called whenever something was added, until the returned function is called. */
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

/** What `always` would mean as the answer to a question. */
export function allowanceOf({ always, tool, arguments: text }: AskedCall): Allowance {
  return toAllowance(always, { name: tool, arguments: text });
}

type AskedCall = Pick<Question, "always" | "tool" | "arguments">;

function toAllowance(rules: readonly string[], call: ToolCall): Allowance {
  return { rules, call: rules.length === 0 ? call : null };
}

/** Undefined for what is none, as another process wrote it. */
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

/** The rules that `always` adds; none where it stands for the very same call alone. */
export function toAlwaysRules(touched: Touched): readonly string[] {
  const { tool, commands, isReadable, redirects, staysInRepository } = touched;
  if (commands === undefined) return [tool];
  if (!isReadable || redirects.length > 0 || !staysInRepository) return [];
  const prefixes = commands.map(toPrefix);
  if (prefixes.length === 0 || prefixes.some((prefix) => !isPlain(prefix))) return [];
  return [...new Set(prefixes.map((words) => `${tool}(${words.join(" ")} *)`))];
}

/** Programs whose first word says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  [
    "git gh glab npm pnpm yarn bun deno npx uv uvx pip pip3 poetry pipenv pdm bundle cargo go rustup dotnet",
    "make just task mvn gradle rails rake docker podman kubectl helm terraform systemctl apt apt-get brew",
    "python python3 node ruby perl php sh bash env sudo timeout xargs nice nohup time",
  ]
    .join(" ")
    .split(" "),
);

/** The program, and with it what it is told to do; the whole command where an option stands first. */
function toPrefix(words: readonly string[]): readonly string[] {
  const [program = "", first = ""] = words;
  if (!WITH_SUBCOMMANDS.has(program.split("/").at(-1) ?? "") || first === "") return [program];
  return /^[\w./:@][\w./:@-]*$/.test(first) ? [program, first] : words;
}

/** Whether the words mean the same in a rule. */
function isPlain(words: readonly string[]): boolean {
  return words.every((word) => /^[^\s*()]+$/.test(word));
}

function nameOf({ rules, call }: Allowance): string {
  return JSON.stringify([[...rules].sort(), call && keyOf(call)]);
}

function keyOf({ name, arguments: text }: ToolCall): string {
  return JSON.stringify([name, text]);
}
