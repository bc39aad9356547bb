/**
 * Reads the JSON schema that an answer must fit from a file, and checks it before anything is sent. A failure names
 * the file and the line: people find a comma there, not in a whole schema.
 */

import { createSchemaCheck } from "../agent/schema-check.ts";
import { Failure, toFailure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { clip } from "../base/text.ts";
import { readTextFile } from "./read-files.ts";

export async function readSchema(file: string, cwd: string): Promise<JsonObject> {
  const text = await readTextFile(file, cwd);
  const schema = parse(text, file);
  if (!isJsonObject(schema)) {
    throw invalid(`The schema \`${file}\` is not a JSON Schema: it must be an object.`);
  }
  try {
    await createSchemaCheck(schema, "command");
    return schema;
  } catch (thrown) {
    throw await toNamed(toFailure(thrown), file, text);
  }
}

function parse(text: string, file: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const [, position] = /\bposition (\d+)/.exec(said) ?? [];
    const reason = said.replace(/ (in JSON )?at position .*$/, "");
    const where = position === undefined ? file : `${file}:${lineAt(text, Number(position))}`;
    throw invalid(`The schema \`${where}\` is not JSON: ${clip(reason, 120)}.`, cause);
  }
}

/** The message begins with the path of the field at fault, such as `properties/a/type`. */
async function toNamed({ message, cause, code }: Failure, file: string, text: string) {
  const reason = message.replace(/^The output schema is not a valid JSON Schema: /, "");
  if (reason === message) return new Failure(code, `The schema \`${file}\`: ${message}`, { cause });
  const [, path = ""] = /^`?([^\s`]+)`? must /.exec(reason) ?? [];
  const line = await lineOfPath(text, path);
  const where = line === undefined ? file : `${file}:${line}`;
  return invalid(`The schema \`${where}\` is not a valid JSON Schema: ${reason}`, cause);
}

/** The line of the value at a path like `properties/a/type`. JSON is YAML, whose parser knows places. */
async function lineOfPath(text: string, path: string): Promise<number | undefined> {
  const { isNode, parseDocument } = await import("yaml");
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = parseDocument(text).getIn(names, true);
  return isNode(found) && found.range ? lineAt(text, found.range[0]) : undefined;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function invalid(message: string, cause?: unknown): Failure {
  return new Failure("invalid_request", message, { cause, param: "schema" });
}
