/**
 * The keys that a person has stored (`offshoot auth set`), attached to the environment they belong to.
 *
 * They travel with the environment object but are not variables of it: code that lists or copies the
 * variables for a command, an MCP server or a child process does not see them. Code that needs a key asks
 * here by the name of its variable, and the environment's own value wins.
 */

export type KeyEnvironment = Readonly<Record<string, string | undefined>>;

/** The keys are private fields of a class: a log that prints the environment does not show them. */
class StoredKeys {
  readonly #keys: ReadonlyMap<string, string>;
  readonly #problem: string | undefined;

  constructor(keys: ReadonlyMap<string, string>, problem: string | undefined) {
    this.#keys = keys;
    this.#problem = problem;
  }

  get(variable: string): string | undefined {
    return this.#keys.get(variable);
  }

  values(): string[] {
    return [...this.#keys.values()];
  }

  /**
   * The reason why stored keys could not be read, in one line with what to do; undefined if all were read.
   */
  get problem(): string | undefined {
    return this.#problem;
  }
}

/** A copy of the environment (`{...env}`) has them too: symbols are copied, and not listed. */
const STORED = Symbol("stored keys");

interface Holder {
  [STORED]?: StoredKeys;
}

/** Attaches `keys`, by the names of their variables, in place of those attached before. */
export function attachStoredKeys(
  env: KeyEnvironment,
  keys: ReadonlyMap<string, string>,
  problem?: string | undefined,
): void {
  (env as Holder)[STORED] = new StoredKeys(keys, problem);
}

/** Turns variables of the environment into stored keys: those that a parent process passed on. */
export function takeStoredKeys(
  env: Record<string, string | undefined>,
  names: readonly string[],
): void {
  const keys = names.flatMap((name): [string, string][] => {
    const key = env[name];
    delete env[name];
    return key === undefined ? [] : [[name, key]];
  });
  attachStoredKeys(env, new Map(keys));
}

/** The value of a key's variable: the environment's own, else the stored one. */
export function keyIn(env: KeyEnvironment, variable: string): string | undefined {
  return env[variable]?.trim() || storedIn(env, variable);
}

/** The stored key of this variable, even if the environment has its own. */
export function storedIn(env: KeyEnvironment, variable: string): string | undefined {
  return (env as Holder)[STORED]?.get(variable);
}

/** True if the stored key is used because the environment has none. */
export function usesStored(env: KeyEnvironment, variable: string): boolean {
  return !env[variable]?.trim() && storedIn(env, variable) !== undefined;
}

/** All stored keys, for code that keeps secrets out of what is written. */
export function storedSecrets(env: KeyEnvironment): string[] {
  return (env as Holder)[STORED]?.values() ?? [];
}

export function storedProblem(env: KeyEnvironment): string | undefined {
  return (env as Holder)[STORED]?.problem;
}
