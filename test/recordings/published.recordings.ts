/** Our description of the API agrees with the published documents, and the comparison would find it if not. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { findDifferences } from "../published/differences.ts";
import { type DocumentName, ownDocument, realDocument } from "../published/document.ts";

/** Where ours says something else on purpose, by schema. */
const INTENDED: Readonly<Record<string, { readonly found: string; readonly reason: string }>> = {
  BetaResponsesServerEvent: {
    found: 'BetaResponsesServerEvent allows "error", and the published document does not',
    reason: "All events of a stream are allowed, the flat error too; nothing is held against it.",
  },
};

const NAMES: readonly DocumentName[] = ["openai", "open-responses"];

for (const name of NAMES) {
  describe(`our description of ${name}`, () => {
    const { schemas: ours } = ownDocument(name).components;
    const { schemas: published } = realDocument(name).components;

    for (const schema of Object.keys(ours)) {
      it(`has ${schema} as it is published`, () => {
        const intended = INTENDED[schema];
        assert.deepEqual(
          findDifferences(ours, published, schema),
          intended ? [intended.found] : [],
          intended?.reason,
        );
      });
    }

    it("would differ with any field taken away, optional, or anything", () => {
      let changes = 0;
      for (const [schema, definition] of Object.entries(ours)) {
        const known = INTENDED[schema] ? 1 : 0;
        for (const changed of changesOf(definition ?? null)) {
          changes++;
          const found = findDifferences({ ...ours, [schema]: changed }, published, schema);
          assert.ok(found.length > known, `${schema}: ${JSON.stringify(changed)}`);
        }
      }
      assert.ok(changes > (name === "openai" ? 6000 : 700), `only ${changes} changes`);
    });
  });
}

/** The schema with one change, for each place where it can be changed. */
function* changesOf(schema: Json): Generator<Json> {
  if (Array.isArray(schema)) {
    for (const [at, member] of schema.entries()) {
      for (const changed of changesOf(member)) yield schema.with(at, changed);
    }
  }
  if (!isJsonObject(schema)) return;
  for (const key of ["properties", "items", "anyOf", "additionalProperties"]) {
    for (const changed of changesOf(schema[key] ?? null)) yield { ...schema, [key]: changed };
  }
  const { properties, required, enum: values } = schema;
  if (Array.isArray(values)) yield { ...schema, enum: [...values, "made up"] };
  if (!isJsonObject(properties)) return;
  yield {
    ...schema,
    additionalProperties: schema["additionalProperties"] === undefined ? false : {},
  };
  for (const name of Object.keys(properties))
    yield* changesOfField(schema, name, required as string[]);
}

function* changesOfField(schema: JsonObject, name: string, required: string[]): Generator<Json> {
  const properties = schema["properties"] as JsonObject;
  const others = required.filter((one) => one !== name);
  const { [name]: field, ...rest } = properties;
  yield { ...schema, properties: rest, required: others };
  yield { ...schema, required: others.length === required.length ? [...required, name] : others };
  const isAny = isJsonObject(field) && Object.keys(field).length === 0;
  yield { ...schema, properties: { ...properties, [name]: isAny ? { type: "string" } : {} } };
}
