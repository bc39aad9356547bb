/**
 * The two published descriptions of the API, ready to hold values against. Each schema is compiled when
 * it is first asked for, once a process: all of them together would cost seconds.
 */

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { readShared } from "../protocol/shared-files.ts";

export type OracleName = "openai" | "open-responses";

export const ORACLES: readonly OracleName[] = ["openai", "open-responses"];

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
const documents = new Map<OracleName, JsonObject>();
const validators = new Map<string, ValidateFunction>();

/** What is wrong with the value, by one oracle; nothing is well. The value is read as it is sent. */
export function findFaults(oracle: OracleName, schema: string, value: unknown): string[] {
  const validate = validatorOf(oracle, schema);
  const sent = JSON.parse(JSON.stringify(value)) as Json;
  if (validate(sent)) return [];
  return [`${oracle} ${schema}: ${explain(oracle, validate.errors ?? [], sent)}`];
}

/** The name of the schema of an event of this type; undefined for one that the oracle does not know. */
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

/** Every type that stands in a union of the oracle: the kinds of items, of tools. */
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
  const { components } = documentOf(oracle);
  return (components as { schemas: JsonObject }).schemas;
}

function documentOf(oracle: OracleName): JsonObject {
  const known = documents.get(oracle);
  if (known) return known;
  const document = JSON.parse(readShared(`oracles/${oracle}.openapi.json`)) as JsonObject;
  documents.set(oracle, document);
  ajv.addSchema(document, oracle);
  return document;
}

/** Of a union that nothing fits, the member of the value's own type says what is wrong. */
function explain(oracle: OracleName, errors: readonly ErrorObject[], value: Json): string {
  const schemas = schemasOf(oracle);
  const told = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "anyOf");
  const own = told.filter((error) => {
    const types = typesOf(schemas[schemaIn(error)]);
    const type = typeAt(value, error.instancePath);
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

/** The named schema that an error is of. */
function schemaIn({ schemaPath }: ErrorObject): string {
  return /schemas\/([^/]+)/.exec(schemaPath)?.[1] ?? schemaPath;
}

function typeAt(value: Json, path: string): string | undefined {
  let at: Json | undefined = value;
  for (const step of path.split("/").slice(1)) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isJsonObject(at) ? at[step] : undefined;
  }
  return isJsonObject(at) && typeof at["type"] === "string" ? at["type"] : undefined;
}
