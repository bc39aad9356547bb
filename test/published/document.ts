/**
 * The two published descriptions of the API that tests hold answers against. In a clone they are our own, written
 * in the files beside this one; with `npm run test:recordings -- DIR` they are the documents that were published.
 */

import { readdirSync, readFileSync } from "node:fs";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { readOracle, recordingsFolder } from "../recordings/folder.ts";
import { parseNotation } from "./notation.ts";
import { toSchemas } from "./schemas.ts";

export type DocumentName = "openai" | "open-responses";

export interface PublishedDocument extends JsonObject {
  readonly components: { readonly schemas: JsonObject };
}

/** Reads the files again with each call. */
export function publishedDocument(name: DocumentName): PublishedDocument {
  return recordingsFolder === undefined ? ownDocument(name) : realDocument(name);
}

/** Our description, from every file of the folder of this name. */
export function ownDocument(name: DocumentName): PublishedDocument {
  // From build/test/published/ to the sources: the compiler copies no data.
  const folder = new URL(`../../../test/published/${name}/`, import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith(".txt"));
  const statements = files.flatMap((file) =>
    parseNotation(readFileSync(new URL(file, folder), "utf8"), file),
  );
  return { components: { schemas: toSchemas(statements) } };
}

/** The published document as it is meant. */
export function realDocument(name: DocumentName): PublishedDocument {
  return asMeant(JSON.parse(readOracle(name)) as Json) as PublishedDocument;
}

/**
 * The documents write `nullable` beside `enum` and `$ref`, where JSON Schema ignores it, and `oneOf` for
 * alternatives that overlap: a chat message with parts fits two of them.
 */
function asMeant(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asMeant);
  if (!isJsonObject(schema)) return schema;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key === "oneOf" ? "anyOf" : key,
      asMeant(value ?? null),
    ]),
  );
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
}
