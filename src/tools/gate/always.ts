/**
 * What `always` stands for as an answer. A tool that runs commands is not let through whole: what the
 * person saw is one command, so commands with the same beginning are meant.
 */

import type { ToolCall } from "./call.ts";
import { fits, parseRule, type Rule, type Touched } from "./rules.ts";

/** What a person always lets through, in one run or in a tree of them. */
export interface Always {
  /** Whether it covers the call. Returns the rules that do, as they are shown. */
  find(call: ToolCall, touched: Touched): string | undefined;
  add(call: ToolCall, touched: Touched): void;
  /** Called whenever something was added, until the returned function is called. */
  onAdd(listener: () => void): () => void;
}

export function createAlways(): Always {
  const rules: Rule[] = [];
  const calls = new Set<string>();
  const listeners = new Set<() => void>();
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
    add(call, touched) {
      const texts = toAlwaysRules(touched);
      if (texts.length === 0) calls.add(keyOf(call));
      for (const text of texts) rules.push(parseRule("allow", text, "the answer `always`"));
      for (const listener of [...listeners]) listener();
    },
    onAdd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
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

function keyOf({ name, arguments: text }: ToolCall): string {
  return JSON.stringify([name, text]);
}
