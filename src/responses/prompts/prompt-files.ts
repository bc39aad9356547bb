/**
 * Reads prompts from files of a folder: `<id>.md`, or `<id>@<version>.md` for one version. A file may begin with YAML
 * between two lines of dashes. Read again for each request, so a changed file takes effect at once.
 */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { FindPrompt, StoredPrompt } from "./prompt.ts";

/** No separators and no leading dot: a name cannot lead out of the folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/** `folder` is undefined for a server without prompts. */
export function createFindPrompt(folder: string | undefined): FindPrompt {
  return async (id, version) => {
    if (folder === undefined || !NAME.test(id)) return undefined;
    if (version !== undefined && !NAME.test(version)) return undefined;
    const name = version === undefined ? `${id}.md` : `${id}@${version}.md`;
    const text = await readIfThere(join(folder, name));
    return text === undefined ? undefined : await parsePrompt(text, name);
  };
}

/** The names of all prompts, without versions; none without a folder. */
export async function listPrompts(folder: string | undefined): Promise<readonly string[]> {
  if (folder === undefined) return [];
  const files = await readdir(folder).catch(() => []);
  const names = files.filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3));
  return names.filter((name) => NAME.test(name)).sort();
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Failure("internal", `The prompt \`${path}\` cannot be read.`, { cause });
  }
}

const FRONT = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/;

async function parsePrompt(text: string, name: string): Promise<StoredPrompt> {
  const front = FRONT.exec(text);
  const body = front ? text.slice(front[0].length) : text;
  return { fields: front ? await parseFields(front[1] ?? "", name) : {}, text: body.trim() };
}

async function parseFields(yaml: string, name: string): Promise<JsonObject> {
  const { parse } = await import("yaml");
  let fields: unknown;
  try {
    fields = parse(yaml);
  } catch (cause) {
    throw new Failure("internal", `The prompt \`${name}\` begins with broken YAML.`, { cause });
  }
  if (fields === null || fields === undefined) return {};
  if (isJsonObject(fields)) return fields;
  throw new Failure("internal", `The prompt \`${name}\` must begin with names and values.`);
}
