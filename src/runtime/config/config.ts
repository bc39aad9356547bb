/**
 * The settings, in layers: built-in, the user's file, the project's file, environment, flags. The last layer that
 * names a setting wins, and every value knows where it came from.
 *
 * A project's file comes with other people's code. So its guarded settings are used only when the user has trusted the
 * file as it is, and its limits only if they are lower than the user's. A file that another user of this machine owns
 * is not read at all.
 */

import { dirname, join, resolve } from "node:path";
import type { Environment } from "../../base/environment.ts";
import type { JsonObject } from "../../base/json.ts";
import { projectConfigFile, type UserPaths, userPaths } from "../paths.ts";
import { isPath, withoutPassword } from "./address-text.ts";
import { resolveAlias } from "./aliases.ts";
import { parseConfigFile } from "./config-file.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValue,
  rowOf,
  variableOf,
} from "./config-keys.ts";
import { checkConfigValue, parseConfigText, takesEmpty } from "./config-value.ts";
import { toCatalog } from "./config-vendors.ts";
import { readProjectFile, readUserFile, toMap } from "./settings-files.ts";

export interface Config {
  /** `model` is the model itself if an alias was named. */
  get<Name extends ConfigName>(name: Name): ConfigValue<Name>;
  /** "default", "user file PATH", "project file PATH", "OFFSHOOT_MODEL" or "--model". */
  sourceOf(name: ConfigName): string;
  /** The values of all layers, for a setting that every layer adds to; otherwise the one that is used. */
  layersOf(name: ConfigName): readonly ConfigEntry[];
  /** The value of another setting in the layer that set `name`; undefined if that layer does not set it. */
  beside<Name extends ConfigName>(name: ConfigName, other: Name): ConfigValue<Name> | undefined;
  /** Every setting, in the table's order. */
  entries(): readonly ConfigEntry[];
  /** Settings that were ignored and why, a line each, for stderr. */
  readonly warnings: readonly string[];
  readonly paths: UserPaths;
}

interface ConfigEntry {
  readonly name: ConfigName;
  /** Undefined if nothing set it and the row has no default. */
  readonly value: unknown;
  readonly source: string;
}

interface ConfigPlaces {
  readonly env: Environment;
  readonly home: string;
  readonly cwd: string;
  /** The options of a command, by the names of the rows' `flag`. */
  readonly flags?: Flags;
  /** The settings of an agent's file for a run of that agent: above every layer except the flags. */
  readonly agent?: AgentLayer | undefined;
  /** The user that this process runs as; undefined on systems without users. */
  readonly uid?: number | undefined;
  /** The settings of a program, in the form of a file: files and variables are not read then. */
  readonly given?: JsonObject | undefined;
}

export interface AgentLayer {
  /** "agent NAME". */
  readonly source: string;
  /** A limit is used if it is lower than that of the layers before; undefined removes such a limit. */
  readonly settings: ReadonlyMap<ConfigName, unknown>;
}

type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Rejects with one line for an invalid value, name or file. */
export async function loadConfig(places: ConfigPlaces): Promise<Config> {
  const { env, home, cwd, flags = {}, agent, uid = process.getuid?.() } = places;
  const paths = userPaths(env, home);
  const warnings: string[] = [];
  const held = new Map<ConfigName, ConfigEntry>();
  const layers = new Map<ConfigName, ConfigEntry[]>();
  const said = new Map<string, Map<ConfigName, unknown>>();
  const hold = (name: ConfigName, given: unknown, source: string, base: string): void => {
    const entry = { name, value: toAbsolute(name, given, { base, home }), source };
    const layer = said.get(layerOf(source)) ?? new Map<ConfigName, unknown>();
    said.set(layerOf(source), layer.set(name, entry.value));
    const before = rowOf(name).joined ? (layers.get(name) ?? []) : [];
    layers.set(name, [...before, entry]);
    held.set(name, stack(held.get(name), entry));
  };

  for (const name of CONFIG_NAMES) hold(name, rowOf(name).default, "default", cwd);
  const ownOf = (name: ConfigName): unknown => held.get(name)?.value;
  if (places.given) {
    for (const [name, value] of await readGiven(places.given)) hold(name, value, GIVEN, cwd);
  } else {
    await holdOutside();
  }
  for (const [name, value, source] of readAgent(agent, ownOf)) hold(name, value, source, cwd);
  for (const name of CONFIG_NAMES) {
    const given = readFlag(name, flags);
    if (given) hold(name, given.value, given.source, cwd);
  }

  /** Adds the files and the variables. */
  async function holdOutside(): Promise<void> {
    const user = await readUserFile(paths.configFile, env, warnings);
    for (const [name, value] of user?.settings ?? []) {
      hold(name, value, `user file ${paths.configFile}`, dirname(paths.configFile));
    }
    const reading = { paths, uid, ownOf };
    const project = await readProjectFile(projectConfigFile(cwd, home), reading, warnings);
    for (const [name, value] of project?.settings ?? []) {
      const path = project?.path ?? "";
      hold(name, value, `project file ${path}`, join(dirname(path), ".."));
    }
    for (const name of CONFIG_NAMES) {
      const text = readVariable(name, env);
      if (text === undefined) continue;
      const variable = variableOf(name);
      const catalog = toCatalog(toMap(ownOf("vendors")));
      hold(name, parseConfigText(name, text, `\`${variable}\``, catalog), variable, cwd);
    }
  }

  const meant = (name: ConfigName, value: unknown): unknown =>
    name === "model" && typeof value === "string"
      ? resolveAlias(value, toMap(ownOf("aliases")))
      : value;
  return {
    get: <Name extends ConfigName>(name: Name) =>
      meant(name, held.get(name)?.value) as ConfigValue<Name>,
    sourceOf: (name) => held.get(name)?.source ?? "default",
    layersOf: (name) => layers.get(name) ?? [],
    beside: (name, other) =>
      meant(other, said.get(layerOf(held.get(name)?.source ?? ""))?.get(other)) as never,
    entries: () => [...held.values()],
    warnings,
    paths,
  };
}

/** The layer of a program's own settings. */
const GIVEN = "settings";

/** JSON is YAML, so one reader checks both. */
async function readGiven(given: JsonObject): Promise<ReadonlyMap<ConfigName, unknown>> {
  return await parseConfigFile(GIVEN, JSON.stringify(given));
}

/**
 * Undefined if the variable says nothing. The password of an address stays in the variable, because settings are
 * shown.
 */
function readVariable(name: ConfigName, env: Environment): string | undefined {
  const text = env[variableOf(name)];
  const row = rowOf(name);
  if (text === undefined || (text === "" && !takesEmpty(row))) return undefined;
  return row.type === "record" ? withoutPassword(text) : text;
}

/** The settings that an agent's file adds to the layers below it. */
function readAgent(
  agent: AgentLayer | undefined,
  ownOf: (name: ConfigName) => unknown,
): [name: ConfigName, value: unknown, source: string][] {
  if (!agent) return [];
  return [...agent.settings].flatMap(([name, value]): [ConfigName, unknown, string][] => {
    const own = ownOf(name);
    const isMore = typeof value === "number" && typeof own === "number" && value > own;
    return isMore ? [] : [[name, value, agent.source]];
  });
}

/** The layer of a value with this source: the variables are one layer, and so are the flags. */
function layerOf(source: string): string {
  if (source.startsWith("--")) return "flags";
  return source.startsWith("OFFSHOOT_") ? "environment" : source;
}

/** Puts a layer on top of those below it. */
function stack(below: ConfigEntry | undefined, layer: ConfigEntry): ConfigEntry {
  if (!below || !rowOf(layer.name).joined || below.source === "default") return layer;
  const value = Array.isArray(layer.value)
    ? [...(below.value as readonly unknown[]), ...layer.value]
    : { ...(below.value as object), ...(layer.value as object) };
  return { name: layer.name, value, source: `${below.source}, ${layer.source}` };
}

function readFlag(
  name: ConfigName,
  flags: Flags,
): { readonly value: unknown; readonly source: string } | undefined {
  const { flag: usual, textFlag } = rowOf(name);
  const flag = textFlag !== undefined && flags[textFlag] !== undefined ? textFlag : usual;
  const given = flag === undefined ? undefined : flags[flag];
  if (given === undefined || given === false) return undefined;
  const source = `--${flag}`;
  const where = `\`${source}\``;
  if (given === true) {
    return { value: checkConfigValue(name, !flag?.startsWith("no-"), where), source };
  }
  const texts = typeof given === "string" ? [given] : given;
  // An empty text is passed on to the check, even among others.
  const text = texts.find((one) => one.trim() === "") ?? texts.join(",");
  return { value: parseConfigText(name, text, where), source };
}

function toAbsolute(
  name: ConfigName,
  value: unknown,
  { base, home }: { readonly base: string; readonly home: string },
): unknown {
  const row = rowOf(name);
  if (typeof value !== "string") return value;
  if (row.type === "record" && !isPath(value)) return value;
  if (row.type !== "record" && (row.type !== "string" || row.form !== "path")) return value;
  return value.startsWith("~/") ? join(home, value.slice(2)) : resolve(base, value);
}
