/**
 * Programs that run other programs: `env`, `timeout`, `find -exec`, `sh -c`. The commands that they would
 * run are read from their words.
 */

import { isInput } from "./interpreters.ts";
import { type OptionTable, skipOptions } from "./options.ts";
import { isAssignment, isHarmlessAssignment } from "./shell-tokens.ts";

export interface InnerCommands {
  /** Commands, each as its words. */
  readonly commands: readonly (readonly string[])[];
  /** Texts for a shell. */
  readonly scripts: readonly string[];
  readonly isReadable: boolean;
}

interface Prefix extends OptionTable {
  /** How many words come before the command. */
  readonly words?: number;
  /** True if variables may be set before the command. */
  readonly assigns?: true;
  /** True if the words are joined and given to a shell. */
  readonly joins?: true;
  /** True if it adds words that are known only when it runs. */
  readonly adds?: true;
  /** True if it starts nothing without a command; others start a shell, which reads its input. */
  readonly rests?: true;
}

const PREFIXES: Readonly<Record<string, Prefix>> = {
  env: {
    flags: "i0v",
    values: "uC",
    long: "ignore-environment null debug unset= chdir=",
    assigns: true,
    rests: true,
  },
  sudo: {
    flags: "AbEHnPSk",
    values: "ugpCrtTUDRh",
    long: "askpass background preserve-env set-home non-interactive preserve-groups stdin reset-timestamp user= group= prompt= close-from= role= type= command-timeout= other-user= chdir= chroot= host=",
    assigns: true,
  },
  doas: { flags: "n", values: "uC" },
  nice: { flags: "0123456789", values: "n", long: "adjustment=", rests: true },
  ionice: { flags: "t", values: "cn", long: "class= classdata= ignore", rests: true },
  nohup: {},
  setsid: { flags: "cfw", long: "ctty fork wait" },
  timeout: {
    flags: "fpv",
    values: "ks",
    long: "kill-after= signal= foreground preserve-status verbose",
    words: 1,
  },
  time: {
    flags: "pvaql",
    values: "fo",
    long: "format= output= append portability verbose quiet",
  },
  stdbuf: { values: "ioe", long: "input= output= error=" },
  xargs: {
    flags: "0rtpox",
    values: "IadEnLPs",
    long: "null no-run-if-empty verbose interactive open-tty exit arg-file= delimiter= max-args= max-lines= max-procs= max-chars= replace=",
    adds: true,
  },
  watch: {
    flags: "bcdegptwx",
    values: "nq",
    long: "beep color differences errexit chgexit no-title precise exec interval=",
    joins: true,
  },
  chroot: { long: "userspec= groups= skip-chdir", words: 1 },
  caffeinate: { flags: "disum", values: "tw" },
  command: { flags: "p", rests: true },
  noglob: {},
  nocorrect: {},
  builtin: {},
  exec: { flags: "cl", values: "a", rests: true },
  busybox: { rests: true },
  toybox: {},
  catchsegv: {},
  npx: { flags: "y", values: "p", long: "yes no no-install package=" },
  bunx: {},
  uvx: { values: "p", long: "from= with= python=" },
  "bundle exec": {},
  "uv run": { values: "p", long: "with= python=" },
  "poetry run": {},
  "pipenv run": {},
  "pdm run": {},
  "pnpm exec": {},
  "pnpm dlx": {},
  "yarn exec": {},
  "yarn dlx": {},
  pnpx: {},
  "bun run": {},
  "bun x": {},
  "npm x": { flags: "y", values: "p", long: "yes package=" },
  "npm exec": { flags: "y", values: "p", long: "yes package=" },
  ssh: {
    flags: "1246AaCfGgKkMNnqsTtVvXxYy",
    values: "BbcDEeIiJLlmOpQRWw",
    words: 1,
    joins: true,
  },
};

/** Shells whose language `shell-text.ts` reads, and others; also `bash-5.2`. */
const SHELL = /^(?:sh|r?bash|dash|ash|hush|[lmor]?ksh|pdksh|yash|posh|osh)(?:[\d.-]*|-static)$/;
const OTHER_SHELL =
  /^(?:r?zsh|fish|t?csh|nu|pwsh|powershell|elvish|xonsh|ysh|rc|es|ion|cmd)(?:[\d.-]*|-static|\.exe)$/;

const NOTHING: InnerCommands = { commands: [], scripts: [], isReadable: true };
const UNKNOWN: InnerCommands = { ...NOTHING, isReadable: false };

/** True if this file knows the program with this bare name as one that starts others. */
export function isWrapper(name: string): boolean {
  return (
    /^g?find$/.test(name) || WRAPPER_NAMES.has(name) || SHELL.test(name) || OTHER_SHELL.test(name)
  );
}

const WRAPPER_NAMES: ReadonlySet<string> = new Set(
  Object.keys(PREFIXES).map((name) => name.split(" ")[0] ?? ""),
);

/** The commands that the command with this bare name would run besides itself. */
export function unwrap(name: string, words: readonly string[]): InnerCommands {
  const [, second = ""] = words;
  if (name === "command" && /^-[pvV]*[vV]/.test(second)) return NOTHING;
  if (name === "find" || name === "gfind") return unwrapFind(words);
  if (SHELL.test(name)) return unwrapShell(words);
  if (OTHER_SHELL.test(name)) return { ...unwrapShell(words), isReadable: false };
  // The loader starts any program: `/lib64/ld-linux-x86-64.so.2 /bin/rm`.
  if (/^ld(?:-linux|-musl|\.so|64\.so)/.test(name)) return unwrapPrefix({}, words);
  const long = `${name} ${second}`;
  if (Object.hasOwn(PREFIXES, long)) return unwrapPrefix(PREFIXES[long] ?? {}, words.slice(1));
  return Object.hasOwn(PREFIXES, name) ? unwrapPrefix(PREFIXES[name] ?? {}, words) : NOTHING;
}

function unwrapPrefix(prefix: Prefix, words: readonly string[]): InnerCommands {
  const { end, isKnown } = skipOptions(prefix, words);
  const rest = words.slice(end + (prefix.words ?? 0));
  const start = prefix.assigns ? rest.findIndex((word) => !isAssignment(word)) : 0;
  const assigned = start < 0 ? rest : rest.slice(0, start);
  const inner = start < 0 ? [] : rest.slice(start);
  const isReadable = isKnown && !prefix.adds && assigned.every(isHarmlessAssignment);
  if (inner.length === 0) return { ...NOTHING, isReadable: isReadable && prefix.rests === true };
  if (prefix.joins) return { commands: [inner], scripts: [inner.join(" ")], isReadable };
  return { commands: [inner], scripts: [], isReadable };
}

/** A shell without a script reads its commands from its input. */
function unwrapShell(words: readonly string[]): InnerCommands {
  let takesScript = false;
  for (const word of words.slice(1)) {
    const role = roleInShell(word);
    if (role === "ends") return NOTHING;
    if (role === "unknown") return UNKNOWN;
    if (role === "script" && takesScript) return { ...NOTHING, scripts: [word] };
    if (role === "script") return isInput(word) ? UNKNOWN : NOTHING;
    takesScript ||= role === "takes";
  }
  return UNKNOWN;
}

type ShellRole = "ends" | "unknown" | "script" | "takes" | "skipped";

function roleInShell(word: string): ShellRole {
  if (/^--(?:help|version)$/.test(word)) return "ends";
  if (/^--(?:login|norc|noprofile|posix)?$/.test(word)) return "skipped";
  // `-i` and `-s` read from the input, `-o` and `-O` take a value.
  if (/^-[abdefhlmnptuvxBCEHPT]*c[abdefhlmnptuvxBCEHPT]*$/.test(word)) return "takes";
  if (/^-[abdefhlmnptuvxBCEHPT]+$/.test(word)) return "skipped";
  return /^[-+]/.test(word) ? "unknown" : "script";
}

const FIND_RUNS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

function unwrapFind(words: readonly string[]): InnerCommands {
  const commands: (readonly string[])[] = [];
  let isReadable = true;
  for (let at = 0; at < words.length; at++) {
    if (!FIND_RUNS.has(words[at] ?? "")) continue;
    const end = findEnd(words, at + 1);
    const command = words.slice(at + 1, end);
    if (command.length > 0) commands.push(command);
    // Not every `find` accepts a plus as the end only after `{}`.
    isReadable &&= end < words.length && !command.includes("+") && !command.some(isOddPlace);
    at = end;
  }
  return { commands, scripts: [], isReadable };
}

function findEnd(words: readonly string[], from: number): number {
  let at = from;
  while (at < words.length && words[at] !== ";") {
    if (words[at] === "+" && words[at - 1] === "{}") break;
    at++;
  }
  return at;
}

/** True if a found name becomes part of a text that a shell reads: `sh -c 'wc {}'`. */
function isOddPlace(word: string): boolean {
  return word.includes("{}") && !/^[\w./{}-]+$/.test(word);
}
