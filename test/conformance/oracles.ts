/**
 * The two published descriptions of the API, as validators. Each schema is compiled when it is first
 * needed, once for each process: all of them together would take seconds.
 */

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import {
  type DocumentName,
  type PublishedDocument,
  publishedDocument,
} from "../published/document.ts";

export type OracleName = DocumentName;

export const ORACLES: readonly OracleName[] = ["openai", "open-responses"];

// With `verbose` an error has its schema, which `explain` needs.
const ajv = new Ajv2020({ strict: false, validateFormats: false, verbose: true });
const documents = new Map<OracleName, PublishedDocument>();
const validators = new Map<string, ValidateFunction>();

/** The errors of the value, by one oracle; none if it is valid. The value is read in its sent form. */
export function findFaults(oracle: OracleName, schema: string, value: unknown): string[] {
  const validate = validatorOf(oracle, schema);
  const sent = JSON.parse(JSON.stringify(value)) as Json;
  if (validate(sent)) return [];
  return [`${oracle} ${schema}: ${explain(validate.errors ?? [], sent)}`];
}

/** The name of the schema of an event of this type; undefined if the oracle does not know it. */
export function eventSchemaOf(
  oracle: OracleName,
  type: string,
  { beta = false }: { readonly beta?: boolean } = {},
): string | undefined {
  const names = eventSchemas(oracle);
  const name = names.get(type);
  return beta && name ? `Beta${name}` : name;
}

const eventNames = new Map<OracleName, ReadonlyMap<string, string>>();

function eventSchemas(oracle: OracleName): ReadonlyMap<string, string> {
  const known = eventNames.get(oracle);
  if (known) return known;
  const schemas = schemasOf(oracle);
  const isEvent =
    oracle === "openai"
      ? new Set(namesIn(schemas["ResponseStreamEvent"]))
      : new Set(Object.keys(schemas).filter((name) => name.endsWith("StreamingEvent")));
  const found = new Map<string, string>();
  for (const name of isEvent) for (const type of typesOf(schemas[name])) found.set(type, name);
  eventNames.set(oracle, found);
  return found;
}

/** Every type in a union of the oracle: the kinds of items, of tools. */
export function typesIn(oracle: OracleName, union: string): ReadonlySet<string> {
  const schemas = schemasOf(oracle);
  return new Set(namesIn(schemas[union]).flatMap((name) => typesOf(schemas[name])));
}

function namesIn(union: unknown): string[] {
  if (!isJsonObject(union)) return [];
  const members = [union["oneOf"], union["anyOf"]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return members.flatMap((member) => {
    const reference = isJsonObject(member) ? member["$ref"] : undefined;
    return typeof reference === "string" ? [reference.slice(reference.lastIndexOf("/") + 1)] : [];
  });
}

function typesOf(schema: unknown): string[] {
  if (!isJsonObject(schema) || !isJsonObject(schema["properties"])) return [];
  const type = schema["properties"]["type"];
  if (!isJsonObject(type)) return [];
  return Array.isArray(type["enum"]) ? type["enum"].map(String) : [String(type["const"])];
}

function validatorOf(oracle: OracleName, schema: string): ValidateFunction {
  const key = `${oracle}/${schema}`;
  const known = validators.get(key);
  if (known) return known;
  documentOf(oracle);
  const validate = ajv.compile({ $ref: `${oracle}#/components/schemas/${schema}` });
  validators.set(key, validate);
  return validate;
}

function schemasOf(oracle: OracleName): JsonObject {
  return documentOf(oracle).components.schemas;
}

function documentOf(oracle: OracleName): PublishedDocument {
  const known = documents.get(oracle);
  if (known) return known;
  const document = publishedDocument(oracle);
  documents.set(oracle, document);
  ajv.addSchema(document, oracle);
  rememberTypes(document, []);
  return document;
}

/** The types of the object that a schema, or a field of it, describes. */
const typesOfOwner = new WeakMap<object, readonly string[]>();

function rememberTypes(schema: Json, owner: readonly string[]): void {
  if (Array.isArray(schema)) for (const one of schema) rememberTypes(one, owner);
  if (!isJsonObject(schema)) return;
  const own = typesOf(schema);
  const types = own.length > 0 ? own : owner;
  typesOfOwner.set(schema, types);
  for (const inner of Object.values(schema)) rememberTypes(inner ?? null, types);
}

/** If no member of a union fits, the member with the value's own type describes the errors. */
function explain(errors: readonly ErrorObject[], value: Json): string {
  const told = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "anyOf");
  const own = told.filter(({ instancePath: path, parentSchema }) => {
    const types = typesOfOwner.get(parentSchema ?? {}) ?? [];
    const type = typeAt(value, path) ?? typeAt(value, path.slice(0, path.lastIndexOf("/")));
    return types.length === 0 || type === undefined || types.includes(type);
  });
  const useful = own.length > 0 ? own : told;
  const depth = Math.max(0, ...useful.map(({ instancePath }) => instancePath.split("/").length));
  const deepest = useful.filter(({ instancePath }) => instancePath.split("/").length === depth);
  const lines = deepest.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return [...new Set(lines)].slice(0, 6).join("; ");
}

function typeAt(value: Json, path: string): string | undefined {
  let at: Json | undefined = value;
  for (const step of path.split("/").slice(1)) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isJsonObject(at) ? at[step] : undefined;
  }
  return isJsonObject(at) && typeof at["type"] === "string" ? at["type"] : undefined;
}
