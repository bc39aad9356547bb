/**
 * The settings, in layers: built-in, the user's file, the project's file, environment, flags. The
 * last layer that names a setting wins, and every value knows where it came from.
 *
 * A project's file comes with other people's code, so what is guarded in it counts only when the
 * user has trusted the file as it is.
 */

import { dirname, join, resolve } from "node:path";
import { type Environment, projectConfigFile, type UserPaths, userPaths } from "../paths.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValue,
  rowOf,
  variableOf,
} from "./config-keys.ts";
import { checkConfigValue, parseConfigText } from "./config-value.ts";

export interface Config {
  get<Name extends ConfigName>(name: Name): ConfigValue<Name>;
  /** "default", "user file PATH", "project file PATH", "OFFSHOOT_MODEL" or "--model". */
  sourceOf(name: ConfigName): string;
  /** What each layer says, of a setting that every layer adds to, or the one that counts. */
  layersOf(name: ConfigName): readonly ConfigEntry[];
  /** Every setting, in the table's order. */
  entries(): readonly ConfigEntry[];
  /** What was not obeyed and why, a line each, for stderr. */
  readonly warnings: readonly string[];
  readonly paths: UserPaths;
}

interface ConfigEntry {
  readonly name: ConfigName;
  /** Undefined where nothing set it and the row has no default. */
  readonly value: unknown;
  readonly source: string;
}

interface ConfigPlaces {
  readonly env: Environment;
  readonly home: string;
  readonly cwd: string;
  /** The options of a command, by the names of the rows' `flag`. */
  readonly flags?: Flags;
}

type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Rejects with one line for a value, a name or a file that is wrong. */
export async function loadConfig({ env, home, cwd, flags = {} }: ConfigPlaces): Promise<Config> {
  const paths = userPaths(env, home);
  const warnings: string[] = [];
  const held = new Map<ConfigName, ConfigEntry>();
  const layers = new Map<ConfigName, ConfigEntry[]>();
  const hold = (name: ConfigName, given: unknown, source: string, base: string): void => {
    const entry = { name, value: toAbsolute(name, given, { base, home }), source };
    const before = rowOf(name).joined ? (layers.get(name) ?? []) : [];
    layers.set(name, [...before, entry]);
    held.set(name, stack(held.get(name), entry));
  };

  for (const name of CONFIG_NAMES) hold(name, rowOf(name).default, "default", cwd);
  const user = await readUserFile(paths.configFile, env, warnings);
  for (const [name, value] of user?.settings ?? []) {
    hold(name, value, `user file ${paths.configFile}`, dirname(paths.configFile));
  }
  const project = await readProjectFile(projectConfigFile(cwd, home), paths, warnings);
  for (const [name, value] of project?.settings ?? []) {
    const path = project?.path ?? "";
    hold(name, value, `project file ${path}`, join(dirname(path), ".."));
  }
  for (const name of CONFIG_NAMES) {
    const variable = variableOf(name);
    const text = env[variable];
    if (text) hold(name, parseConfigText(name, text, `\`${variable}\``), variable, cwd);
  }
  for (const name of CONFIG_NAMES) {
    const given = readFlag(name, flags);
    if (given) hold(name, given.value, given.source, cwd);
  }

  return {
    get: <Name extends ConfigName>(name: Name) => held.get(name)?.value as ConfigValue<Name>,
    sourceOf: (name) => held.get(name)?.source ?? "default",
    layersOf: (name) => layers.get(name) ?? [],
    entries: () => [...held.values()],
    warnings,
    paths,
  };
}

/** A layer on top of those below it. */
function stack(below: ConfigEntry | undefined, layer: ConfigEntry): ConfigEntry {
  if (!below || !rowOf(layer.name).joined || below.source === "default") return layer;
  const value = Array.isArray(layer.value)
    ? [...(below.value as readonly unknown[]), ...layer.value]
    : { ...(below.value as object), ...(layer.value as object) };
  return { name: layer.name, value, source: `${below.source}, ${layer.source}` };
}

async function readUserFile(
  path: string,
  env: Environment,
  warnings: string[],
): Promise<ConfigFile | undefined> {
  const file = await readConfigFile(path);
  if (!file && env["OFFSHOOT_CONFIG"]) {
    warnings.push(`\`OFFSHOOT_CONFIG\` names ${path}, which does not exist.`);
  }
  return file;
}

/** The project's file without what it may not set. */
async function readProjectFile(
  path: string | undefined,
  paths: UserPaths,
  warnings: string[],
): Promise<ConfigFile | undefined> {
  const file =
    path === undefined || path === paths.configFile ? undefined : await readConfigFile(path);
  if (!file) return undefined;
  const guarded = guardedIn(file);
  if (guarded.length === 0) return file;
  const { standingOf } = await import("../trust.ts");
  const standing = await standingOf(paths.trustFile, file);
  if (standing === "trusted") return file;
  const names = guarded.map((name) => `\`${name}\``).join(", ");
  const verb = guarded.length === 1 ? "is" : "are";
  const why = standing === "changed" ? "has changed since it was trusted" : "is not trusted";
  warnings.push(
    `${file.path} ${why}, so ${names} in it ${verb} ignored. Look at the file, then run \`offshoot config trust\`.`,
  );
  const settings = [...file.settings].filter(([name]) => !guarded.includes(name));
  return { ...file, settings: new Map(settings) };
}

/** The settings of a file that count only when it is trusted. */
export function guardedIn({ settings }: Pick<ConfigFile, "settings">): ConfigName[] {
  return [...settings.keys()].filter((name) => rowOf(name).guarded);
}

function readFlag(
  name: ConfigName,
  flags: Flags,
): { readonly value: unknown; readonly source: string } | undefined {
  const { flag } = rowOf(name);
  const given = flag === undefined ? undefined : flags[flag];
  if (given === undefined || given === false) return undefined;
  const source = `--${flag}`;
  const where = `\`${source}\``;
  if (given === true) {
    return { value: checkConfigValue(name, !flag?.startsWith("no-"), where), source };
  }
  const text = typeof given === "string" ? given : given.join(",");
  return { value: parseConfigText(name, text, where), source };
}

function toAbsolute(
  name: ConfigName,
  value: unknown,
  { base, home }: { readonly base: string; readonly home: string },
): unknown {
  const row = rowOf(name);
  if (row.type !== "string" || row.form !== "path" || typeof value !== "string") return value;
  return value.startsWith("~/") ? join(home, value.slice(2)) : resolve(base, value);
}
