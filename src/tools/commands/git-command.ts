/**
 * Rules for `git`: most subcommands can be judged by their words; some words name a pager, an editor, or a
 * command for each step.
 */

import { isLongOption } from "./options.ts";

/** Allowed before the subcommand. Any other option may be a setting, which may name a program. */
const GLOBAL =
  /^(?:-[pPvh]|--(?:no-pager|paginate|bare|no-replace-objects|no-lazy-fetch|no-optional-locks|no-advice|literal-pathspecs|glob-pathspecs|noglob-pathspecs|icase-pathspecs|html-path|man-path|info-path|exec-path|version|help|(?:git-dir|work-tree|namespace|attr-source)=.*))$/s;
const GLOBAL_WITH_VALUE = /^(?:-C|--git-dir|--work-tree|--namespace|--attr-source)$/;

interface Danger {
  /** Letters of options, also among other letters. */
  readonly letters?: string;
  readonly long?: string;
  readonly words?: RegExp;
}

const DANGERS: Readonly<Record<string, Danger>> = {
  rebase: { letters: "ix", long: "interactive exec" },
  grep: { letters: "O", long: "open-files-in-pager" },
  clone: { letters: "uc", long: "upload-pack config template" },
  init: { long: "template" },
  fetch: { long: "upload-pack" },
  pull: { long: "upload-pack" },
  push: { long: "receive-pack exec" },
  "fetch-pack": { long: "upload-pack exec" },
  "send-pack": { long: "receive-pack exec" },
  "ls-remote": { long: "upload-pack exec" },
  archive: { long: "exec" },
  bisect: { words: /^(?:run|view|visualize)$/ },
  submodule: { words: /^foreach$/ },
  maintenance: { words: /^(?:start|register)$/ },
};

const OPAQUE: ReadonlySet<string> = new Set(
  "filter-branch filter-repo difftool mergetool shell daemon web--browse instaweb send-email p4 svn gui citool remote-ext remote-fd submodule--helper hook for-each-repo http-backend cvsserver upload-pack receive-pack upload-archive merge-index merge-one-file bisect--helper credential credential-cache credential-store sh-i18n sh-setup".split(
    " ",
  ),
);

/** A git command without the options before the subcommand: `git -C x push` is `git push`. */
export function readGit(rest: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (!word.startsWith("-")) break;
    if (GLOBAL_WITH_VALUE.test(word) || /^(?:-c|--config-env)$/.test(word)) at++;
  }
  return rest.slice(at);
}

export function isGitOpaque(rest: readonly string[]): boolean {
  const command = readGit(rest);
  const [name = "", ...words] = command;
  if (OPAQUE.has(name) || !hasKnownGlobals(rest.slice(0, rest.length - command.length)))
    return true;
  // A transport that is a command of its own, or a program that compares.
  if (words.some((word) => /\bext::/.test(word) || isLongOption("ext-diff", word))) return true;
  // A name that is a path is a program's: `git x/y` starts `./git-x/y`.
  if (name.includes("/")) return true;
  if (name === "config") return !isReading(words);
  const danger = Object.hasOwn(DANGERS, name) ? DANGERS[name] : undefined;
  return danger !== undefined && words.some((word) => isDanger(danger, word));
}

function hasKnownGlobals(globals: readonly string[]): boolean {
  for (let at = 0; at < globals.length; at++) {
    const word = globals[at] ?? "";
    if (GLOBAL_WITH_VALUE.test(word)) at++;
    else if (!GLOBAL.test(word)) return false;
  }
  return true;
}

function isDanger({ letters, long = "", words }: Danger, word: string): boolean {
  if (words?.test(word) || isLongOption(long, word)) return true;
  return letters !== undefined && new RegExp(`^-[a-zA-Z0-9]*[${letters}]`).test(word);
}

/**
 * Settings name programs in more places than can be listed, so only reading them and setting one's own name
 * is allowed.
 */
function isReading(words: readonly string[]): boolean {
  const names = words.filter((word) => !word.startsWith("-"));
  const [first = "", key] = /^(?:get|list)$/.test(names[0] ?? "") ? names.slice(1) : names;
  const isAsking =
    (key === undefined && /^$|\./.test(first)) || /^user\.(?:name|email)$/.test(first);
  const options =
    /^(?:--(?:global|local|system|worktree|get|get-all|list|show-origin|show-scope|name-only|null)|-[lz])$/;
  return isAsking && words.every((word) => !word.startsWith("-") || options.test(word));
}
