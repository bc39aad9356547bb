/** `offshoot config`: shows the settings and where each comes from, and changes them. */

import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { type Config, loadConfig } from "../../runtime/config/config.ts";
import { readConfigFile } from "../../runtime/config/config-file.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  isConfigName,
  rowOf,
} from "../../runtime/config/config-keys.ts";
import { PROJECT_FILE, projectConfigFile, userPaths } from "../../runtime/paths.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";

export async function run(call: CommandCall, io: Io): Promise<number> {
  const [action = "show", ...words] = call.words;
  const act = ACTIONS[action];
  if (!act) throw new Failure("invalid_request", `Unknown command \`offshoot config ${action}\`.`);
  const [min, max] = act.words;
  if (words.length < min || words.length > max) {
    throw new Failure("invalid_request", `Write \`offshoot config ${action} ${act.usage}\`.`);
  }
  await act.run({
    words,
    io,
    isJson: call.options["json"] === true,
    isProject: call.options["project"] === true,
  });
  return 0;
}

/** The settings as lines of a table; a long value is cut to the table's width. */
export function renderConfig(config: Pick<Config, "entries">): string {
  const rows = config
    .entries()
    .map(({ name, value, source }) => [name, toShown(value), source] as const);
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.min(40, Math.max(...rows.map(([, value]) => value.length)));
  return rows
    .map(
      ([name, value, source]) =>
        `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${source}\n`,
    )
    .join("");
}

interface Action {
  readonly io: Io;
  readonly words: readonly string[];
  readonly isJson: boolean;
  readonly isProject: boolean;
}

interface ActionRow {
  readonly usage: string;
  /** The least and the most words it takes. */
  readonly words: readonly [number, number];
  readonly run: (action: Action) => Promise<void>;
}

const ACTIONS: Readonly<Record<string, ActionRow | undefined>> = {
  show: { usage: "", words: [0, 0], run: show },
  get: { usage: "KEY", words: [1, 1], run: get },
  set: { usage: "KEY VALUE", words: [2, 2], run: set },
  path: { usage: "", words: [0, 0], run: showPaths },
  trust: { usage: "[DIR]", words: [0, 1], run: trustFolder },
  untrust: { usage: "[DIR]", words: [0, 1], run: untrustFolder },
};

async function show({ io, isJson }: Action): Promise<void> {
  const config = await openConfig({}, io);
  if (!isJson) return io.stdout.write(renderConfig(config));
  const settings = Object.fromEntries(
    config.entries().map(({ name, value = null, source }) => [name, { value, source }]),
  );
  await printJson(io, { settings, warnings: config.warnings });
}

async function get({ io, words, isJson }: Action): Promise<void> {
  const name = toName(words[0]);
  const config = await openConfig({}, io);
  const value: unknown = config.get(name);
  if (isJson) return printJson(io, { name, value: value ?? null, source: config.sourceOf(name) });
  if (value !== undefined) await io.stdout.write(`${toText(value)}\n`);
}

async function set({ io, words, isProject }: Action): Promise<void> {
  const [key, text = ""] = words;
  const name = toName(key);
  const { configFile, trustFile } = userPaths(io.env, io.home);
  const file = isProject ? toProjectFile(io) : configFile;
  await checkNewRules(name, text, io);
  const { writeSetting } = await import("../../runtime/config/config-write.ts");
  const vendors = await readVendors(io);
  const { isTrusted } = await writeSetting({ file, name, text, trustFile, vendors });
  await io.stdout.write(`${name} is set in ${file}\n`);
  const { guarded, narrows } = rowOf(name);
  if (isProject && (guarded || narrows) && !isTrusted) {
    const when = guarded
      ? "only in a trusted file"
      : "above your own setting only in a trusted file";
    await io.stderr.write(`\`${name}\` takes effect ${when}. Run \`offshoot config trust\`.\n`);
  }
}

/**
 * The vendors that the settings define. None if the settings cannot be read: the command that needs them reports
 * that.
 */
async function readVendors(io: Io): Promise<JsonObject | undefined> {
  const places = { env: io.env, home: io.home, cwd: io.cwd, flags: {} };
  return await loadConfig(places).then(
    (config) => config.get("vendors"),
    () => undefined,
  );
}

/** An invalid rule is refused here, before every later command would refuse it. */
async function checkNewRules(name: ConfigName, text: string, io: Io): Promise<void> {
  const [{ RULE_VERDICTS }, { parseConfigText }] = await Promise.all([
    import("../../tools/gate/rules.ts"),
    import("../../runtime/config/config-value.ts"),
  ]);
  const verdict = RULE_VERDICTS.find((one) => one === name);
  if (verdict === undefined) return;
  const { checkRules } = await import("../../runtime/settings.ts");
  const rules = parseConfigText(name, text, `\`${name}\``);
  const config = await loadConfig({ env: io.env, home: io.home, cwd: io.cwd, flags: {} });
  checkRules(config, verdict, Array.isArray(rules) ? rules.map(String) : []);
}

async function showPaths({ io, isJson }: Action): Promise<void> {
  const { configFile, dataDir } = userPaths(io.env, io.home);
  const project = projectConfigFile(io.cwd, io.home);
  if (isJson) {
    return printJson(io, { user: configFile, project: project ?? null, data: dataDir });
  }
  await io.stdout.write(`user     ${configFile}\n`);
  await io.stdout.write(`project  ${project ?? "none"}\n`);
  await io.stdout.write(`data     ${dataDir}\n`);
}

async function trustFolder({ io, words }: Action): Promise<void> {
  const [named] = words;
  if (named !== undefined && !isFolder(io, named)) {
    throw new Failure("invalid_request", `There is no folder \`${named}\`.`);
  }
  const path = findProjectFile(io, words[0]);
  const file = path === undefined ? undefined : await readConfigFile(path, await readVendors(io));
  if (!file) {
    const folder = resolve(io.cwd, words[0] ?? ".");
    throw new Failure("not_found", `There is no ${PROJECT_FILE} in ${folder} or above it.`);
  }
  const { trust } = await import("../../runtime/trust.ts");
  await trust(userPaths(io.env, io.home).trustFile, file);
  await io.stdout.write(`${file.path} is now trusted. Trust it again after you change it.\n`);
  for (const [name, value] of file.settings) {
    if (!takesTrust(name)) continue;
    await io.stdout.write(`  ${name}  ${toShown(value)}\n`);
  }
}

async function untrustFolder({ io, words }: Action): Promise<void> {
  const folder = resolve(io.cwd, words[0] ?? ".");
  // The file of a folder that is gone is untrusted by its path. A file above that folder belongs to another project.
  const found = isFolder(io, folder) ? findProjectFile(io, folder) : undefined;
  const path = found ?? join(folder, PROJECT_FILE);
  const { untrust } = await import("../../runtime/trust.ts");
  const wasTrusted = await untrust(userPaths(io.env, io.home).trustFile, path);
  await io.stdout.write(`${path} ${wasTrusted ? "is no longer trusted" : "was not trusted"}.\n`);
}

/** True if this setting of the file has no effect before the file is trusted. */
function takesTrust(name: ConfigName): boolean {
  const { guarded, narrows } = rowOf(name);
  return guarded === true || narrows !== undefined;
}

function isFolder(io: Io, folder: string): boolean {
  return statSync(resolve(io.cwd, folder), { throwIfNoEntry: false })?.isDirectory() === true;
}

function toName(text = ""): ConfigName {
  if (isConfigName(text)) return text;
  const guess = nearest(text, CONFIG_NAMES);
  const hint = guess === undefined ? "See `offshoot config`." : `Did you mean \`${guess}\`?`;
  throw new Failure("invalid_request", `Unknown setting \`${text}\`. ${hint}`);
}

function findProjectFile(io: Io, folder: string | undefined): string | undefined {
  return projectConfigFile(resolve(io.cwd, folder ?? "."), io.home);
}

/** The file that is read here, or a new one in this folder. */
function toProjectFile(io: Io): string {
  const file = projectConfigFile(io.cwd, io.home);
  if (file !== undefined) return file;
  if (resolve(io.cwd) !== resolve(io.home)) return join(io.cwd, PROJECT_FILE);
  throw new Failure(
    "invalid_request",
    `${dirname(join(io.home, PROJECT_FILE))} would never be read: the home folder is not a project. Leave \`--project\` out.`,
  );
}

async function printJson(io: Io, value: unknown): Promise<void> {
  await io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toShown(value: unknown): string {
  return value === undefined ? "-" : clip(toText(value), 40);
}
