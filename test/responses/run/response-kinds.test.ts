import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HostedKind } from "../../../src/protocol/hosted-kinds/hosted-kind.ts";
import { HOSTED_KINDS } from "../../../src/protocol/hosted-kinds/hosted-kinds.ts";
import { typesOf } from "../../../src/protocol/open.ts";
import { createFileSearchKind } from "../../../src/responses/kinds/file-search.ts";
import { createWebSearchKind } from "../../../src/responses/kinds/web-search.ts";
import { createKinds } from "../../../src/responses/run/response-kinds.ts";

describe("createKinds", () => {
  const search = [
    createWebSearchKind({ tools: async () => ({ search: undefined, open: undefined }) }),
    createFileSearchKind({} as Parameters<typeof createFileSearchKind>[0]),
  ];
  const opened = createKinds({ search });
  const hosted: readonly HostedKind[] = HOSTED_KINDS;

  for (const kind of hosted) {
    it(`opens ${kind.name}, with each type of its tools and items`, () => {
      const tools = [kind.name, ...typesOf(kind.tools)];
      const found = opened.find(({ toolTypes }) => toolTypes.includes(kind.name));
      assert.ok(found, `no kind opens ${kind.name}`);
      assert.deepEqual(
        tools.filter((type) => !found.toolTypes.includes(type)),
        [],
      );
      assert.deepEqual(
        Object.keys(kind.items).filter((type) => !found.itemTypes.includes(type)),
        [],
      );
    });
  }

  it("gives each type of tool and item to one kind", () => {
    const tools = opened.flatMap(({ toolTypes }) => toolTypes);
    const items = opened.flatMap(({ itemTypes }) => itemTypes);
    for (const types of [tools, items]) assert.deepEqual(types, [...new Set(types)]);
  });
});
