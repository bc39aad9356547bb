/** What every `Shelf` must do. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewThing, Shelf, Thing, ThingName, ThingQuery } from "../../src/store/shelf.ts";

const MEGABYTE = 1024 * 1024;

export function describeShelf(name: string, open: () => Promise<Shelf>): void {
  describe(`${name}: things`, () => {
    it("returns a thing as it was put", async () => {
      const shelf = await open();
      const body = { text: 'ü 🙂 \0 "x"', list: [1, null, true], half: "\ud800" };
      const thing = newThing("conv_1", { body, parent: "p", expires_at_ms: 5 });
      assert.equal(await shelf.put(thing), true);
      const { position, ...found } = (await shelf.get(nameOf("conv_1"))) ?? assert.fail();
      assert.deepEqual(found, thing);
      assert.ok(position > 0);
    });

    it("puts the same name once and changes nothing the second time", async () => {
      const shelf = await open();
      await shelf.put(newThing("a", { body: 1 }));
      assert.equal(await shelf.put(newThing("a", { body: 2 })), false);
      assert.equal((await shelf.get(nameOf("a")))?.body, 1);
    });

    it("separates tenants, kinds and ids", async () => {
      const shelf = await open();
      const names = [
        { tenant: "t", kind: "k", id: "i" },
        { tenant: "u", kind: "k", id: "i" },
        { tenant: "t", kind: "l", id: "i" },
        { tenant: "t", kind: "k", id: "j" },
        { tenant: "", kind: "k", id: "i" },
        { tenant: "tk", kind: "", id: "i" },
      ];
      for (const [index, own] of names.entries()) {
        assert.equal(await shelf.put(newThing("", { ...own, body: index })), true);
      }
      for (const [index, own] of names.entries()) {
        assert.equal((await shelf.get(own))?.body, index);
        const beside = names.filter(
          ({ tenant, kind }) => tenant === own.tenant && kind === own.kind,
        );
        const { tenant, kind } = own;
        assert.deepEqual(
          await idsOf(shelf, { tenant, kind }),
          beside.map(({ id }) => id),
        );
      }
    });

    it("keeps names that SQL would truncate or change", async () => {
      const shelf = await open();
      for (const text of [
        "nul\0nul",
        "nul\0other",
        "half \ud800",
        '"quoted"',
        "'; drop table things",
        "%",
        "",
      ]) {
        const own = { tenant: text, kind: text, id: text };
        assert.equal(await shelf.put(newThing(text, { ...own, parent: text, body: text })), true);
        await shelf.writeContent(own, streamOf(Buffer.from(text)));
        const thing = await shelf.get(own);
        assert.deepEqual(
          [thing?.tenant, thing?.kind, thing?.id, thing?.parent, thing?.body],
          Array(5).fill(text),
        );
        assert.deepEqual(await idsOf(shelf, { ...own, parent: text }), [text]);
        assert.equal((await readAll(shelf, own)).toString(), Buffer.from(text).toString());
      }
    });

    it("claims a name once, with what comes with it, or returns its holder", async () => {
      const shelf = await open();
      const isOver = (): boolean => false;
      const first = newThing("key", { body: 1, parent: "a" });
      assert.equal(await shelf.claim({ claim: first, things: [newThing("a")], isOver }), undefined);
      const [second, things] = [newThing("key", { body: 2, parent: "b" }), [newThing("b")]];
      const held = await shelf.claim({ claim: second, things, isOver });
      assert.equal(held?.parent, "a");
      assert.deepEqual(await idsOf(shelf, {}), ["key", "a"]);
      const mayGo = ({ parent }: Pick<Thing, "parent">): boolean => parent === "a";
      assert.equal(await shelf.claim({ claim: second, things, isOver: mayGo }), undefined);
      assert.equal((await shelf.get(nameOf("key")))?.body, 2);
      // What came with the first does not block the name any more.
      for (const id of ["a", "b"]) {
        assert.ok(await shelf.get(nameOf("key")));
        await shelf.delete(nameOf(id));
      }
      assert.equal(await shelf.get(nameOf("key")), undefined);
    });

    it("lets one of many concurrent claims of a name win", async () => {
      const shelf = await open();
      const claim = newThing("key");
      const toClaim = (id: string) => ({ claim, things: [newThing(id)], isOver: () => false });
      const held = await Promise.all(["a", "b", "c"].map((id) => shelf.claim(toClaim(id))));
      assert.equal(held.filter(Boolean).length + (await idsOf(shelf, {})).length, 4);
    });

    it("finds nothing for a thing that was not put", async () => {
      const shelf = await open();
      assert.equal(await shelf.get(nameOf("a")), undefined);
      assert.equal(await shelf.update(nameOf("a"), 1), false);
      assert.equal(await shelf.change(nameOf("a"), () => assert.fail()), undefined);
      assert.equal(await shelf.delete(nameOf("a")), false);
      assert.equal(await shelf.setExpiry(nameOf("a"), 1), false);
      assert.deepEqual(await idsOf(shelf, {}), []);
      assert.equal((await readAll(shelf, nameOf("a"))).length, 0);
      await assert.rejects(shelf.writeContent(nameOf("a"), streamOf()), { code: "not_found" });
    });

    it("replaces the body of a thing", async () => {
      const shelf = await open();
      const { position } = await putAll(shelf, "a");
      assert.equal(await shelf.update(nameOf("a"), { b: [2] }), true);
      const found = await shelf.get(nameOf("a"));
      assert.deepEqual([found?.body, found?.position], [{ b: [2] }, position]);
    });

    it("changes a body depending on what it was, or leaves it", async () => {
      const shelf = await open();
      await shelf.put(newThing("a", { body: { n: 1 } }));
      const add = (body: unknown) => ({ n: (body as { n: number }).n + 1 });
      await Promise.all(Array.from({ length: 10 }, () => shelf.change(nameOf("a"), add)));
      assert.deepEqual(await shelf.change(nameOf("a"), add), { n: 12 });
      assert.deepEqual(await shelf.change(nameOf("a"), () => undefined), { n: 12 });
      assert.deepEqual((await shelf.get(nameOf("a")))?.body, { n: 12 });
      assert.equal(await shelf.change(nameOf("a"), () => null), null);
      assert.equal((await shelf.get(nameOf("a")))?.body, null);
    });

    it("changes nothing when the change throws", async () => {
      const shelf = await open();
      await putAll(shelf, "a");
      const refuse = (): never => {
        throw new Error("no");
      };
      await assert.rejects(shelf.change(nameOf("a"), refuse), /no/);
      assert.equal((await shelf.get(nameOf("a")))?.body, "body of a");
      assert.equal(await shelf.update(nameOf("a"), 2), true);
    });
  });

  describe(`${name}: lists`, () => {
    it("lists things in their order, or the opposite, a page at a time", async () => {
      const shelf = await open();
      await putAll(shelf, "c", "a", "e", "b", "d");
      const cases: [Partial<ThingQuery>, string][] = [
        [{}, "caebd"],
        [{ limit: 2 }, "ca"],
        [{ limit: 2, after: "a" }, "eb"],
        [{ limit: 2, after: "d" }, ""],
        [{ after: "x" }, ""],
        [{ before: "x" }, ""],
        [{ before: "b" }, "cae"],
        [{ before: "b", limit: 2 }, "ae"],
        [{ before: "c" }, ""],
        [{ after: "c", before: "d" }, "aeb"],
        [{ after: "c", before: "d", limit: 2 }, "ae"],
        [{ after: "d", before: "c" }, ""],
        [{ limit: 0 }, ""],
        [{ order: "newest" }, "dbeac"],
        [{ order: "newest", limit: 2 }, "db"],
        [{ order: "newest", limit: 2, after: "b" }, "ea"],
        [{ order: "newest", before: "a", limit: 2 }, "be"],
        [{ order: "newest", before: "c", after: "d" }, "bea"],
      ];
      for (const [query, expected] of cases) {
        assert.equal((await idsOf(shelf, query)).join(""), expected, JSON.stringify(query));
      }
    });

    it("gives growing positions, also after a removal", async () => {
      const shelf = await open();
      const first = await putAll(shelf, "a");
      const second = await putAll(shelf, "b");
      await shelf.delete(nameOf("b"));
      const third = await putAll(shelf, "c");
      assert.ok(first.position < second.position && second.position < third.position);
    });

    it("lists only those of a parent, and accepts only edges among them", async () => {
      const shelf = await open();
      for (const id of ["a", "b", "c", "d"]) {
        await shelf.put(newThing(id, { parent: id < "c" ? "p" : "q" }));
      }
      await shelf.put(newThing("e", { kind: "other", parent: "p" }));
      assert.deepEqual(await idsOf(shelf, { parent: "p" }), ["a", "b"]);
      assert.deepEqual(await idsOf(shelf, { parent: "q", after: "c" }), ["d"]);
      assert.deepEqual(await idsOf(shelf, { parent: "q", after: "a" }), []);
      assert.deepEqual(await idsOf(shelf, { parent: "x" }), []);
    });
  });

  describe(`${name}: removal and expiry`, () => {
    it("removes everything below, too, at any depth, only of the tenant", async () => {
      const shelf = await open();
      await putAll(shelf, "a", "z");
      await shelf.put(newThing("b", { kind: "k2", parent: "a" }));
      await shelf.put(newThing("c", { kind: "k3", parent: "b" }));
      await shelf.put(newThing("c", { kind: "k3", parent: "b", tenant: "other" }));
      await shelf.writeContent(nameOf("c", { kind: "k3" }), streamOf(Buffer.from("bytes")));
      assert.equal(await shelf.delete(nameOf("a")), true);
      assert.equal(await shelf.delete(nameOf("a")), false);
      assert.equal(await shelf.get(nameOf("b", { kind: "k2" })), undefined);
      assert.equal(await shelf.get(nameOf("c", { kind: "k3" })), undefined);
      assert.ok(await shelf.get(nameOf("z")));
      assert.ok(await shelf.get(nameOf("c", { kind: "k3", tenant: "other" })));
      await shelf.put(newThing("c", { kind: "k3" }));
      assert.equal((await readAll(shelf, nameOf("c", { kind: "k3" }))).length, 0);
    });

    it("ends for things that are each other's parents", async () => {
      const shelf = await open();
      await shelf.put(newThing("a", { parent: "b" }));
      await shelf.put(newThing("b", { parent: "a" }));
      await shelf.put(newThing("c", { parent: "c" }));
      assert.equal(await shelf.delete(nameOf("a")), true);
      assert.equal(await shelf.delete(nameOf("c")), true);
      assert.deepEqual(await idsOf(shelf, {}), []);
    });

    it("finds what has expired, of all tenants, the oldest first", async () => {
      const shelf = await open();
      await shelf.put(newThing("a", { expires_at_ms: 30 }));
      await shelf.put(newThing("b", { expires_at_ms: 10, tenant: "other" }));
      await shelf.put(newThing("c", { expires_at_ms: null }));
      await shelf.put(newThing("d", { expires_at_ms: 31 }));
      await shelf.put(newThing("e", { expires_at_ms: 10, kind: "k2" }));
      const expired = async (nowMs: number, limit = 10): Promise<string> =>
        (await shelf.listExpired(nowMs, limit)).map(({ id }) => id).join("");
      assert.equal(await expired(30), "bea");
      assert.equal(await expired(30, 2), "be");
      assert.equal(await expired(9), "");
      assert.equal(await shelf.setExpiry(nameOf("a"), null), true);
      assert.equal(await shelf.setExpiry(nameOf("c"), 1), true);
      assert.equal(await expired(30), "cbe");
    });
  });

  describe(`${name}: bytes`, () => {
    it("come back as they were given, however they came", async () => {
      const shelf = await open();
      const whole = Buffer.alloc(2.5 * MEGABYTE);
      for (let at = 0; at < whole.length; at++) whole[at] = at % 251;
      for (const size of [1000, MEGABYTE - 1, MEGABYTE, 2 * MEGABYTE, whole.length]) {
        await putAll(shelf, `f${size}`);
        const own = nameOf(`f${size}`);
        assert.equal(await shelf.writeContent(own, inChunks(whole, size)), whole.length);
        const pieces: number[] = [];
        for await (const piece of shelf.readContent(own)) pieces.push(piece.length);
        assert.deepEqual(pieces, [MEGABYTE, MEGABYTE, MEGABYTE / 2]);
        assert.ok(whole.equals(await readAll(shelf, own)), `chunks of ${size}`);
      }
    });

    it("may be none, and may be replaced by more, by fewer and by none", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      for (const length of [0, 3, MEGABYTE + 1, MEGABYTE, 2, 0, 1]) {
        const bytes = Buffer.alloc(length, length % 250);
        assert.equal(await shelf.writeContent(nameOf("f"), streamOf(bytes)), length);
        assert.ok(bytes.equals(await readAll(shelf, nameOf("f"))), `${length} bytes`);
      }
    });

    it("stay as they were when the upload of new ones fails", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(2.5 * MEGABYTE, 1);
        throw new Error("The client went away.");
      }
      await assert.rejects(shelf.writeContent(nameOf("f"), broken()), /went away/);
      assert.equal((await readAll(shelf, nameOf("f"))).length, 0);
      await shelf.writeContent(nameOf("f"), streamOf(Buffer.from("old")));
      await assert.rejects(shelf.writeContent(nameOf("f"), broken()), /went away/);
      assert.equal((await readAll(shelf, nameOf("f"))).toString(), "old");
    });

    it("are the old ones until the last new one is there", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      await shelf.writeContent(nameOf("f"), streamOf(Buffer.from("old")));
      const seen: string[] = [];
      async function* watched(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(MEGABYTE, 1);
        seen.push((await readAll(shelf, nameOf("f"))).toString());
      }
      await shelf.writeContent(nameOf("f"), watched());
      assert.deepEqual(seen, ["old"]);
      assert.equal((await readAll(shelf, nameOf("f"))).length, MEGABYTE);
    });

    it("are those of the writer that began last when two write at the same time", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      const second = Buffer.alloc(MEGABYTE + 1, 2);
      async function* first(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(MEGABYTE, 1);
        await shelf.writeContent(nameOf("f"), streamOf(second));
        yield Buffer.alloc(MEGABYTE, 1);
      }
      await assert.rejects(shelf.writeContent(nameOf("f"), first()), { code: "conflict" });
      assert.ok(second.equals(await readAll(shelf, nameOf("f"))));
    });

    it("are refused when their thing is removed meanwhile, even if another takes its place", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      async function* removing(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(MEGABYTE, 1);
        await shelf.delete(nameOf("f"));
        await shelf.put(newThing("g", { tenant: "other" }));
        yield Buffer.alloc(MEGABYTE, 1);
      }
      await assert.rejects(shelf.writeContent(nameOf("f"), removing()), { code: "not_found" });
      assert.equal((await readAll(shelf, nameOf("g", { tenant: "other" }))).length, 0);
    });

    it("are not given to a younger thing of the same name", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      async function* replacing(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(MEGABYTE, 1);
        await shelf.delete(nameOf("f"));
        await putAll(shelf, "g", "f");
        yield Buffer.alloc(MEGABYTE, 1);
      }
      await assert.rejects(shelf.writeContent(nameOf("f"), replacing()), { code: "conflict" });
      assert.equal((await readAll(shelf, nameOf("f"))).length, 0);
      assert.equal((await readAll(shelf, nameOf("g"))).length, 0);
    });

    it("never continue with another thing's when they are removed in the middle of reading", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      await shelf.writeContent(nameOf("f"), streamOf(Buffer.alloc(3 * MEGABYTE)));
      const reading = shelf.readContent(nameOf("f"));
      await reading.next();
      await shelf.delete(nameOf("f"));
      await shelf.put(newThing("g", { tenant: "other" }));
      const other = nameOf("g", { tenant: "other" });
      await shelf.writeContent(other, streamOf(Buffer.alloc(3 * MEGABYTE, 1)));
      await assert.rejects(reading.next(), { code: "conflict" });
    });

    it("do not end early when they are removed in the middle of reading", async () => {
      const shelf = await open();
      await putAll(shelf, "f");
      await shelf.writeContent(nameOf("f"), streamOf(Buffer.alloc(3 * MEGABYTE)));
      const reading = shelf.readContent(nameOf("f"));
      await reading.next();
      await shelf.delete(nameOf("f"));
      await assert.rejects(reading.next(), { code: "conflict" });
    });
  });
}

export function nameOf(id: string, name: Partial<ThingName> = {}): ThingName {
  return { tenant: "tenant", kind: "kind", id, ...name };
}

export function newThing(id: string, thing: Partial<NewThing> = {}): NewThing {
  const rest = { parent: null, body: `body of ${id}`, created_at_ms: 1000, expires_at_ms: null };
  return { ...nameOf(id), ...rest, ...thing };
}

/** The last of them. */
async function putAll(shelf: Shelf, ...ids: string[]): Promise<Thing> {
  for (const id of ids) assert.equal(await shelf.put(newThing(id)), true);
  return (await shelf.get(nameOf(ids.at(-1) ?? ""))) ?? assert.fail();
}

export async function idsOf(shelf: Shelf, query: Partial<ThingQuery>): Promise<string[]> {
  const { tenant = "tenant", kind = "kind", parent, after, before } = query;
  const { order = "oldest", limit = 10 } = query;
  const found = await shelf.list({ tenant, kind, parent, after, before, order, limit });
  return found.map(({ id }) => id);
}

async function readAll(shelf: Shelf, name: ThingName): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of shelf.readContent(name)) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function* streamOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}
