import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  parseInclude,
  parsePaging,
  toPage,
  toThingQuery,
  toWholePage,
} from "../../../src/responses/tenant/paging.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { newThing } from "../../store/shelf-contract.ts";

const parse = (query: string): ReturnType<typeof parsePaging> =>
  parsePaging(new URLSearchParams(query), { defaultOrder: "desc" });

describe("parsePaging", () => {
  const none = { after: undefined, before: undefined };

  it("has the API's defaults, and those it is given", () => {
    assert.deepEqual(parse(""), { limit: 20, order: "desc", ...none });
    assert.deepEqual(parse("limit=&order=&after=&before="), { limit: 20, order: "desc", ...none });
    const defaults = { defaultOrder: "asc", defaultLimit: 10_000, maxLimit: 10_000 } as const;
    assert.deepEqual(parsePaging(new URLSearchParams(), defaults), {
      limit: 10_000,
      order: "asc",
      ...none,
    });
  });

  it("reads what is asked", () => {
    const asked = { limit: 100, order: "asc", after: "a b", before: "c" };
    assert.deepEqual(parse("limit=100&order=asc&after=a%20b&before=c"), asked);
    assert.equal(parse("limit=1").limit, 1);
  });

  for (const limit of ["0", "101", "-1", "1.5", "1e1", "ten", "0x10", " 5", "9".repeat(40)]) {
    it(`refuses a limit of ${limit}`, () => {
      const query = `limit=${encodeURIComponent(limit)}`;
      assert.throws(() => parse(query), { code: "invalid_request", param: "limit" });
    });
  }

  it("refuses an invalid order", () => {
    assert.throws(() => parse("order=up"), { code: "invalid_request", param: "order" });
  });
});

describe("parseInclude", () => {
  it("reads every way in which clients write a list", () => {
    for (const query of [
      "include=a&include=b",
      "include[]=a&include[]=b",
      "include[0]=a&include[1]=b",
      "include=a,b",
    ]) {
      assert.deepEqual([...parseInclude(new URLSearchParams(query))], ["a", "b"], query);
    }
    assert.equal(parseInclude(new URLSearchParams("includes=a&include=")).size, 0);
  });
});

describe("toPage", () => {
  const page = async (query: string): Promise<object> => {
    const shelf = createMemoryShelf();
    for (const id of ["a", "b", "c", "d", "e"]) await shelf.put(newThing(id));
    const paging = parse(query);
    const things = await shelf.list(toThingQuery({ tenant: "tenant", kind: "kind" }, paging));
    const { data, ...rest } = toPage(things, paging, ({ id }) => ({ id }));
    return { ids: data.map(({ id }) => id).join(""), ...rest };
  };
  const list = { object: "list" };

  it("says whether there is more, in each direction", async () => {
    const cases = {
      "limit=2": { ids: "ed", first_id: "e", last_id: "d", has_more: true },
      "limit=2&after=d": { ids: "cb", first_id: "c", last_id: "b", has_more: true },
      "limit=2&after=c": { ids: "ba", first_id: "b", last_id: "a", has_more: false },
      "limit=5": { ids: "edcba", first_id: "e", last_id: "a", has_more: false },
      "limit=2&order=asc": { ids: "ab", first_id: "a", last_id: "b", has_more: true },
      "limit=2&order=asc&before=e": { ids: "cd", first_id: "c", last_id: "d", has_more: true },
      "limit=2&order=asc&before=c": { ids: "ab", first_id: "a", last_id: "b", has_more: false },
      "limit=1&order=asc&after=a&before=d": {
        ids: "b",
        first_id: "b",
        last_id: "b",
        has_more: true,
      },
    };
    for (const [query, expected] of Object.entries(cases)) {
      assert.deepEqual(await page(query), { ...list, ...expected }, query);
    }
  });

  it("is a page without ids where there is nothing", async () => {
    const expected = { ...list, ids: "", first_id: "", last_id: "", has_more: false };
    assert.deepEqual(await page("after=unknown"), expected);
    assert.deepEqual(toWholePage([]).data, []);
  });

  it("takes a plain limit", () => {
    const things = [{ id: "a" }, { id: "b" }, { id: "c" }];
    const { data, has_more } = toPage(things, 2, (thing) => thing);
    assert.deepEqual([data, has_more], [things.slice(0, 2), true]);
  });
});
