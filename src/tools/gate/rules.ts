/**
 * Rules for tool calls: `shell`, `shell(git *)`, `path(secrets/**)`, `host(*.example.com)`, `command(rm
 * *)`. Deny beats ask beats allow, in any order and any file.
 *
 * A rule that denies or asks matches if it matches anything that the call touches; a rule that allows must
 * match all of it. For a command that cannot be read beforehand the worst is assumed: every rule that
 * denies or asks about commands or paths matches, and no rule that allows does.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";

export interface ToolCall {
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export const RULE_VERDICTS = ["deny", "ask", "allow"] as const;
export type RuleVerdict = (typeof RULE_VERDICTS)[number];

export interface Rule {
  readonly verdict: RuleVerdict;
  /** The rule's text as the user wrote it. */
  readonly text: string;
  /** The rule's source: a file, a flag. */
  readonly source: string;
  /** The glob of a tool's name, or `*` for a rule about what calls touch. */
  readonly tool: string;
  readonly about: About;
  readonly pattern: string;
}

/** The part of a call that the pattern is compared with. With `all` the tool's name decides. */
type About = "all" | "anything" | "path" | "host" | "command";

/** The resolved targets of a call. */
export interface Touched {
  readonly tool: string;
  /** Relative to the workspace: as written, and where they really lead if that differs. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  /** The simple commands that it would run; undefined for a tool that runs none. */
  readonly commands: readonly (readonly string[])[] | undefined;
  /** The commands whose program is in no list: each of their words may be a program that is started. */
  readonly unlisted: readonly (readonly string[])[];
  /** True if programs that obey a repository's settings reach only the workspace's own repository. */
  readonly staysInRepository: boolean;
  /** Files that the shell would write for them. A rule that allows the commands does not allow these. */
  readonly redirects: readonly string[];
  /** True if the list of commands is complete. */
  readonly isReadable: boolean;
  /** True if `paths` has all paths that the words of a command name. */
  readonly arePathsReadable: boolean;
}

export const NOTHING_TOUCHED: Omit<Touched, "tool"> = {
  paths: [],
  hosts: [],
  commands: undefined,
  unlisted: [],
  staysInRepository: true,
  redirects: [],
  isReadable: true,
  arePathsReadable: true,
};

/** Words that replace a tool's name in rules about what calls of any tool touch. */
export const RULE_KINDS = ["path", "host", "command"] as const;
const KINDS: ReadonlySet<string> = new Set(RULE_KINDS);

export function parseRule(verdict: RuleVerdict, text: string, source: string): Rule {
  const [, name = "", inside] = /^\s*([^\s()]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  const isKind = KINDS.has(name);
  if (name === "" || inside?.trim() === "" || (isKind && inside === undefined)) {
    const forms = "`shell`, `shell(git *)`, `path(*.env)`, `host(*.example.com)`, `command(rm *)`";
    throw new Failure(
      "invalid_request",
      `${source}: \`${text}\` is not a valid rule. Rules are ${forms}.`,
    );
  }
  const tool = isKind ? "*" : name;
  const pattern = inside?.trim() ?? "";
  const about = inside === undefined ? "all" : isKind ? (name as About) : "anything";
  return { verdict, text, source, tool, about, pattern };
}

export function fits(rule: Rule, touched: Touched): boolean {
  if (!matchesGlob(touched.tool, rule.tool)) return false;
  if (rule.about === "all") return true;
  if (rule.verdict !== "allow") return isBlindTo(rule, touched) || isNamed(rule, touched);
  const things = thingsOf(rule, touched);
  const matches = matchesOf(rule, things);
  // Permission to touch a path does not include permission to run a program on it.
  if (touched.commands && things.commands === undefined) return false;
  if (touched.redirects.length > 0 || !touched.staysInRepository) return false;
  return !isBlindTo(rule, touched) && matches.length > 0 && !matches.includes(false);
}

/** True if a rule that denies or asks matches only because it is not known in advance what the call touches. */
export function fitsUnread(rule: Rule, touched: Touched): boolean {
  if (rule.about === "all" || rule.verdict === "allow") return false;
  return isBlindTo(rule, touched) && !isNamed(rule, touched);
}

function isBlindTo(rule: Rule, touched: Touched): boolean {
  const { commands } = thingsOf(rule, touched);
  return (
    (!touched.isReadable && commands !== undefined) ||
    (!touched.arePathsReadable && rule.about === "path")
  );
}

function isNamed(rule: Rule, touched: Touched): boolean {
  const things = thingsOf(rule, touched);
  const mayStart = things.commands !== undefined && touched.unlisted.some(startsNamed(rule));
  return mayStart || matchesOf(rule, things).includes(true);
}

/** For each target that the rule is about: true if the rule matches. */
function matchesOf(rule: Rule, { paths, hosts, commands = [] }: Things): boolean[] {
  return [
    ...paths.map((path) => matchesPath(path, rule.pattern)),
    ...hosts.map((host) => matchesHost(host, rule.pattern)),
    ...commands.map((words) => matchesCommand(words, rule)),
  ];
}

type Things = Pick<Touched, "paths" | "hosts" | "commands">;

/**
 * The parts of a call that a rule is about. `shell(git *)` is about the command: words that look like paths
 * are not targets that such a rule would have to allow.
 */
function thingsOf({ about }: Rule, { paths, hosts, commands }: Touched): Things {
  const none = { paths: [], hosts: [], commands: undefined };
  if (about === "path") return { ...none, paths };
  if (about === "host") return { ...none, hosts };
  if (about === "command" || commands) return { ...none, commands };
  return { ...none, paths, hosts };
}

/** Matches like `.gitignore`: without a slash a name at any depth, and a folder includes everything in it. */
export function matchesPath(path: string, pattern: string): boolean {
  const whole = pattern.replace(/\/$/, "");
  const glob = whole.replace(/^\.?\//, "").replace(/\/\*\*$/, "");
  const place = whole.includes("/") ? glob : `**/${glob}`;
  return matchesGlob(path, place) || matchesGlob(path, `${place}/**`);
}

/** `*.example.com` matches every host below it, at any depth; case does not matter. */
function matchesHost(host: string, pattern: string): boolean {
  return matchesGlob(host.toLowerCase(), pattern.toLowerCase());
}

/**
 * `*` matches any words, or none: `git *` matches `git` too. A rule that denies also matches a program's
 * bare name; one that allows does not, because `./git` may be anything.
 */
function matchesCommand(words: readonly string[], { pattern, verdict }: Rule): boolean {
  const [program = "", ...rest] = words;
  // A name with a space in it would read as a program and its argument.
  if (verdict === "allow") return !/\s/.test(program) && matchesWords(words.join(" "), pattern);
  return [program, bareOf(program)].some((name) =>
    matchesWords([name, ...rest].join(" "), pattern),
  );
}

/** More words than a person gives to a program. Beyond that, any word may be the program. */
const MAX_STARTS = 100;

/**
 * True if an unknown program may start what the rule names: `chronic rm x`, `run-it --do='rm x'`. Every
 * later word counts, and every word inside it.
 */
function startsNamed(rule: Rule): (words: readonly string[]) => boolean {
  const [program = ""] = rule.pattern.split(/\s/, 1);
  return ([, ...given]) => {
    const words = given.flatMap((word) => word.replace(/^--?[\w-]+=/, "").split(/\s+/));
    const starts = words.flatMap((word, at) => (matchesWords(bareOf(word), program) ? [at] : []));
    if (starts.length > MAX_STARTS) return true;
    return starts.some((at) => matchesCommand(words.slice(at), rule));
  };
}

function bareOf(program: string): string {
  return program.slice(Math.max(program.lastIndexOf("/"), program.lastIndexOf("\\")) + 1);
}

/** Matches part by part from the beginning, so that a pattern with many stars is as fast as one with few. */
function matchesWords(text: string, pattern: string): boolean {
  const bare = pattern.replace(/\s+\*$/, "");
  if (bare !== pattern && text === bare) return true;
  const [first = "", ...parts] = pattern.split("*");
  if (parts.length === 0) return text === pattern;
  const last = parts.pop() ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
