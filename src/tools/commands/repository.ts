/**
 * Programs that obey the settings of the repository in which they run. Such settings name programs, and a
 * folder from someone else may contain a repository as plain files. So a rule that allows `git *` covers
 * only the workspace's own repository.
 */

import { readGitForm } from "./git-forms.ts";

/**
 * Their repository may be plain files, settings included, at the top of a git repository from someone else,
 * or may be one whose hooks run when they write to it. Git itself refuses to store a `.git`.
 */
const PLAIN_REPOSITORIES: ReadonlySet<string> = new Set(
  "hg chg sl jj fossil bzr brz darcs pijul svn svnadmin svnsync svnserve cvs".split(" "),
);

/** Subcommands of git that are programs in `PATH` too. */
const GIT_PROGRAM = /^git-(receive-pack|upload-pack|upload-archive|shell)$/;

/** The simple commands of a call that run git, each without the program. */
export function findGit(commands: readonly (readonly string[])[]): (readonly string[])[] {
  return commands.flatMap(([program = "", ...rest]) => {
    const name = bareName(program);
    const [, subcommand] = GIT_PROGRAM.exec(name) ?? [];
    if (subcommand !== undefined) return [[subcommand, ...rest]];
    return name === "git" ? [rest] : [];
  });
}

/** The remotes that these commands name. */
export function findRemotes(commands: readonly (readonly string[])[]): string[] {
  return findGit(commands).flatMap((rest) => readGitForm(rest).remote ?? []);
}

/** True if these commands, started at the top of the workspace, only reach its own repository. */
export function staysInRepository(commands: readonly (readonly string[])[]): boolean {
  if (commands.some(([program = ""]) => PLAIN_REPOSITORIES.has(bareName(program)))) return false;
  const gits = findGit(commands);
  if (gits.length === 0) return true;
  return !commands.some(changesGround) && gits.every((rest) => readGitForm(rest).isKnown);
}

/**
 * True if later or inner commands run in another folder, or without the variables that tell git which
 * programs not to start (`sandbox/git-variables.ts`).
 */
function changesGround([program = "", ...rest]: readonly string[]): boolean {
  const name = bareName(program);
  if (/^(?:cd|chdir|pushd|popd|chroot|sudo|doas|unset|export|declare|typeset)$/.test(name))
    return true;
  if (name === "find" || name === "gfind")
    return rest.some((word) => /^-(?:exec|ok)dir$/.test(word));
  if (name === "env") {
    const command = rest.findIndex((word) => !word.startsWith("-"));
    const options = command < 0 ? rest : rest.slice(0, command);
    return options.some((word) => /^-(?:$|\w*[Ciu]|-[^=]*[ciu])/.test(word));
  }
  return name === "exec" && rest.some((word) => /^-\w*c/.test(word));
}

function bareName(program: string): string {
  return (program.split("/").at(-1) ?? "").toLowerCase();
}
