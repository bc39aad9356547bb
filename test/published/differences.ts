/**
 * What two descriptions of one API say differently about the schemas of one name. Both are brought to the same
 * form first: a type is a set of alternatives, `allOf` is one object, and texts, bounds and formats do not
 * count. So it does not matter how a description is divided into schemas.
 */

import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";

export type Schemas = JsonObject;

/** What is different about the schema of this name: one line for each place, `ours` first. Empty if nothing is. */
export function findDifferences(ours: Schemas, published: Schemas, name: string): string[] {
  if (published[name] === undefined) return [`${name} is not in the published document`];
  const ourSide = { schemas: ours, schema: ours[name] ?? {}, within: name };
  const theirSide = { schemas: published, schema: published[name] ?? {}, within: name };
  return compare(name, ourSide, theirSide, new Set());
}

/** A schema in its document. */
interface Side {
  readonly schemas: Schemas;
  readonly schema: Json;
  /** The schema that it is part of: where a `$recursiveRef` leads. */
  readonly within: string;
}

interface FieldForm {
  readonly required: boolean;
  readonly side: Side;
}

interface ObjectForm {
  /** The schema that holds it and no other object. */
  readonly name: string | undefined;
  readonly fields: ReadonlyMap<string, FieldForm>;
  /** What other fields may hold; undefined where anything may be. */
  readonly rest: Side | "nothing" | undefined;
}

/** The alternatives of a type. `plain` has words (`string`) and values (`"a"`), as JSON text. */
interface Form {
  readonly plain: ReadonlySet<string>;
  readonly lists: readonly Side[];
  readonly objects: readonly ObjectForm[];
}

const NOTHING: Form = { plain: new Set(), lists: [], objects: [] };
const ANYTHING: Form = { ...NOTHING, plain: new Set(["any"]) };

/** `assumed` has the pairs of named objects that are being compared: schemas may contain themselves. */
function compare(path: string, ours: Side, theirs: Side, assumed: ReadonlySet<string>): string[] {
  const mine = toForm(ours);
  const other = toForm(theirs);
  return [
    ...comparePlain(path, mine.plain, other.plain),
    ...compareLists(path, mine.lists, other.lists, assumed),
    ...compareObjects(path, mine.objects, other.objects, assumed),
  ];
}

function comparePlain(
  path: string,
  ours: ReadonlySet<string>,
  theirs: ReadonlySet<string>,
): string[] {
  const more = [...ours].filter((word) => !theirs.has(word));
  const less = [...theirs].filter((word) => !ours.has(word));
  return [
    ...more.map((word) => `${path} allows ${word}, and the published document does not`),
    ...less.map((word) => `${path} does not allow ${word}, and the published document does`),
  ];
}

function compareLists(
  path: string,
  ours: readonly Side[],
  theirs: readonly Side[],
  assumed: ReadonlySet<string>,
): string[] {
  const mine = ours[0];
  const other = theirs[0];
  if (ours.length === 1 && theirs.length === 1 && mine && other) {
    return compare(`${path}[]`, mine, other, assumed);
  }
  const isSame = (a: Side, b: Side): boolean => compare(path, a, b, assumed).length === 0;
  const { alone, missing } = pair(ours, theirs, isSame);
  return [
    ...alone.map(() => `${path} allows a list that the published document does not`),
    ...missing.map(() => `${path} does not allow a list that the published document does`),
  ];
}

function compareObjects(
  path: string,
  ours: readonly ObjectForm[],
  theirs: readonly ObjectForm[],
  assumed: ReadonlySet<string>,
): string[] {
  const isNamesake = (a: ObjectForm, b: ObjectForm): boolean =>
    a.name !== undefined && a.name === b.name;
  // A schema of the same name is compared on its own, so that a difference is told once.
  const named = pair(ours, theirs, isNamesake);
  const differences = (a: ObjectForm, b: ObjectForm): string[] => {
    if (isNamesake(a, b)) return [];
    const key = `${a.name} ${b.name}`;
    if (a.name && b.name && assumed.has(key)) return [];
    return compareFields(path, a, b, new Set([...assumed, key]));
  };
  const same = pair(named.alone, named.missing, (a, b) => differences(a, b).length === 0);
  const similar = pair(
    same.alone,
    same.missing,
    (a, b) => kindOf(a) === kindOf(b) || (same.alone.length === 1 && same.missing.length === 1),
  );
  return [
    ...similar.pairs.flatMap(([a, b]) => differences(a, b)),
    ...similar.alone.map(
      (one) => `${path} allows ${nameOf(one)}, and the published document does not`,
    ),
    ...similar.missing.map(
      (one) => `${path} does not allow ${nameOf(one)}, and the published document does`,
    ),
  ];
}

/** Each of ours with the first of theirs that fits and is not taken yet. */
function pair<Of>(ours: readonly Of[], theirs: readonly Of[], fits: (a: Of, b: Of) => boolean) {
  const pairs: [Of, Of][] = [];
  const alone: Of[] = [];
  const missing = [...theirs];
  for (const one of ours) {
    const at = missing.findIndex((other) => fits(one, other));
    if (at < 0) alone.push(one);
    else pairs.push([one, missing.splice(at, 1)[0] as Of]);
  }
  return { pairs, alone, missing };
}

function compareFields(
  path: string,
  ours: ObjectForm,
  theirs: ObjectForm,
  assumed: ReadonlySet<string>,
): string[] {
  const names = new Set([...ours.fields.keys(), ...theirs.fields.keys()]);
  const found = [...names].flatMap((name) => {
    const mine = ours.fields.get(name);
    const other = theirs.fields.get(name);
    const place = `${path}.${name}`;
    if (!other) return [`${place} is not in the published document`];
    if (!mine) return [`${place} is missing`];
    const inner = compare(place, mine.side, other.side, assumed);
    if (mine.required === other.required) return inner;
    return [`${place} is ${other.required ? "required" : "optional"} as published`, ...inner];
  });
  return [...found, ...compareRest(`${path}.*`, ours.rest, theirs.rest, assumed)];
}

function compareRest(
  path: string,
  ours: ObjectForm["rest"],
  theirs: ObjectForm["rest"],
  assumed: ReadonlySet<string>,
): string[] {
  if (typeof ours === "object" && typeof theirs === "object") {
    return compare(path, ours, theirs, assumed);
  }
  return ours === theirs ? [] : [`${path}: other fields are allowed differently`];
}

/** The words of the field that tells the members of a union apart. */
function kindOf({ fields }: ObjectForm): string | undefined {
  for (const name of ["type", "role", "object"]) {
    const field = fields.get(name);
    if (field) return [...toForm(field.side).plain].sort().join();
  }
  return undefined;
}

function nameOf(form: ObjectForm): string {
  return form.name ?? kindOf(form) ?? `{ ${[...form.fields.keys()].join(", ")} }`;
}

function toForm(side: Side): Form {
  const { schemas, schema, within } = side;
  if (!isJsonObject(schema)) return schema === false ? NOTHING : ANYTHING;
  const { $ref, $recursiveRef, allOf } = schema;
  if (typeof $ref === "string") return toNamedForm(schemas, $ref.slice($ref.lastIndexOf("/") + 1));
  if ($recursiveRef !== undefined) return toNamedForm(schemas, within);
  const inner = (one: Json): Form => toForm({ ...side, schema: one });
  const parts = [toOwnForm(side), ...(Array.isArray(allOf) ? allOf.map(inner) : [])];
  for (const list of [schema["anyOf"], schema["oneOf"]]) {
    if (Array.isArray(list)) parts.push(list.map(inner).reduce(unite, NOTHING));
  }
  return parts.reduce(intersect);
}

function toNamedForm(schemas: Schemas, name: string): Form {
  const form = toForm({ schemas, schema: schemas[name] ?? {}, within: name });
  const [object] = form.objects;
  if (!object || form.objects.length > 1 || object.name) return form;
  return { ...form, objects: [{ ...object, name }] };
}

/** What `type`, `enum` and `properties` say, without what the schema is combined of. */
function toOwnForm(side: Side): Form {
  const schema = side.schema as JsonObject;
  if (isJsonObject(schema["not"])) return NOTHING;
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  if (values[0] !== undefined) {
    return { ...NOTHING, plain: new Set(values.map((value) => JSON.stringify(value))) };
  }
  const types = typesOf(schema);
  const isObject = types.includes("object");
  return {
    plain: new Set(types.filter((type) => type !== "array" && type !== "object")),
    lists: types.includes("array") ? [{ ...side, schema: schema["items"] ?? {} }] : [],
    objects: isObject ? [toObjectForm(side)] : [],
  };
}

function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  const isObject = ["properties", "required", "additionalProperties"].some((key) => key in schema);
  return [isObject ? "object" : "any"];
}

function toObjectForm(side: Side): ObjectForm {
  const { properties, required, additionalProperties: rest } = side.schema as JsonObject;
  const fields = new Map<string, FieldForm>();
  for (const field of Array.isArray(required) ? required.map(String) : []) {
    fields.set(field, { required: true, side: { ...side, schema: {} } });
  }
  for (const [field, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    fields.set(field, { required: fields.has(field), side: { ...side, schema: schema ?? {} } });
  }
  if (rest === false) return { name: undefined, fields, rest: "nothing" };
  const isMap = isJsonObject(rest) && Object.keys(rest).length > 0;
  return { name: undefined, fields, rest: isMap ? { ...side, schema: rest } : undefined };
}

function unite(a: Form, b: Form): Form {
  const plain = new Set([...a.plain, ...b.plain]);
  if (plain.has("any")) return ANYTHING;
  // A word that is any text, or any number, has the single ones in it.
  if (plain.has("string")) for (const word of plain) if (word.startsWith('"')) plain.delete(word);
  if (plain.has("number")) plain.delete("integer");
  return { plain, lists: [...a.lists, ...b.lists], objects: [...a.objects, ...b.objects] };
}

function intersect(a: Form, b: Form): Form {
  if (a.plain.has("any")) return b;
  if (b.plain.has("any")) return a;
  const narrower = (one: Form, other: Form): string[] =>
    [...one.plain].filter(
      (word) =>
        other.plain.has(word) ||
        (word.startsWith('"') && other.plain.has("string")) ||
        (word === "integer" && other.plain.has("number")),
    );
  return {
    plain: new Set([...narrower(a, b), ...narrower(b, a)]),
    lists: a.lists.flatMap((one) => b.lists.map((other) => both(one, other))),
    objects: a.objects.flatMap((one) => b.objects.map((other) => joinObjects(one, other))),
  };
}

function joinObjects(a: ObjectForm, b: ObjectForm): ObjectForm {
  // `type: object` beside a union says nothing more.
  if (a.fields.size === 0 && !a.rest) return b;
  const fields = new Map(a.fields);
  for (const [name, field] of b.fields) {
    const known = fields.get(name);
    const required = field.required || known?.required === true;
    fields.set(name, { required, side: known ? both(known.side, field.side) : field.side });
  }
  return { name: undefined, fields, rest: b.rest ?? a.rest };
}

/** Two schemas of one document that both must hold. */
function both(a: Side, b: Side): Side {
  return { ...a, schema: { allOf: [a.schema, b.schema] } };
}
