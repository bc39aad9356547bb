/**
 * Programs that obey the settings of the repository they find themselves in. Such settings name programs, and a
 * folder that somebody else made may hold a repository as plain files. So a rule that allows `git *` is
 * about the repository of the workspace, and about no other.
 */

import { straysFromRepository } from "./git-command.ts";

/**
 * Their repository may lie at the top of somebody's git repository as plain files, settings included;
 * git itself refuses to store a `.git`.
 */
const PLAIN_REPOSITORIES: ReadonlySet<string> = new Set(
  "hg chg sl jj fossil bzr brz darcs pijul".split(" "),
);

/** The simple commands of a call that run git, each without the program. */
export function findGit(commands: readonly (readonly string[])[]): (readonly string[])[] {
  return commands.flatMap(([program = "", ...rest]) => (bareName(program) === "git" ? [rest] : []));
}

/** Whether these commands, started at the top of the workspace, reach no other repository than its own. */
export function staysInRepository(commands: readonly (readonly string[])[]): boolean {
  if (commands.some(([program = ""]) => PLAIN_REPOSITORIES.has(bareName(program)))) return false;
  const gits = findGit(commands);
  if (gits.length === 0) return true;
  return !commands.some(movesElsewhere) && !gits.some(straysFromRepository);
}

/** Whether what comes after it, or in it, runs in another folder. */
function movesElsewhere([program = "", ...rest]: readonly string[]): boolean {
  const name = bareName(program);
  if (/^(?:cd|chdir|pushd|popd|chroot)$/.test(name)) return true;
  if (name === "find" || name === "gfind")
    return rest.some((word) => /^-(?:exec|ok)dir$/.test(word));
  if (name === "env" || name === "sudo") return rest.some((word) => /^-\w*[CDR]|^--ch/.test(word));
  return false;
}

function bareName(program: string): string {
  return (program.split("/").at(-1) ?? "").toLowerCase();
}
