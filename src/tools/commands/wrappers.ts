/**
 * Programs that run other programs: `env`, `timeout`, `find -exec`, `sh -c`. What they would run is
 * taken out of their words. An option that is not in the tables may take a value, so what comes behind
 * it is not certain.
 */

import { isAssignment, isHarmlessAssignment } from "./shell-text.ts";

export interface Wrapped {
  /** Commands by their words. */
  readonly commands: readonly (readonly string[])[];
  /** Texts for a shell. */
  readonly scripts: readonly string[];
  readonly isReadable: boolean;
}

interface Prefix {
  /** Letters of options that stand alone. */
  readonly flags?: string;
  /** Letters of options that take a value. */
  readonly values?: string;
  /** Long options; those that take a value end in `=`. */
  readonly long?: string;
  /** How many words come before the command. */
  readonly words?: number;
  /** Whether variables may be set in front of the command. */
  readonly assigns?: true;
  /** Whether the words are joined and given to a shell. */
  readonly joins?: true;
  /** Whether it adds words that only running it tells. */
  readonly adds?: true;
}

const PREFIXES: Readonly<Record<string, Prefix>> = {
  env: {
    flags: "i0v",
    values: "uC",
    long: "ignore-environment null debug unset= chdir=",
    assigns: true,
  },
  sudo: {
    flags: "AbEHnPSk",
    values: "ugpCrtTUDRh",
    long: "askpass background preserve-env set-home non-interactive preserve-groups stdin reset-timestamp user= group= prompt= close-from= role= type= command-timeout= other-user= chdir= chroot= host=",
    assigns: true,
  },
  doas: { flags: "n", values: "uC" },
  nice: { flags: "0123456789", values: "n", long: "adjustment=" },
  ionice: { flags: "t", values: "cn", long: "class= classdata= ignore" },
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
  command: { flags: "p" },
  builtin: {},
  exec: { flags: "cl", values: "a" },
  busybox: {},
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
  "npm exec": { flags: "y", values: "p", long: "yes package=" },
  ssh: {
    flags: "1246AaCfGgKkMNnqsTtVvXxYy",
    values: "BbcDEeIiJLlmOpQRWw",
    words: 1,
    joins: true,
  },
};

/** Shells whose language is read by `shell-text.ts`, and those whose is not. */
const SHELLS: ReadonlySet<string> = new Set("sh bash dash zsh ksh mksh ash rbash".split(" "));
const OTHER_SHELLS: ReadonlySet<string> = new Set(
  "fish csh tcsh nu pwsh powershell elvish xonsh cmd cmd.exe".split(" "),
);

const NOTHING: Wrapped = { commands: [], scripts: [], isReadable: true };
const UNKNOWN: Wrapped = { ...NOTHING, isReadable: false };

/** What the command with this bare name would run besides itself. */
export function unwrap(name: string, words: readonly string[]): Wrapped {
  const [, second = ""] = words;
  if (name === "command" && /^-[pvV]*[vV]/.test(second)) return NOTHING;
  if (name === "find" || name === "gfind") return unwrapFind(words);
  if (SHELLS.has(name)) return unwrapShell(words);
  if (OTHER_SHELLS.has(name)) return UNKNOWN;
  // The loader starts whatever it is given: `/lib64/ld-linux-x86-64.so.2 /bin/rm`.
  if (/^ld(?:-linux|-musl|\.so|64\.so)/.test(name)) return unwrapPrefix({}, words);
  const long = `${name} ${second}`;
  if (Object.hasOwn(PREFIXES, long)) return unwrapPrefix(PREFIXES[long] ?? {}, words.slice(1));
  return Object.hasOwn(PREFIXES, name) ? unwrapPrefix(PREFIXES[name] ?? {}, words) : NOTHING;
}

function unwrapPrefix(prefix: Prefix, words: readonly string[]): Wrapped {
  const { end, isKnown } = skipOptions(prefix, words);
  const rest = words.slice(end + (prefix.words ?? 0));
  const start = prefix.assigns ? rest.findIndex((word) => !isAssignment(word)) : 0;
  const assigned = start < 0 ? rest : rest.slice(0, start);
  const inner = start < 0 ? [] : rest.slice(start);
  const isReadable = isKnown && !prefix.adds && assigned.every(isHarmlessAssignment);
  if (inner.length === 0) return { ...NOTHING, isReadable };
  if (prefix.joins) return { commands: [inner], scripts: [inner.join(" ")], isReadable };
  return { commands: [inner], scripts: [], isReadable };
}

interface Options {
  /** Where the first word stands that is no option. */
  readonly end: number;
  readonly isKnown: boolean;
}

function skipOptions(prefix: Prefix, words: readonly string[]): Options {
  let isKnown = true;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { end: at + 1, isKnown };
    if (!word.startsWith("-")) break;
    const option = word.startsWith("--") ? readLong(prefix, word) : readShort(prefix, word);
    isKnown &&= option !== "unknown";
    if (option === "value") at++;
  }
  return { end: at, isKnown };
}

type Option = "alone" | "value" | "unknown";

/** `--signal=KILL` brings its value along, `--signal KILL` takes the next word. */
function readLong({ long = "" }: Prefix, word: string): Option {
  const [name = "", value] = word.slice(2).split("=", 2);
  const known = long.split(" ");
  if (known.includes(name)) return "alone";
  if (!known.includes(`${name}=`)) return "unknown";
  return value === undefined ? "value" : "alone";
}

function readShort({ flags = "", values = "" }: Prefix, word: string): Option {
  const letters = [...word.slice(1)];
  const at = letters.findIndex((letter) => !flags.includes(letter));
  if (at < 0) return letters.length > 0 || flags.includes("i") ? "alone" : "unknown";
  if (!values.includes(letters[at] ?? "")) return "unknown";
  return at === letters.length - 1 ? "value" : "alone";
}

/** A shell without a script reads its commands from its input. */
function unwrapShell(words: readonly string[]): Wrapped {
  let takesScript = false;
  for (const word of words.slice(1)) {
    const role = roleInShell(word);
    if (role === "ends") return NOTHING;
    if (role === "unknown") return UNKNOWN;
    if (role === "script") return takesScript ? { ...NOTHING, scripts: [word] } : NOTHING;
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
  return /^[-+]|^\/dev\/|^\/proc\//.test(word) ? "unknown" : "script";
}

const FIND_RUNS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

function unwrapFind(words: readonly string[]): Wrapped {
  const commands: string[][] = [];
  for (let at = words.findIndex(isRun); at >= 0; ) {
    const end = words.findIndex((word, index) => index > at && (word === ";" || word === "+"));
    commands.push(words.slice(at + 1, end < 0 ? undefined : end));
    // One that nothing ends, or whose program is a file that is found.
    if (end < 0 || words[at + 1] === "{}") return { commands, scripts: [], isReadable: false };
    at = words.findIndex((word, index) => index > end && isRun(word));
  }
  return { ...NOTHING, commands: commands.filter((command) => command.length > 0) };
}

function isRun(word: string): boolean {
  return FIND_RUNS.has(word);
}
