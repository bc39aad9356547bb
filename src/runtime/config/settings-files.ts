/**
 * Reads the settings files of the user and of the project. A project's file may only narrow what its folder may do
 * until the user trusts it.
 */

import type { Environment } from "../../base/environment.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { findForeign, type UserPaths } from "../paths.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { type ConfigName, rowOf } from "./config-keys.ts";

export function toMap(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export async function readUserFile(
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

interface ProjectReading {
  readonly paths: UserPaths;
  readonly uid: number | undefined;
  /** The value that the layers below give. */
  readonly ownOf: (name: ConfigName) => unknown;
}

/** The project's file without what it may not set. */
export async function readProjectFile(
  path: string | undefined,
  { paths, uid, ownOf }: ProjectReading,
  warnings: string[],
): Promise<ConfigFile | undefined> {
  if (path === undefined || path === paths.configFile) return undefined;
  const foreign = findForeign(path, uid);
  if (foreign !== undefined) {
    warnings.push(`${path} is not read: ${foreign} belongs to another user.`);
    return undefined;
  }
  const whole = await readConfigFile(path, toMap(ownOf("vendors")));
  const read = whole && withoutOwn(whole, warnings);
  if (!read) return undefined;
  const usual = read.settings.has("tools") ? await usualTools() : undefined;
  const own = (name: ConfigName): unknown => ownOf(name) ?? (name === "tools" ? usual : undefined);
  const file = { ...read, settings: toNarrowed(read.settings, own) };
  const widened = [...read.settings.keys()].filter((name) => !file.settings.has(name));
  const guarded = [...guardedIn(file), ...widened];
  if (guarded.length === 0) return file;
  const { standingOf } = await import("../trust.ts");
  const standing = await standingOf(paths.trustFile, file);
  if (standing === "trusted") return read;
  const names = guarded.map((name) => `\`${name}\``).join(", ");
  const verb = guarded.length === 1 ? "is" : "are";
  const why = standing === "changed" ? "has changed since it was trusted" : "is not trusted";
  warnings.push(
    `${file.path} ${why}, so ${names} in it ${verb} ignored. Look at the file, then run \`offshoot config trust\`.`,
  );
  const settings = [...file.settings].filter(([name]) => !guarded.includes(name));
  return { ...file, settings: new Map(settings) };
}

/** The file without settings that only the user may set, whether it is trusted or not. */
function withoutOwn(file: ConfigFile, warnings: string[]): ConfigFile {
  const own = [...file.settings.keys()].filter((name) => rowOf(name).own);
  if (own.length === 0) return file;
  const names = own.map((name) => `\`${name}\``).join(", ");
  warnings.push(`${file.path}: ${names} is ignored. Only your own settings file can set it.`);
  return { ...file, settings: new Map([...file.settings].filter(([name]) => !own.includes(name))) };
}

/** The tools of a run if its user has named none. */
async function usualTools(): Promise<readonly string[]> {
  const { CATALOGUE } = await import("../../tools/catalogue/catalogue.ts");
  const usual = CATALOGUE.filter(({ isUsual }) => isUsual).map(({ tool }) => tool.spec.name);
  const { DELEGATING_TOOLS } = await import("../../delegation/tools/names.ts");
  return [...usual, ...DELEGATING_TOOLS];
}

/** Removes limits that are higher than the user's. A list keeps only what the user's own has too. */
function toNarrowed(
  settings: ConfigFile["settings"],
  ownOf: ProjectReading["ownOf"],
): ConfigFile["settings"] {
  const entries = [...settings].flatMap(([name, value]): [ConfigName, unknown][] => {
    const own = ownOf(name);
    if (!rowOf(name).narrows || own === undefined) return [[name, value]];
    if (Array.isArray(value) && Array.isArray(own)) {
      const kept = value.filter((one) => own.includes(one) || one === "none");
      return kept.length > 0 || value.length === 0 ? [[name, kept]] : [];
    }
    return Number(value) <= Number(own) ? [[name, value]] : [];
  });
  return new Map(entries);
}

/** The settings of a file that are used only when it is trusted. */
function guardedIn({ settings }: Pick<ConfigFile, "settings">): ConfigName[] {
  return [...settings.keys()].filter((name) => rowOf(name).guarded);
}
