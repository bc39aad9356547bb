/**
 * Commands that carry a program of their own in their words (`python -c`, `awk`, `git -c`) or read it
 * from their input. What such a program does cannot be told from here, so they are not readable.
 * A file with a program is another matter: it goes by its name, as every program does.
 */

/** Always: they take commands as text, put them off to later, or change what words mean. */
const OPAQUE: ReadonlySet<string> = new Set(
  [
    "eval source . alias trap enable hash bind complete fc mapfile readarray shopt coproc",
    "at batch crontab parallel tmux screen expect script gdb lldb socat su runuser pkexec systemd-run",
    "run0 unshare nsenter strace ltrace flock chrt taskset fakeroot proot firejail bwrap entr",
    "start-stop-daemon run-parts ed ex emacs emacsclient rlwrap unbuffer dbus-run-session",
    "sandbox-exec osascript launchctl open",
  ]
    .join(" ")
    .split(" "),
);

interface Interpreter {
  readonly name: RegExp;
  /** Letters of options with code in them. */
  readonly letters: string;
  readonly long?: RegExp;
  /** Letters of options whose value is the next word, which is then no file. */
  readonly values?: string;
  /** A word that names what runs, so that the words behind it are that one's own. */
  readonly names?: RegExp;
}

const INTERPRETERS: readonly Interpreter[] = [
  { name: /^(?:python|pypy)[\d.]*$/, letters: "civ", values: "WX", names: /^-m/ },
  {
    name: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/,
    letters: "epi",
    long: /^--(?:ev|pr|inp|inter|import=data:|loader=data:|experimental-loader=data:)|^data:|^eval$|^repl$/,
    values: "rC",
    names: /^--(?:test|run)$/,
  },
  { name: /^perl[\d.]*$/, letters: "eEmM", values: "I" },
  { name: /^(?:ruby[\d.]*|irb)$/, letters: "e", values: "IrC" },
  { name: /^php[\d.]*$/, letters: "radBRE", values: "cz" },
  { name: /^(?:lua[\d.]*|luajit)$/, letters: "ei", values: "l" },
  { name: /^(?:Rscript|R|r|rscript)$/, letters: "e" },
  {
    name: /^(?:julia|groovy|scala|elixir|ghc|swift|raku|iex|tclsh|jshell|ghci|erl|guile|racket|sbcl)$/,
    letters: "eEcpr",
  },
];

/** A variable may name a program: `make CC=…`; `-` is a makefile from the input. */
const MAKE = /^(?:--ev|-[a-zA-Z]*E|\w+[:+?]*=|--file=-$|-f-$|-$)/;

/** Words that hand code or a command to a program which is otherwise known by its words. */
const CARRIERS: Readonly<Record<string, RegExp>> = {
  tar: /^(?:--(?:to-|use-c|chec|rsh|inf|new-v)|-[a-zA-Z]*[IF])/,
  rsync: /^(?:--(?:rsh|rsync-p)|-[a-zA-Z0-9]*e)/,
  zip: /^(?:--unzip-command|-[a-zA-Z]*TT)/,
  sort: /^--comp/,
  split: /^--fil/,
  man: /^(?:-[a-zA-Z]*[PH]|--(?:pag|htm))/,
  make: MAKE,
  gmake: MAKE,
  npm: /^--(?:script-shell|node-options)/,
  nc: /^-[a-zA-Z]*[ec]/,
  ncat: /^(?:-[a-zA-Z]*[ec]|--(?:exec|sh-exec|lua-exec))/,
  netcat: /^-[a-zA-Z]*[ec]/,
  ssh: /^-[a-zA-Z0-9]*[oFS]/,
  scp: /^-[a-zA-Z0-9]*[oFS]/,
  sftp: /^-[a-zA-Z0-9]*[oFSbD]/,
  sqlite3: /^\.|^-(?:cmd|init)/,
  psql: /\\!|^-[a-zA-Z]*f-?$/,
  mysql: /\\!|system/,
  less: /^\+/,
  more: /^\+/,
  gcc: /^-(?:wrapper|fplugin|B|specs)/,
  cmake: /^-[EP]/,
  ip: /^(?:exec|-b|-batch)/,
  vi: /^(?:\+|-[cSsuEeVw]|--cmd|--remote)/,
  vim: /^(?:\+|-[cSsuEeVw]|--cmd|--remote)/,
  nvim: /^(?:\+|-[cSsuEelVw]|--cmd|--remote|--headless)/,
  view: /^(?:\+|-[cSsuEeVw]|--cmd)/,
  wget: /^--use-askpass|^-[a-zA-Z]*e$|^--execute/,
  curl: /^(?:-[a-zA-Z]*K|--config)/,
  find: /^-files0-from/,
  export: /=/,
  declare: /=/,
  typeset: /=/,
  readonly: /=/,
  local: /=/,
};

/** Whether the command with this bare name runs what its words do not tell. */
export function hasInlineCode(name: string, words: readonly string[]): boolean {
  const rest = words.slice(1);
  if (OPAQUE.has(name)) return true;
  if (name === "git") return isGitOpaque(rest);
  if (/^[gmn]?awk$/.test(name)) return isAwkOpaque(rest);
  if (name === "sed" || name === "gsed") return isSedOpaque(rest);
  // The letters of tar's first word need no dash.
  if (name === "tar" && /^[a-zA-Z]*[IF]/.test(rest[0] ?? "")) return true;
  const interpreter = INTERPRETERS.find((one) => one.name.test(name));
  if (interpreter) return isInterpreted(interpreter, rest);
  const carrier = Object.hasOwn(CARRIERS, name) ? CARRIERS[name] : undefined;
  return carrier !== undefined && rest.some((word) => carrier.test(word));
}

/** Up to the script, whose own words are its own matter. Without one, the code comes from the input. */
function isInterpreted(interpreter: Interpreter, rest: readonly string[]): boolean {
  const { values = "", names } = interpreter;
  if (rest.length === 1 && /^(?:--version|--help|-V|-h)$/.test(rest[0] ?? "")) return false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (isCode(interpreter, word)) return true;
    if (!word.startsWith("-") || names?.test(word)) return false;
    if (/^-\w$/.test(word) && values.includes(word.slice(1))) at++;
  }
  return true;
}

function isCode({ letters, long }: Interpreter, word: string): boolean {
  if (word === "-" || /^\/(?:dev|proc)\//.test(word) || long?.test(word)) return true;
  return /^-\w/.test(word) && [...word.slice(1)].some((letter) => letters.includes(letter));
}

/** Before the subcommand: settings, which may name programs, and where git's own programs are. */
const GIT_GLOBAL = /^(?:-c|--config-env|--exec-path=)/;

/** A pager or editor, a program at the other end, a command for each step. */
const GIT_WORDS: Readonly<Record<string, RegExp>> = {
  rebase: /^(?:-i|--inter|-x|--exec)/,
  grep: /^(?:-O|--open)/,
  clone: /^(?:-u|--upl|-c|--conf)|^ext::/,
  fetch: /^--upl|^ext::/,
  pull: /^--upl|^ext::/,
  push: /^(?:--rec|--exec)|^ext::/,
  "ls-remote": /^(?:--upl|--exec)|^ext::/,
  archive: /^--exec/,
  remote: /^ext::/,
  diff: /^--ext-/,
  log: /^--ext-/,
  show: /^--ext-/,
  bisect: /^run$/,
  submodule: /^foreach$/,
  config:
    /^(?:-e|--edit|--file)|!|^(?:alias|core|credential|diff|merge|filter|gpg|pager|sequence|uploadpack|protocol|include|includeif|remote|url|browser|man|mergetool|difftool|interactive)\./i,
};

const GIT_OPAQUE: ReadonlySet<string> = new Set(
  "filter-branch difftool mergetool shell daemon web--browse instaweb send-email p4".split(" "),
);

function isGitOpaque(rest: readonly string[]): boolean {
  const command = readGit(rest);
  const [name = "", ...words] = command;
  const globals = rest.slice(0, rest.length - command.length);
  if (GIT_OPAQUE.has(name) || globals.some((word) => GIT_GLOBAL.test(word))) return true;
  const pattern = Object.hasOwn(GIT_WORDS, name) ? GIT_WORDS[name] : undefined;
  return pattern !== undefined && words.some((word) => pattern.test(word));
}

/** A git command without what stands before the subcommand: `git -C x push` is `git push`. */
export function readGit(rest: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (!word.startsWith("-")) break;
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path)$/.test(word)) at++;
  }
  return rest.slice(at);
}

/** A program that pipes, writes or calls the system. */
function isAwkOpaque(rest: readonly string[]): boolean {
  return rest.some((word) =>
    /system|[|>]|getline|@|^-[a-zA-Z]*[elE]|^--(?:exe|inc|load)/.test(word),
  );
}

const SED_ADDRESS = String.raw`(?:\d+|\$|/[^/]*/)`;
const SED_COMMAND = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,(?:${SED_ADDRESS}|\+\d+))?!?)?(?:[pdqDPNnGgHhx=]|s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpiIM\d]*)$`,
  "s",
);

/** Only what is known to print, drop and replace lines: `e` and `w` run and write. */
function isSedOpaque(rest: readonly string[]): boolean {
  const scripts = rest.flatMap((word, at) => {
    if (/^(?:-[a-zA-Z]*e|--expression)$/.test(word)) return [rest[at + 1] ?? ""];
    const attached = /^(?:-e|--expression=)(.+)$/s.exec(word)?.[1];
    return attached === undefined ? [] : [attached];
  });
  if (rest.some((word) => /^(?:-[a-zA-Z]*f|--fi)/.test(word))) return true;
  const first = rest.find((word) => !word.startsWith("-"));
  const all = scripts.length > 0 ? scripts : [first ?? ""];
  return !all.every((script) =>
    script.split(/\s*[;\n]\s*/).every((one) => SED_COMMAND.test(one.trim())),
  );
}
