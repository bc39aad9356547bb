/**
 * The keys that a person has stored (`offshoot auth set`), beside the environment they belong to.
 *
 * They travel with the environment object but are not variables of it: who lists or copies the variables for a command,
 * an MCP server or a child process never meets them. Whoever needs a key asks here by the name of its variable, and the
 * environment's own value wins.
 */

export type KeyEnvironment = Readonly<Record<string, string | undefined>>;

/** Kept in a class with private fields: a log that prints the environment shows nothing of them. */
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

  /** Why stored keys could not be read, in one line with what to do; undefined where all were. */
  get problem(): string | undefined {
    return this.#problem;
  }
}

/** A copy of the environment (`{...env}`) has them too: symbols are copied, and never listed. */
const STORED = Symbol("stored keys");

interface Holder {
  [STORED]?: StoredKeys;
}

/** `keys` by the names of their variables. In place of those that were attached before. */
export function attachStoredKeys(
  env: KeyEnvironment,
  keys: ReadonlyMap<string, string>,
  problem?: string | undefined,
): void {
  (env as Holder)[STORED] = new StoredKeys(keys, problem);
}

/** Makes variables of the environment stored keys: those that a parent process handed over. */
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

/** The stored key of this variable, whatever the environment says. */
export function storedIn(env: KeyEnvironment, variable: string): string | undefined {
  return (env as Holder)[STORED]?.get(variable);
}

/** Whether the stored key is the one that counts: the environment has none. */
export function usesStored(env: KeyEnvironment, variable: string): boolean {
  return !env[variable]?.trim() && storedIn(env, variable) !== undefined;
}

/** All of them, for whoever keeps secrets out of what is written. */
export function storedSecrets(env: KeyEnvironment): string[] {
  return (env as Holder)[STORED]?.values() ?? [];
}

export function storedProblem(env: KeyEnvironment): string | undefined {
  return (env as Holder)[STORED]?.problem;
}
