/**
 * What every git that a tool starts is told by its environment, which no file of a repository overrides:
 * not to run the programs that a repository's settings and folders name.
 */

const SETTINGS: readonly (readonly [string, string])[] = [
  // A program that git asks which files have changed.
  ["core.fsmonitor", "false"],
  // A folder of files that looks like a repository is none unless it is named.
  ["safe.bareRepository", "explicit"],
  // A transport that is a command; git's own default, which a user's settings may have changed.
  ["protocol.ext.allow", "never"],
];

const NO_HOOKS: readonly (readonly [string, string])[] = [
  // Nothing can lie below it, so no hook is found.
  ["core.hooksPath", "/dev/null"],
  // At the other end of a local transport git starts anew, without these settings: with hooks.
  ["protocol.file.allow", "never"],
];

/**
 * None: nobody is there to type. An editor without a terminal takes its input for keys, and with a pipe
 * that is a file of the repository: `git show HEAD:x | git commit`.
 */
const NO_EDITOR = ":";

/** Goes after the settings that are in the variables already: the last one of a name counts. */
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
