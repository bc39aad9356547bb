/**
 * What every git that a tool starts is told by its environment, which no file of a repository overrides:
 * not to run the programs that a repository's settings and folders name.
 */

const SETTINGS: readonly (readonly [string, string])[] = [
  // A program that git asks which files have changed.
  ["core.fsmonitor", "false"],
  // A folder of files that looks like a repository is none unless it is named.
  ["safe.bareRepository", "explicit"],
];

/** Nothing can lie below it, so no hook is found. */
const NO_HOOKS: readonly [string, string] = ["core.hooksPath", "/dev/null"];

/** Goes after the settings that are in the variables already: the last one of a name counts. */
export function gitVariables(
  variables: Readonly<Record<string, string>>,
  { hooks }: { readonly hooks: boolean },
): Record<string, string> {
  const before = Number(variables["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const settings = hooks ? SETTINGS : [...SETTINGS, NO_HOOKS];
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${before + at}`, key],
    [`GIT_CONFIG_VALUE_${before + at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(before + settings.length), ...Object.fromEntries(pairs) };
}
