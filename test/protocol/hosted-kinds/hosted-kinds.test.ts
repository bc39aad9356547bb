import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { BACKED_KINDS } from "../../../src/protocol/hosted-kinds/backed-kinds.ts";
import type { HostedKind, ItemFacts } from "../../../src/protocol/hosted-kinds/hosted-kind.ts";
import { HOSTED_KINDS } from "../../../src/protocol/hosted-kinds/hosted-kinds.ts";
import { ITEM_FACTS } from "../../../src/protocol/item-facts.ts";
import { ITEM_TYPES } from "../../../src/protocol/items.ts";
import { typesOf } from "../../../src/protocol/open.ts";
import { INCLUDES } from "../../../src/protocol/request.ts";
import { RESPONSE_EVENT_TYPES } from "../../../src/protocol/response-events.ts";
import { HostedToolChoice, TOOL_TYPES } from "../../../src/protocol/tools.ts";
import { kindOf } from "../../../src/responses/request/hosted-kinds.ts";
import { GROUPS } from "../../conformance/matrix/cells.ts";

const kinds: readonly HostedKind[] = HOSTED_KINDS;
const items = kinds.flatMap((kind) => Object.entries(kind.items));
const FOLDER = new URL("../../../../src/protocol/hosted-kinds/", import.meta.url);
const PARAMETERS = GROUPS.flatMap(({ rows }) => Object.keys(rows));
/** Files of the folder that are not a kind's. */
const SHARED = ["backed-kinds.ts", "hosted-kind.ts", "hosted-kinds.ts", "includes.ts"];

describe("the list of hosted kinds", () => {
  it("has a kind of every file in its folder", async () => {
    const files = readdirSync(FOLDER).filter((file) => !SHARED.includes(file));
    assert.ok(files.length > 8, `only ${files.length} files`);
    for (const file of files) {
      const path = `../../../src/protocol/hosted-kinds/${file.replace(/\.ts$/, ".js")}`;
      const values: unknown[] = Object.values((await import(path)) as object);
      assert.ok(
        kinds.some((kind) => values.includes(kind)),
        `${file} is not in HOSTED_KINDS`,
      );
    }
  });

  it("has every name, type of tool and type of item once", () => {
    const names = kinds.map(({ name }) => name);
    const tools = kinds.flatMap((kind) => typesOf(kind.tools));
    for (const list of [names, tools, items.map(([type]) => type)]) {
      assert.deepEqual(list, [...new Set(list)]);
    }
  });

  it("gives each type of item ids that no other type has", () => {
    const prefixes = [...ITEM_FACTS.values()].map(({ idPrefix }) => idPrefix);
    const own = prefixes.filter((prefix) => prefix !== "item");
    assert.deepEqual(own, [...new Set(own)]);
    for (const prefix of own) assert.match(prefix, /^[a-z]+$/);
  });

  it("has every kind whose calls the settings may send elsewhere", () => {
    const names = kinds.map(({ name }) => name);
    assert.deepEqual(
      BACKED_KINDS.filter((name) => !names.includes(name)),
      [],
    );
  });
});

for (const kind of kinds) {
  describe(`the facts of ${kind.name}`, () => {
    it("name tools that requests may offer, and that mean this kind", () => {
      const types = typesOf(kind.tools);
      for (const type of [kind.name, ...types, ...kind.choices]) {
        assert.equal(kindOf({ type }), kind.name, type);
      }
      assert.deepEqual(
        types.filter((type) => !TOOL_TYPES.includes(type)),
        [],
      );
    });

    it("name choices that requests may make", () => {
      const known: readonly string[] = [...HostedToolChoice.shape.type.values];
      assert.deepEqual(
        kind.choices.filter((type) => !known.includes(type)),
        [],
      );
    });

    it("have a schema for each type of item, and facts for each schema", () => {
      const types = Object.keys(kind.items);
      assert.deepEqual(
        types.filter((type) => !ITEM_TYPES.includes(type)),
        [],
      );
      assert.deepEqual(
        typesOf(kind.itemSchemas).filter((type) => !types.includes(type)),
        [],
      );
    });

    it("have a row in the matrix of what each provider does with its tools and items", () => {
      const rows = GROUPS.filter(({ name }) => name === "tools" || name === "items")
        .flatMap((group) => Object.keys(group.rows))
        .flatMap((row) => row.replace(/ \(.*$/, "").split(", "));
      const wanted = Object.keys(kind.items);
      assert.deepEqual(
        wanted.filter((type) => !rows.includes(type)),
        [],
      );
      assert.ok(
        rows.some((type) => kindOf({ type }) === kind.name),
        `no row is a tool of ${kind.name}`,
      );
    });
  });
}

for (const [type, facts] of items) {
  describe(`the facts of ${type}`, () => {
    it("name events that have a schema and begin with the type of the item", () => {
      for (const event of eventsOf(facts)) assert.ok(event.startsWith(`response.${type}`), event);
      assert.deepEqual(
        eventsOf(facts).filter((event) => !RESPONSE_EVENT_TYPES.includes(event)),
        [],
      );
    });

    it("name the field of the item that its events are about", () => {
      const fields = fieldsOf(type);
      if (facts.writes && !facts.writes.isVendors) assert.ok(fields.includes(facts.writes.field));
      if (facts.doneWith) assert.ok(fields.includes(facts.doneWith));
      for (const field of Object.keys(facts.always)) assert.ok(fields.includes(field), field);
    });

    it("name an answer that is an item, and whose facts wait for none", () => {
      if (!facts.answeredBy) return;
      assert.ok(ITEM_TYPES.includes(facts.answeredBy));
      assert.equal(ITEM_FACTS.get(facts.answeredBy)?.answeredBy, undefined);
    });

    it("name optional fields that `include` may ask for, with a row in the matrix", () => {
      const known: readonly string[] = INCLUDES;
      for (const [path, hiding] of Object.entries(facts.optional)) {
        const name = `${type}.${path}`;
        assert.ok(known.includes(name), name);
        if (hiding !== "shown") assert.ok(PARAMETERS.includes(`include (${name})`), name);
      }
    });
  });
}

function eventsOf({ progress, writes }: ItemFacts): string[] {
  const { begun, running, done, failed } = progress ?? {};
  const named = [begun, running, done, failed, writes?.delta, writes?.done];
  return named.filter((name) => name !== undefined);
}

/** The fields in the schema of an item. */
function fieldsOf(type: string): string[] {
  const kind = kinds.find((one) => type in one.items);
  const schema = kind?.itemSchemas.find((one) => typesOf([one]).includes(type));
  return schema ? Object.keys(schema.shape) : ["call_id", "execution", "status"];
}
