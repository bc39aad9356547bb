/**
 * The forms of git that a rule may allow: those that are known to start no program that their words or
 * another repository name, and to write no file that their words name. Git has too many commands, and gets
 * new ones, for a list of dangerous ones. So this file lists the safe ones, and all others need approval.
 */

import { readGit } from "./git-command.ts";
import { isLongOption } from "./options.ts";

interface GitForm {
  readonly isKnown: boolean;
  /** The remote that is named. If no remote has that name, git takes it for a folder. */
  readonly remote: string | undefined;
}

interface Form {
  /** Letters of options that need approval, and those whose value may follow in the same word. */
  readonly letters?: string;
  readonly values?: string;
  /** Long options that need approval, in any shortened form. */
  readonly long?: string;
  /** The form of all words after the subcommand, joined by spaces. */
  readonly whole?: RegExp;
  /** The allowed options of a command that contacts a remote. */
  readonly remote?: RemoteOptions;
}

interface RemoteOptions {
  readonly flags: string;
  /** The whole names of the options; a value may follow `=`. */
  readonly long: string;
  /** Options that take the next word if there is no `=`. */
  readonly values: string;
}

const PUSH: RemoteOptions = {
  flags: "ufdnqv46",
  long: "set-upstream force force-with-lease no-force-with-lease force-if-includes tags follow-tags no-follow-tags all branches mirror prune delete dry-run quiet verbose progress no-progress porcelain atomic verify no-verify thin no-thin signed no-signed ipv4 ipv6",
  values: "push-option",
};
const FETCH: RemoteOptions = {
  flags: "pPtnakfqv46",
  long: "all append unshallow update-shallow dry-run force keep prune prune-tags tags no-tags quiet verbose progress no-progress ipv4 ipv6 atomic write-fetch-head no-write-fetch-head auto-maintenance no-auto-maintenance auto-gc no-auto-gc show-forced-updates no-show-forced-updates porcelain refetch",
  values: "depth deepen jobs filter shallow-since shallow-exclude",
};
const PULL: RemoteOptions = {
  ...FETCH,
  long: `${FETCH.long} rebase no-rebase ff ff-only no-ff autostash no-autostash squash no-squash commit no-commit no-edit stat no-stat signoff no-signoff allow-unrelated-histories`,
};
const LS_REMOTE: RemoteOptions = {
  flags: "htbq",
  long: "heads branches tags refs quiet exit-code get-url symref",
  values: "sort",
};

/**
 * These print, or change the repository and its tracked files; git itself does not write through links
 * there.
 */
const PLAIN =
  "status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file grep merge-base name-rev show-ref for-each-ref show-branch whatchanged reflog count-objects cherry diff-tree diff-index diff-files range-diff check-ignore check-attr check-mailmap check-ref-format var version verify-commit verify-tag verify-pack fsck patch-id stripspace merge-tree write-tree commit-tree pack-refs config add rm clean commit checkout switch restore reset stash tag branch notes";

const FORMS: Readonly<Record<string, Form>> = {
  ...Object.fromEntries(PLAIN.split(" ").map((name) => [name, {}])),
  // A strategy is a program, by the end of its name.
  merge: { letters: "s", values: "XmFS", long: "strategy" },
  rebase: { letters: "s", values: "XCS", long: "strategy" },
  "cherry-pick": { long: "strategy" },
  revert: { long: "strategy" },
  // Older versions of git write rejected parts through links.
  apply: { long: "unsafe-paths build-fake-ancestor reject directory" },
  am: { letters: "i", values: "pCS", long: "interactive reject directory" },
  // Paths from its input are read wherever they are.
  "hash-object": { long: "stdin-paths" },
  gc: { long: "expire-to" },
  bisect: { whole: /^(?:start|good|bad|new|old|skip|reset|log|terms|next)(?: |$)/ },
  worktree: { whole: /^(?:list|prune)(?: --?[\w-]+)*$/ },
  remote: { whole: /^(?:-v|--verbose|get-url(?: --push| --all)* \w[\w.-]*)?$/ },
  init: { whole: /^(?:(?:-q|--quiet|-b \w[\w./-]*|--initial-branch=\w[\w./-]*)(?: |$))*$/ },
  // For writing, git accepts the name of any of its own files.
  "symbolic-ref": { whole: /^(?:(?:-q|--quiet|--short) )*(?:HEAD|refs\/[\w./-]+)$/ },
  help: { whole: /^(?:-[ag]|--all|--guides|\w[\w-]*)?$/ },
  push: { remote: PUSH },
  fetch: { remote: FETCH },
  pull: { remote: PULL },
  "ls-remote": { remote: LS_REMOTE },
};

/** Options of many commands: a file to write, no repository, a program to compare with, other repositories. */
const ASKED_EVERYWHERE = "output output-directory no-index ext-diff recurse-submodules";

const UNKNOWN: GitForm = { isKnown: false, remote: undefined };

/** The form of a git command, given without the program. */
export function readGitForm(rest: readonly string[]): GitForm {
  const command = readGit(rest);
  const [name = "", ...words] = command;
  const globals = rest.slice(0, rest.length - command.length);
  if (globals.some((word) => /^(?:-C|--bare$|--(?:git-dir|work-tree)(?:=|$))/.test(word))) {
    return UNKNOWN;
  }
  if (command.length === 0) return { isKnown: true, remote: undefined };
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (!form || words.some((word) => isAsked(form, word))) return UNKNOWN;
  if (form.whole && !form.whole.test(words.join(" "))) return UNKNOWN;
  return form.remote ? readRemote(form.remote, words) : { isKnown: true, remote: undefined };
}

function isAsked({ letters, values = "", long = "" }: Form, word: string): boolean {
  if (isLongOption(`${ASKED_EVERYWHERE} ${long}`.trim(), word)) return true;
  if (letters === undefined) return false;
  const before = values === "" ? "" : `(?![${values}])`;
  return new RegExp(`^-(?:${before}[a-zA-Z0-9])*[${letters}]`).test(word);
}

/** The remote that a command names. An address may lead elsewhere than to a remote that the user named. */
function readRemote(options: RemoteOptions, words: readonly string[]): GitForm {
  const others: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      others.push(...words.slice(at + 1));
      break;
    }
    const option = readOption(options, word);
    if (option === "unknown") return UNKNOWN;
    if (option === "value") at++;
    if (option === "none") others.push(word);
  }
  const [remote] = others;
  if (remote !== undefined && !/^\w[\w.-]*$/.test(remote)) return UNKNOWN;
  return { isKnown: true, remote };
}

type RemoteOption = "none" | "alone" | "value" | "unknown";

function readOption({ flags, long, values }: RemoteOptions, word: string): RemoteOption {
  if (!word.startsWith("-")) return "none";
  if (new RegExp(`^-[${flags}]+$`).test(word)) return "alone";
  const [, name = "", value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === "rebase" && !/^(?:true|false|merges)?$/.test(value ?? "")) return "unknown";
  if (long.split(" ").includes(name)) return "alone";
  if (!values.split(" ").includes(name)) return "unknown";
  return value === undefined ? "value" : "alone";
}
