/**
 * Descriptions in our notation as JSON Schema. The order matters: short forms are replaced, then names are copied,
 * then the copies are changed, and then each definition becomes a schema.
 */

import type { JsonObject } from "../../src/base/json.ts";
import type { Field, ObjectType, Statement, Type } from "./notation.ts";

type Definitions = Map<string, Type>;

/** By name, as a published document has them under `components.schemas`. Throws for a name that is not defined. */
export function toSchemas(statements: readonly Statement[]): Readonly<Record<string, JsonObject>> {
  const definitions = replaceShortForms(collect(statements));
  for (const statement of statements) {
    if (statement.kind === "copy") copy(definitions, statement.names, statement.prefix);
  }
  for (const statement of statements) {
    if (statement.kind === "either" || statement.kind === "all") change(definitions, statement);
  }
  return Object.fromEntries(
    [...definitions].map(([name, type]) => [name, toSchema(type, definitions)]),
  );
}

function collect(statements: readonly Statement[]): Definitions {
  const definitions: Definitions = new Map();
  for (const statement of statements) {
    if (statement.kind !== "define") continue;
    if (definitions.has(statement.name)) throw new Error(`${statement.name} is defined twice.`);
    definitions.set(statement.name, statement.type);
  }
  return definitions;
}

function find(definitions: Definitions, name: string): Type {
  const type = definitions.get(name);
  if (!type) throw new Error(`${name} is not defined.`);
  return type;
}

const isShortForm = (name: string): boolean => /^[a-z]/.test(name);

function replaceShortForms(definitions: Definitions): Definitions {
  const replace = (name: string): Type =>
    isShortForm(name) ? mapNames(find(definitions, name), replace) : { kind: "name", name };
  const named = [...definitions].filter(([name]) => !isShortForm(name));
  return new Map(named.map(([name, type]) => [name, mapNames(type, replace)]));
}

/** The type with each name in it replaced. */
function mapNames(type: Type, replace: (name: string) => Type): Type {
  const map = (inner: Type): Type => mapNames(inner, replace);
  switch (type.kind) {
    case "word":
    case "literal":
      return type;
    case "name":
      return replace(type.name);
    case "list":
      return { ...type, of: map(type.of) };
    case "either":
    case "all":
      return { ...type, of: type.of.map(map) };
    case "object": {
      const fields = type.fields.map((field) => ({ ...field, type: map(field.type) }));
      return { ...type, fields, rest: map(type.rest) };
    }
  }
}

/** A name that is defined under the prefix already stays as it is. */
function copy(definitions: Definitions, names: readonly string[], prefix: string): void {
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (definitions.has(prefix + name)) continue;
    const copied = mapNames(find(definitions, name), (reached) => {
      waiting.push(reached);
      return { kind: "name", name: prefix + reached };
    });
    definitions.set(prefix + name, copied);
  }
}

function change(
  definitions: Definitions,
  { kind, names, type }: Extract<Statement, { readonly kind: "either" | "all" }>,
): void {
  for (const name of names) {
    const old = find(definitions, name);
    const members = kind === "all" && old.kind === "either" ? namesIn(old.of) : [];
    if (members.length > 0) change(definitions, { kind, names: members, type });
    else definitions.set(name, { kind, of: [old, type] });
  }
}

function namesIn(types: readonly Type[]): string[] {
  return types.flatMap((type) => {
    if (type.kind === "name") return [type.name];
    return type.kind === "either" ? namesIn(type.of) : [];
  });
}

function toSchema(type: Type, definitions: Definitions): JsonObject {
  switch (type.kind) {
    case "word":
      if (type.word === "any") return {};
      return type.word === "never" ? { not: {} } : { type: type.word };
    case "literal":
      return { type: "string", enum: [type.value] };
    case "name":
      find(definitions, type.name);
      return { $ref: `#/components/schemas/${type.name}` };
    case "list":
      return { type: "array", items: toSchema(type.of, definitions) };
    case "either":
      return toUnion(type.of, definitions);
    case "all":
      return toIntersection(type.of, definitions);
    case "object":
      return toObject(type, definitions);
  }
}

function toUnion(types: readonly Type[], definitions: Definitions): JsonObject {
  const flat = flatten(types);
  const values = flat.flatMap((type) => (type.kind === "literal" ? [type.value] : []));
  const words: JsonObject[] = values.length > 0 ? [{ type: "string", enum: values }] : [];
  const others = flat.filter(({ kind }) => kind !== "literal");
  const members = [...words, ...others.map((type) => toSchema(type, definitions))];
  const [only] = members;
  return only && members.length === 1 ? only : { anyOf: members };
}

function flatten(types: readonly Type[]): Type[] {
  return types.flatMap((type) => (type.kind === "either" ? flatten(type.of) : [type]));
}

/** One object with the fields of all; `allOf` where something else than objects is joined. */
function toIntersection(types: readonly Type[], definitions: Definitions): JsonObject {
  const objects = types.map((type) => toOneObject(type, definitions));
  if (objects.some((one) => one === undefined)) {
    return { allOf: types.map((type) => toSchema(type, definitions)) };
  }
  return toObject(joinObjects(objects as ObjectType[]), definitions);
}

function toOneObject(type: Type, definitions: Definitions): ObjectType | undefined {
  if (type.kind === "object") return type;
  if (type.kind === "name") return toOneObject(find(definitions, type.name), definitions);
  if (type.kind !== "all") return undefined;
  const objects = type.of.map((inner) => toOneObject(inner, definitions));
  return objects.includes(undefined) ? undefined : joinObjects(objects as ObjectType[]);
}

function joinObjects(objects: readonly ObjectType[]): ObjectType {
  const fields = new Map<string, Field>();
  for (const object of objects) for (const field of object.fields) fields.set(field.name, field);
  const rest = objects.at(-1)?.rest ?? { kind: "word", word: "any" };
  return { kind: "object", fields: [...fields.values()], rest };
}

function toObject({ fields, rest }: ObjectType, definitions: Definitions): JsonObject {
  const properties = fields.map(({ name, type }) => [name, toSchema(type, definitions)]);
  const isClosed = rest.kind === "word" && rest.word === "never";
  const isOpen = rest.kind === "word" && rest.word === "any";
  const others = isClosed ? false : toSchema(rest, definitions);
  return {
    type: "object",
    properties: Object.fromEntries(properties) as JsonObject,
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    ...(!isOpen && { additionalProperties: others }),
  };
}
