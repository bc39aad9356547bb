/** Our schemas have every name of the published API document: events, kinds and fields. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PART_TYPES } from "../../src/protocol/content.ts";
import { ITEM_TYPES } from "../../src/protocol/items.ts";
import { CreateResponse } from "../../src/protocol/request.ts";
import { Response } from "../../src/protocol/response.ts";
import { RESPONSE_EVENT_TYPES } from "../../src/protocol/response-events.ts";
import { TOOL_TYPES } from "../../src/protocol/tools.ts";
import { publishedDocument } from "../published/document.ts";

/** The parts of JSON Schema that the document's unions and objects use. */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const { schemas } = publishedDocument("openai").components;

const UNIONS: readonly { theirs: string; least: number; ours: readonly string[] }[] = [
  { theirs: "ResponseStreamEvent", least: 58, ours: RESPONSE_EVENT_TYPES },
  { theirs: "BetaResponsesServerEvent", least: 59, ours: RESPONSE_EVENT_TYPES },
  { theirs: "InputItem", least: 28, ours: ITEM_TYPES },
  { theirs: "OutputItem", least: 27, ours: ITEM_TYPES },
  { theirs: "BetaInputItem", least: 31, ours: ITEM_TYPES },
  { theirs: "Tool", least: 18, ours: TOOL_TYPES },
  { theirs: "InputContent", least: 3, ours: PART_TYPES },
  { theirs: "OutputContent", least: 3, ours: PART_TYPES },
];

const OBJECTS: readonly { theirs: string; least: number; ours: object }[] = [
  { theirs: "CreateResponse", least: 31, ours: CreateResponse.shape },
  { theirs: "BetaCreateResponse", least: 32, ours: CreateResponse.shape },
  { theirs: "Response", least: 30, ours: Response.shape },
];

describe("the published document", () => {
  for (const { theirs, least, ours } of UNIONS) {
    it(`has no ${theirs} that we do not know`, () => {
      const types = fieldsOf(resolve(theirs)).get("type") ?? new Set();
      assert.ok(types.size >= least, `found only ${types.size}`);
      assert.deepEqual(
        [...types].filter((type) => !ours.includes(type)),
        [],
      );
    });
  }

  for (const { theirs, least, ours } of OBJECTS) {
    it(`has no field of ${theirs} that we do not know`, () => {
      const fields = [...fieldsOf(resolve(theirs)).keys()];
      assert.ok(fields.length >= least, `found only ${fields.length}`);
      const known = Object.keys(ours);
      assert.deepEqual(
        fields.filter((field) => !known.includes(field)),
        [],
      );
    });
  }
});

/** The fields of an object or of all members of a union, each with the words its schema lists. */
function fieldsOf(schema: Schema): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>();
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    fields.set(name, new Set(field.enum ?? []));
  }
  const members = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  for (const member of members) {
    const inner = member.$ref ? resolve(member.$ref.split("/").at(-1) ?? "") : member;
    for (const [name, words] of fieldsOf(inner)) {
      fields.set(name, new Set([...(fields.get(name) ?? []), ...words]));
    }
  }
  return fields;
}

function resolve(name: string): Schema {
  return (schemas[name] as Schema | undefined) ?? assert.fail(`${name} is not in the document`);
}
