/**
 * The environment of every git that a tool starts, which no file of a repository overrides: git then does
 * not run the programs that a repository's settings and folders name.
 */

const SETTINGS: readonly (readonly [string, string])[] = [
  // A program that git asks which files have changed.
  ["core.fsmonitor", "false"],
  // A folder of files that looks like a repository is not one unless it is named.
  ["safe.bareRepository", "explicit"],
  // A transport that is a command. This is git's own default, which a user's settings may have changed.
  ["protocol.ext.allow", "never"],
];

const NO_HOOKS: readonly (readonly [string, string])[] = [
  // A path that contains nothing, so no hook is found.
  ["core.hooksPath", "/dev/null"],
  // At the other end of a local transport, git starts again without these settings, and would run hooks.
  ["protocol.file.allow", "never"],
];

/**
 * No editor, because there is no user at the terminal. An editor without a terminal takes its input for
 * keys, and with a pipe that is a file of the repository: `git show HEAD:x | git commit`.
 */
const NO_EDITOR = ":";

/** Added after the settings that the variables already have, because the last one of a name counts. */
export function gitVariables(
  variables: Readonly<Record<string, string>>,
  { hooks }: { readonly hooks: boolean },
): Record<string, string> {
  const before = Number(variables["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const settings = hooks ? SETTINGS : [...SETTINGS, ...NO_HOOKS];
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${before + at}`, key],
    [`GIT_CONFIG_VALUE_${before + at}`, value],
  ]);
  return {
    GIT_CONFIG_COUNT: String(before + settings.length),
    ...Object.fromEntries(pairs),
    GIT_EDITOR: variables["GIT_EDITOR"] ?? NO_EDITOR,
    GIT_SEQUENCE_EDITOR: variables["GIT_SEQUENCE_EDITOR"] ?? NO_EDITOR,
  };
}
