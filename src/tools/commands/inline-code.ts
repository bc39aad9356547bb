/**
 * Commands that carry a program of their own in their words (`python -c`, `awk`, `git -c`) or read it from
 * their input. It is not known here what such a program does, so the command counts as not readable. A
 * program in a file is different: rules match it by its name, like every program.
 */

import { isGitOpaque } from "./git-command.ts";
import { isDevice, isInterpreterOpaque } from "./interpreters.ts";
import { isLongOption } from "./options.ts";
import { isAwkOpaque, isSedOpaque } from "./stream-editors.ts";

/** Never readable: they take commands as text, run them later, or change the meaning of words. */
const OPAQUE: ReadonlySet<string> = new Set(
  [
    // Builtins of the shell itself.
    "eval source . alias trap enable hash bind complete compgen fc mapfile readarray shopt coproc",
    "read getopts let emulate zmodload",
    // Later, elsewhere, or as another user.
    "at batch crontab parallel tmux screen expect su runuser pkexec systemd-run run0 gosu su-exec sg",
    "newgrp capsh setpriv machinectl systemd-nspawn systemd-inhibit systemd-cat flatpak-spawn",
    "ssh-agent sshpass unshare nsenter fakeroot fakechroot proot firejail bwrap start-stop-daemon",
    "daemon daemonize run-parts launchctl open xdg-open gtk-launch busctl dbus-send gdbus",
    "dbus-run-session dbus-launch xvfb-run xinit startx xterm vagrant adb lxc qemu-user wine",
    // Around a program, with options of their own.
    "script gdb lldb socat strace ltrace valgrind perf rr flock chrt taskset numactl prlimit setarch",
    "linux32 linux64 i386 x86_64 uname26 choom cgexec chpst cpulimit envdir setuidgid softlimit tini",
    "dumb-init eatmydata faketime torsocks proxychains proxychains4 logsave hyperfine rlwrap",
    "unbuffer sandbox-exec entr watchexec nodemon concurrently onchange cross-env env-cmd dotenv",
    "chronic ifne pee mispipe zrun ts sem lckdo dtach abduco tsocks trickle setlock execlineb multitime",
    "heaptrack s6-setuidgid s6-softlimit s6-envdir s6-setlock s6-applyuidgid runsv svlogd pgrphack",
    "op aws-vault doppler chamber infisical sops envchain berglas teller incus toolbox distrobox",
    "watchman-make chokidar chokidar-cli reflex air modd gow when-changed fswatch inotifywait retry",
    "parallel-ssh pssh clush mosh autossh kexec prename detach nohup.exe stdoutisatty aa-exec runcon",
    "direnv nix nix-shell guix conda mamba pyenv rbenv nodenv asdf mise volta fnm coreutils",
    // Languages and editors that read from their input.
    "ed ex vi vim nvim view vimdiff gvim rvim nano emacs emacsclient osascript irb iex ghci jshell",
    "jrunscript r octave gnuplot maxima gp m4 dc ftp lftp mail mailx mutt wish tig ranger fzf",
  ]
    .join(" ")
    .split(" "),
);

const CONTAINERS =
  "ps images logs version info inspect pull push tag stop kill search history port stats top diff";

/**
 * Subcommands that can be judged by their words, for programs that also start others (`wrappers.ts` reads
 * subcommands that are followed by a command). No word may come before the subcommand: an option there may
 * take it for its value.
 */
const SUBCOMMANDS: Readonly<Record<string, string>> = {
  npm: "exec x install i ci add test t run run-script start stop restart ls list outdated audit view info show search pack publish version why explain fund dedupe prune root prefix whoami uninstall rm remove update up link unlink ping doctor help query",
  pnpm: "exec dlx install i add test t run start ls list outdated audit why remove rm uninstall update up link unlink prune store publish pack root",
  yarn: "exec dlx install add test run start list outdated audit why remove upgrade up link unlink pack publish info workspaces",
  bun: "x run install i add test remove rm update link unlink pm build outdated publish",
  deno: "run test check fmt lint task cache info doc bench install add remove",
  uv: "run sync lock add remove pip venv tree init build publish version",
  poetry: "run install add remove lock update show build publish check version",
  pipenv: "run install uninstall lock sync update graph check",
  pdm: "run install add remove lock sync update list build publish",
  bundle: "exec install update check list outdated add remove info lock",
  docker: CONTAINERS,
  podman: CONTAINERS,
  nerdctl: CONTAINERS,
  kubectl: "get describe logs version explain top api-resources cluster-info",
};

interface Carrier {
  /** Letters of options, also among others after one dash. */
  readonly letters?: string;
  /** Long options, in any shortened form. */
  readonly long?: string;
  readonly words?: RegExp;
}

/** A variable may name a program (`make CC=…`), and a makefile may come from the input. */
const MAKE: Carrier = {
  letters: "E",
  long: "eval",
  words: /^\w+[:+?]*=|^-f-$|^-$|^--(?:file|makefile)=-$|\/(?:dev|proc)\/|\bstdin$/,
};
const COMPILER: Carrier = {
  words: /^-(?:wrapper|f(?:pass-)?plugin|B|specs|Xclang|load|fuse-ld)|^@|^-Wl,.*plugin/,
};
const CONNECTION: Carrier = { letters: "oFS" };
/** Bash evaluates names in these words, and runs commands in their index. */
const NAMES: Carrier = { words: /`|\$[({]/ };
const VALUES: Carrier = { words: /=|`|\$[({]/ };

/** Words that give code or a command to a program that can otherwise be judged by its words. */
const CARRIERS: Readonly<Record<string, Carrier>> = {
  tar: {
    letters: "IFT",
    long: "to-command use-compress-program checkpoint-action rsh-command rmt-command info-script new-volume-script files-from",
  },
  cpio: { long: "rsh-command rmt-command" },
  rsync: { letters: "eM", long: "rsh rsync-path remote-option config" },
  zip: { long: "unzip-command", words: /^-[a-zA-Z]*TT/ },
  sort: { long: "compress-program" },
  split: { long: "filter" },
  install: { long: "strip-program" },
  man: { letters: "PH", long: "pager html" },
  make: MAKE,
  gmake: MAKE,
  just: {
    letters: "cf",
    long: "command shell shell-arg chooser set justfile evaluate",
    words: /=/,
  },
  npm: { long: "script-shell node-options editor viewer browser shell git call" },
  pnpm: { letters: "c", long: "script-shell shell-mode node-options" },
  nc: { letters: "ec" },
  ncat: { letters: "ec", long: "exec sh-exec lua-exec" },
  netcat: { letters: "ec" },
  ssh: CONNECTION,
  scp: CONNECTION,
  sftp: { letters: "oFSbD" },
  "ssh-keygen": { letters: "D" },
  "ssh-add": { letters: "s" },
  mysql: { long: "pager", words: /\\|system|source/i },
  psql: { letters: "f", long: "file", words: /\\|program/i },
  sqlite3: { words: /^\.|^-{1,2}(?:cmd|init|A)|edit|load_ext/i },
  less: { letters: "k", long: "lesskey-file lesskey-src lesskey-content", words: /^\+/ },
  more: { words: /^\+/ },
  rg: { long: "pre hostname-bin" },
  ag: { long: "pager" },
  ack: { long: "pager" },
  bat: { long: "pager" },
  fd: { letters: "xX", long: "exec exec-batch" },
  fdfind: { letters: "xX", long: "exec exec-batch" },
  gcc: COMPILER,
  "g++": COMPILER,
  cc: COMPILER,
  "c++": COMPILER,
  clang: COMPILER,
  "clang++": COMPILER,
  rustc: { letters: "C", long: "codegen" },
  cargo: { long: "config" },
  go: { words: /^--?(?:exec|toolexec|vettool)/ },
  cmake: { words: /^-[EP]|COMPILER|LAUNCHER|PROGRAM|COMMAND|EXECUTABLE|TOOLCHAIN/ },
  java: { words: /^-(?:XX|agent|javaagent)/ },
  ip: { words: /^(?:exec|-b|-batch)/ },
  tcpdump: { letters: "z" },
  apt: { letters: "oc", long: "option config-file" },
  "apt-get": { letters: "oc", long: "option config-file" },
  rpm: { letters: "E", long: "eval define pipe" },
  hg: { long: "config", words: /^ext::/ },
  svn: { long: "config-option editor-cmd diff-cmd diff3-cmd" },
  wget: { letters: "e", long: "use-askpass execute" },
  curl: { letters: "K", long: "config" },
  find: { words: /^-files0-from/ },
  deno: { words: /^(?:-|eval|repl)$|:|\/(?:dev|proc)\// },
  bun: { letters: "epi", long: "eval print", words: /^-$|:|\/(?:dev|proc)\// },
  jobs: { letters: "x" },
  printf: { letters: "v", words: /`|\$[({]/ },
  test: NAMES,
  "[": NAMES,
  unset: NAMES,
  wait: NAMES,
  export: VALUES,
  declare: VALUES,
  typeset: VALUES,
  readonly: VALUES,
  local: VALUES,
};

/** Programs that read commands from their input unless their words contain them. */
const ASKED: Readonly<Record<string, (rest: readonly string[]) => boolean>> = {
  sqlite3: (rest) => rest.filter((word) => !word.startsWith("-")).length > 1,
  psql: (rest) => rest.some((word) => /^(?:-[a-zA-Z]*[cl]|--(?:command|list))/.test(word)),
  mysql: (rest) => rest.some((word) => /^(?:-[a-zA-Z]*e|--execute)/.test(word)),
};

/** True if the command with this bare name runs code that is not in its words. */
export function hasInlineCode(name: string, words: readonly string[]): boolean {
  const rest = words.slice(1);
  // Descriptors, and the running program itself under another name.
  if (OPAQUE.has(name) || isDevice(words[0] ?? "")) return true;
  if (name === "git") return isGitOpaque(rest);
  if (/^[gmn]?awk$/.test(name)) return isAwkOpaque(rest);
  if (name === "sed" || name === "gsed") return isSedOpaque(rest);
  // The letters of tar's first word need no dash.
  if (name === "tar" && /^[a-zA-Z]*[IFT]/.test(rest[0] ?? "")) return true;
  if (!isSubcommandTold(name, rest) || pick(ASKED, name)?.(rest) === false) return true;
  const carrier = pick(CARRIERS, name);
  if (carrier && carries(carrier, rest)) return true;
  return isInterpreterOpaque(name, words) ?? false;
}

/** True if a table of this file has the program with this bare name. */
export function isListedProgram(name: string): boolean {
  return (
    [CARRIERS, SUBCOMMANDS, ASKED].some((table) => Object.hasOwn(table, name)) ||
    OPAQUE.has(name) ||
    /^(?:git|[gmn]?awk|g?sed)$/.test(name) ||
    isInterpreterOpaque(name, [name]) !== undefined
  );
}

function isSubcommandTold(name: string, rest: readonly string[]): boolean {
  const told = pick(SUBCOMMANDS, name)?.split(" ");
  const [first = ""] = rest;
  return (
    !told ||
    told.includes(first) ||
    (rest.length < 2 && /^(?:|--version|--help|-[vVh])$/.test(first))
  );
}

function carries({ letters, long, words }: Carrier, rest: readonly string[]): boolean {
  const short = letters === undefined ? undefined : new RegExp(`^-[a-zA-Z0-9]*[${letters}]`);
  return rest.some(
    (word) => words?.test(word) || short?.test(word) || (long && isLongOption(long, word)),
  );
}

function pick<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
