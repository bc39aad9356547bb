/**
 * A configuration file: YAML of known names; a name with dots may be written as nested maps. An error is one line with
 * the file, the line and the column. The parser is loaded when there is something to parse.
 */

import { readFile, stat } from "node:fs/promises";
import type { Document, LineCounter, Pair } from "yaml";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { looksSecret } from "../../base/secret-shapes.ts";
import { clip, nearest } from "../../base/text.ts";
import { CONFIG_NAMES, type ConfigName, isConfigName } from "./config-keys.ts";
import { checkConfigValue } from "./config-value.ts";
import { toCatalog } from "./config-vendors.ts";

export interface ConfigFile {
  readonly path: string;
  /** The bytes as read: what is trusted is exactly what was parsed. */
  readonly bytes: Buffer;
  readonly settings: ReadonlyMap<ConfigName, unknown>;
}

/** A person writes some hundred lines; a larger file is something else. */
const MAX_BYTES = 1024 * 1024;

/** Undefined when the file does not exist. `vendors` are those of the layers below, which the file may name. */
export async function readConfigFile(
  path: string,
  vendors?: JsonObject | undefined,
): Promise<ConfigFile | undefined> {
  const bytes = await readBytes(path);
  if (!bytes) return undefined;
  return { path, bytes, settings: await parseConfigFile(path, toText(path, bytes), vendors) };
}

export async function parseConfigFile(
  path: string,
  text: string,
  vendors?: JsonObject | undefined,
): Promise<ReadonlyMap<ConfigName, unknown>> {
  if (text.trim() === "") return new Map();
  const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw invalid(at(path, lines, problem.pos[0]), toReason(problem));
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return new Map();
  if (!isMap(contents)) {
    throw invalid(at(path, lines, 0), "The file must have lines of the form `name: value`.");
  }
  const place = { path, lines, document };
  const pairs = contents.items.flatMap((pair) => readPairs(pair, "", { ...place, isMap }));
  const twice = pairs.find(({ name }, at) => pairs.findIndex((one) => one.name === name) !== at);
  if (twice) throw invalid(at(path, lines, 0), `\`${twice.name}\` is set twice.`);
  return checkPairs(pairs, vendors);
}

/** The file's own vendors first: other settings may name them, in any order. */
function checkPairs(
  pairs: readonly ReadPair[],
  vendors: JsonObject | undefined,
): ReadonlyMap<ConfigName, unknown> {
  const given = pairs.find(({ name }) => name === "vendors");
  const own = given && checkConfigValue("vendors", given.value, given.where);
  const catalog = toCatalog({ ...vendors, ...(isJsonObject(own) ? own : {}) });
  const checked = pairs.map(({ name, value, where }): [ConfigName, unknown] => [
    name,
    checkConfigValue(name, value, where, catalog),
  ]);
  return new Map(checked);
}

async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    // Checked before it is opened: opening a pipe would wait for a writer.
    const stats = await stat(path);
    if (stats.isDirectory()) throw invalid(path, "This is a folder, not a configuration file.");
    if (!stats.isFile()) throw invalid(path, "This is not a regular file.");
    if (stats.size > MAX_BYTES) throw invalid(path, "This is too large for a configuration file.");
    return await readFile(path);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const reason =
      code === "EACCES" ? "You may not read this file." : `It is unreadable (${code}).`;
    throw new Failure("invalid_request", `${path}: ${reason}`, { cause: thrown });
  }
}

function toText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Failure("invalid_request", `${path}: The file is not UTF-8 text.`, { cause });
  }
}

interface Place {
  readonly path: string;
  readonly lines: LineCounter;
  readonly document: Document;
}

interface MapPlace extends Place {
  readonly isMap: (node: unknown) => node is { readonly items: readonly Pair[] };
}

/** `agent: { subagent: { max_depth: 5 } }` is `agent.subagent.max_depth: 5`. */
function readPairs(pair: Pair, above: string, place: MapPlace): ReadPair[] {
  const name = `${above}${String(toPlain(pair.key, place))}`;
  const leads = CONFIG_NAMES.some((known) => known.startsWith(`${name}.`));
  if (!leads || !place.isMap(pair.value)) return [readPair(pair, name, place)];
  return pair.value.items.flatMap((inner) => readPairs(inner, `${name}.`, place));
}

interface ReadPair {
  readonly name: ConfigName;
  readonly value: unknown;
  /** The beginning of messages about it. */
  readonly where: string;
}

function readPair({ key, value }: Pair, name: string, place: Place): ReadPair {
  const where = at(place.path, place.lines, startOf(key));
  const plain = toPlain(value, place);
  // Before anything else, so that no other message shows the value.
  if (looksSecret(plain) || looksSecret(name)) throw invalid(where, SECRET_ADVICE);
  if (!isConfigName(name))
    throw invalid(where, `Unknown setting \`${clip(name, 60)}\`.${hintFor(name)}`);
  return { name, value: plain, where: `${where} \`${name}\`` };
}

const SECRET_ADVICE =
  "This looks like a key, and keys do not belong in files. Put it in an environment variable and name that with `api_key_name`.";

function hintFor(name: string): string {
  if (/^(api_?)?(key|token|secret)$/i.test(name)) {
    return " A key is named by its environment variable: `api_key_name`.";
  }
  const guess = nearest(name, CONFIG_NAMES);
  return guess === undefined ? " See `offshoot config`." : ` Did you mean \`${guess}\`?`;
}

function toPlain(node: unknown, { path, lines, document }: Place): unknown {
  if (!isNode(node)) return node;
  try {
    return node.toJS(document, { maxAliasCount: 100 });
  } catch (cause) {
    // An alias of nothing, or of so much that it would fill the memory.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid_request", `${at(path, lines, startOf(node))} ${reason}.`, { cause });
  }
}

interface Node {
  readonly range?: readonly [number, number, number] | null;
  toJS(document: Document, options: { maxAliasCount: number }): unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "toJS" in value;
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

const REASONS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "This name is used a second time here",
  MULTIPLE_DOCS: "A second document begins here; there may be one",
};

function toReason({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${REASONS[code] ?? `Invalid YAML: ${clip(message, 160)}`}.`;
}

function at(path: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${path}:${line}:${col}:`;
}

function invalid(where: string, reason: string): Failure {
  const lead = where.endsWith(":") ? where : `${where}:`;
  return new Failure("invalid_request", `${lead} ${reason}`);
}
