/**
 * Finds the agents of the user and of the project. A project's file replaces the user's of the same name, but only if
 * it is trusted: a file that the user has not looked at replaces nothing.
 */

import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { type AgentDefinition, type AgentScope, UNEDITED_PROBLEM } from "./definition.ts";

export interface AgentPlace {
  readonly scope: AgentScope;
  readonly folder: string;
  /** The path of a file or folder in it that another user of this machine owns: then nothing of the place is read. */
  readonly foreign?: string | undefined;
  /** Says whether the file may be used as it is; asked only for a project's files. */
  standingOf(file: ReadFile): Promise<Standing>;
}

interface ReadFile {
  readonly path: string;
  /** The exact bytes that were parsed. */
  readonly bytes: Buffer;
}

type Standing = "trusted" | "changed" | "unknown";

/** `shadowed`: a project's agent has the same name. */
type AgentStanding = "used" | "shadowed" | "untrusted" | "changed" | "broken";

export interface AgentFile {
  /** From the file's name: a file that cannot be read has no other name. */
  readonly name: string;
  readonly path: string;
  readonly scope: AgentScope;
  readonly standing: AgentStanding;
  /** Undefined if it is broken. */
  readonly definition: AgentDefinition | undefined;
  /** Why it is broken; empty if it is not. */
  readonly problem: string;
  /** Everything that was read for it: these are the bytes that the user trusts. */
  readonly files: readonly ReadFile[];
}

export interface LoadedAgents {
  /** The agents that can be used, by name. */
  readonly agents: readonly AgentDefinition[];
  /** Every file that was found, the user's first. */
  readonly files: readonly AgentFile[];
  /** Agents that were left out and why, a line each, for stderr. */
  readonly warnings: readonly string[];
}

/** `places` are in rising order: if several have a name, the last one wins. */
export async function loadAgents(places: readonly AgentPlace[]): Promise<LoadedAgents> {
  const found: AgentFile[] = [];
  for (const place of places.filter(({ foreign }) => foreign === undefined)) {
    for (const name of await listFiles(place.folder)) found.push(await readAgent(name, place));
  }
  const files = found.map((file, at) => toShadowed(file, found.slice(at + 1)));
  const agents = files.flatMap(({ standing, definition }) =>
    standing === "used" && definition ? [definition] : [],
  );
  return {
    agents: agents.sort((a, b) => (a.name < b.name ? -1 : 1)),
    files,
    warnings: [...places.flatMap(toForeignWarning), ...files.flatMap(toWarning)],
  };
}

/** A broken file of a trusted project keeps its name: no other agent must answer for it. */
function toShadowed(file: AgentFile, later: readonly AgentFile[]): AgentFile {
  const isTaken = later.some(
    ({ name, standing }) => name === file.name && (standing === "used" || standing === "broken"),
  );
  return isTaken && file.standing === "used" ? { ...file, standing: "shadowed" } : file;
}

function toForeignWarning({ folder, foreign }: AgentPlace): string[] {
  if (foreign === undefined) return [];
  return [`${folder} is not read: ${foreign} belongs to another user.`];
}

function toWarning({ name, path, standing, problem }: AgentFile): string[] {
  // Every command prints it until the user has edited the file, so it is short.
  if (standing === "broken" && problem.endsWith(UNEDITED_PROBLEM)) {
    return [`agent \`${name}\` is left out: edit its description (\`offshoot agents check\`)`];
  }
  if (standing === "broken") return [`The agent \`${name}\` is left out. ${problem}`];
  if (standing !== "untrusted" && standing !== "changed") return [];
  const why = standing === "changed" ? "has changed since it was trusted" : "is not trusted";
  return [
    `${path} ${why}, so the agent \`${name}\` is left out. Look at it, then run \`offshoot agents trust ${name}\`.`,
  ];
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return [];
    throw new Failure("invalid_request", `${folder} cannot be read (${thrown.code}).`, {
      cause: thrown,
    });
  });
  return names.filter((name) => name.endsWith(".md") && !name.startsWith(".")).sort();
}

async function readAgent(fileName: string, place: AgentPlace): Promise<AgentFile> {
  const { scope } = place;
  const path = join(place.folder, fileName);
  const known = { name: basename(fileName, ".md"), path, scope };
  const files: ReadFile[] = [];
  try {
    const file = await readSmall(path);
    files.push(file);
    const { parseAgentFile } = await import("./agent-file.ts");
    const definition = await parseAgentFile(toText(file), path);
    const schema = await readSchemaFile(definition, files);
    const whole = schema ? { ...definition, outputSchema: schema } : definition;
    return {
      ...known,
      standing: await toStanding(place, files),
      definition: whole,
      problem: "",
      files,
    };
  } catch (thrown) {
    const { message } = toFailure(thrown);
    // A file that is not trusted is only that, broken or not: it must not take a name.
    const trusted = files.length > 0 ? await toStanding(place, files) : "untrusted";
    const standing = scope === "user" || trusted === "used" ? "broken" : trusted;
    return { ...known, standing, definition: undefined, problem: message, files };
  }
}

async function toStanding(place: AgentPlace, files: readonly ReadFile[]): Promise<AgentStanding> {
  if (place.scope === "user") return "used";
  for (const file of files) {
    const standing = await place.standingOf(file);
    if (standing !== "trusted") return standing === "changed" ? "changed" : "untrusted";
  }
  return "used";
}

/** Instructions are pages, not books; a larger file is something else. */
const MAX_BYTES = 256 * 1024;

async function readSmall(path: string): Promise<ReadFile> {
  try {
    // Checked before it is opened: opening a pipe would wait for a writer.
    const stats = await stat(path);
    if (!stats.isFile()) throw invalid(path, "This is not a regular file.");
    if (stats.size > MAX_BYTES) throw invalid(path, "This is larger than an agent file may be.");
    return { path, bytes: await readFile(path) };
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "There is no such file." : `It is unreadable (${code}).`;
    throw invalid(path, reason, thrown);
  }
}

function toText({ path, bytes }: ReadFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(path, "The file is not UTF-8 text.", cause);
  }
}

/** The schema must be in the folder of the agents or below it: a project must not name other files of the user. */
async function readSchemaFile(
  { path, schemaFile }: AgentDefinition,
  files: ReadFile[],
): Promise<JsonObject | undefined> {
  if (schemaFile === undefined) return undefined;
  const folder = dirname(path);
  const target = resolve(folder, schemaFile);
  if (!isBelow(folder, target) || !(await isReallyBelow(folder, target))) {
    throw invalid(path, `The schema \`${schemaFile}\` is not in ${folder}.`);
  }
  const file = await readSmall(target);
  files.push(file);
  const schema = tryParseJson(toText(file));
  if (isJsonObject(schema)) return schema;
  throw invalid(target, "This is not a JSON Schema: it must be a JSON object.");
}

async function isReallyBelow(folder: string, target: string): Promise<boolean> {
  const real = await realpath(target).catch(() => undefined);
  return real === undefined || isBelow(await realpath(folder), real);
}

function isBelow(folder: string, target: string): boolean {
  const [first = ""] = relative(folder, target).split(sep);
  return first !== ".." && first !== "" && !isAbsolute(first);
}

function invalid(path: string, reason: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `${path}: ${reason}`, { cause });
}
