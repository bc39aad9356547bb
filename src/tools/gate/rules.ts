/**
 * Rules over tool calls: `shell`, `shell(git *)`, `path(secrets/**)`, `host(*.example.com)`,
 * `command(rm *)`. Deny beats ask beats allow, in whatever order and file they stand.
 *
 * A rule that refuses or asks fits when anything the call touches fits; one that allows only when
 * everything does. A command that cannot be read beforehand is taken for the worst: it fits every rule
 * that refuses or asks about commands or paths, and none that allows.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";

export const RULE_VERDICTS = ["deny", "ask", "allow"] as const;
export type RuleVerdict = (typeof RULE_VERDICTS)[number];

export interface Rule {
  readonly verdict: RuleVerdict;
  /** As the user wrote it. */
  readonly text: string;
  /** Where it stands: a file, a flag. */
  readonly source: string;
  /** The glob of a tool's name, or `*` for a rule about what calls touch. */
  readonly tool: string;
  readonly about: About;
  readonly pattern: string;
}

/** What the pattern is compared with; `all` fits by the tool's name alone. */
type About = "all" | "anything" | "path" | "host" | "command";

/** What a call touches, resolved. */
export interface Touched {
  readonly tool: string;
  /** Relative to the workspace: as written and where it really leads, where those differ. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  /** The simple commands it would run; undefined for a tool that runs none. */
  readonly commands: readonly (readonly string[])[] | undefined;
  /** Of the commands, those whose program is on no list: any of its words may be a program that it starts. */
  readonly unlisted: readonly (readonly string[])[];
  /** Whether programs that obey a repository's settings reach the workspace's own repository alone. */
  readonly staysInRepository: boolean;
  /** Files that the shell would write for them: what is allowed is the commands, not that. */
  readonly redirects: readonly string[];
  /** Whether those are all there are. */
  readonly isReadable: boolean;
  /** Whether `paths` are all that a command would touch as far as its words say. */
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

/** What stands for a tool's name in rules about what calls touch, whichever tool makes them. */
export const RULE_KINDS = ["path", "host", "command"] as const;
const KINDS: ReadonlySet<string> = new Set(RULE_KINDS);

export function parseRule(verdict: RuleVerdict, text: string, source: string): Rule {
  const [, name = "", inside] = /^\s*([^\s()]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  const isKind = KINDS.has(name);
  if (name === "" || inside?.trim() === "" || (isKind && inside === undefined)) {
    const forms = "`shell`, `shell(git *)`, `path(*.env)`, `host(*.example.com)`, `command(rm *)`";
    throw new Failure("invalid_request", `${source}: \`${text}\` is no rule. Rules are ${forms}.`);
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
  // That a path may be touched is no leave to run a program over it.
  if (touched.commands && things.commands === undefined) return false;
  if (touched.redirects.length > 0 || !touched.staysInRepository) return false;
  return !isBlindTo(rule, touched) && matches.length > 0 && !matches.includes(false);
}

/** Whether a rule that refuses or asks fits for this alone: nobody can tell in advance what the call touches. */
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

/** For each thing that the rule is about, whether it names it. */
function matchesOf(rule: Rule, { paths, hosts, commands = [] }: Things): boolean[] {
  return [
    ...paths.map((path) => matchesPath(path, rule.pattern)),
    ...hosts.map((host) => matchesHost(host, rule.pattern)),
    ...commands.map((words) => matchesCommand(words, rule)),
  ];
}

type Things = Pick<Touched, "paths" | "hosts" | "commands">;

/**
 * What of a call a rule is about. `shell(git *)` is about the command: that the words of one look like
 * paths makes them no targets that such a rule would have to allow.
 */
function thingsOf({ about }: Rule, { paths, hosts, commands }: Touched): Things {
  const none = { paths: [], hosts: [], commands: undefined };
  if (about === "path") return { ...none, paths };
  if (about === "host") return { ...none, hosts };
  if (about === "command" || commands) return { ...none, commands };
  return { ...none, paths, hosts };
}

/** As `.gitignore` reads it: without a slash a name at any depth, and a folder means all that is in it. */
export function matchesPath(path: string, pattern: string): boolean {
  const whole = pattern.replace(/\/$/, "");
  const glob = whole.replace(/^\.?\//, "").replace(/\/\*\*$/, "");
  const place = whole.includes("/") ? glob : `**/${glob}`;
  return matchesGlob(path, place) || matchesGlob(path, `${place}/**`);
}

/** `*.example.com` is every host below it, at any depth; names have no case. */
function matchesHost(host: string, pattern: string): boolean {
  return matchesGlob(host.toLowerCase(), pattern.toLowerCase());
}

/**
 * `*` stands for any words, also none: `git *` is `git` too. A program that is refused goes by its bare
 * name as well; one that is allowed does not, because `./git` may be anything.
 */
function matchesCommand(words: readonly string[], { pattern, verdict }: Rule): boolean {
  const [program = "", ...rest] = words;
  // A name with a blank in it would read as a program and its argument.
  if (verdict === "allow") return !/\s/.test(program) && matchesWords(words.join(" "), pattern);
  return [program, bareOf(program)].some((name) =>
    matchesWords([name, ...rest].join(" "), pattern),
  );
}

/** More words than a person gives a program: past it, any of them may be the one. */
const MAX_STARTS = 100;

/**
 * Whether an unknown program may start what the rule names: `chronic rm x`, `run-it --do='rm x'`. Every
 * later word counts, and every word in it.
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

/** Part by part, from the front: a pattern of many stars takes no longer than one of few. */
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
