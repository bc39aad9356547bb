/** A few bytes that expand to many: references, files and conversations that would fill the memory. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deflateRawSync } from "node:zlib";
import { readOfficeText } from "../../src/responses/vector-stores/office-text.ts";
import { assertRefused, idOf, startAttacked, uploadFile } from "./server-attack-fixture.ts";

const many = <Out>(count: number, make: (at: number) => Out): Out[] =>
  Array.from({ length: count }, (_, at) => make(at));

describe("input that expands", () => {
  it("is limited: one item that is referenced a thousand times", async (t) => {
    const server = await startAttacked(t);
    const items = [{ type: "message", role: "user", content: "y".repeat(5_000_000) }];
    const path = "/v1/conversations";
    const conversation = idOf(await server.send({ path, body: { items } }));
    const listed = await server.send({ method: "GET", path: `${path}/${conversation}/items` });
    const [item] = (JSON.parse(listed.text) as { data: { id: string }[] }).data;
    const input = many(1000, () => ({ type: "item_reference", id: item?.id }));
    const refused = await server.send({ body: { input } });
    assertRefused(refused, { status: 400, param: "input[12].id" }, "references");
    assert.equal(server.upstream.requests.length, 0);
    await server.isWell();
  });

  it("is limited: one file that is named many times", async (t) => {
    const server = await startAttacked(t);
    const file = await uploadFile(server.send, "z".repeat(20_000_000));
    const parts = (count: number) =>
      many(count, () => ({ type: "input_file" as const, file_id: file }));
    const refused = await server.send({ body: { input: [{ role: "user", content: parts(40) }] } });
    assertRefused(refused, { status: 400, param: "input[0].content[3].file_id" }, "files");
    // Even if each request by itself has few of them.
    const first = await server.send({ body: { input: [{ role: "user", content: parts(2) }] } });
    const input = [{ role: "user", content: parts(2) }];
    const next = { input, previous_response_id: idOf(first) };
    const answer = await server.send({ body: next });
    assertRefused(answer, { status: 400, message: /64000000 bytes together/ }, "files of a chain");
    assert.equal(server.upstream.requests.length, 1);
    await server.isWell();
  });

  it("is limited: a conversation that has grown without an end", async (t) => {
    const server = await startAttacked(t);
    const large = { type: "message", role: "user", content: "z".repeat(11_000_000) };
    const path = "/v1/conversations";
    const id = idOf(await server.send({ path, body: { items: [large] } }));
    for (let at = 0; at < 3; at++) {
      const added = await server.send({
        path: `${path}/${id}/items`,
        body: { items: [large, large] },
      });
      assert.equal(added.status, 200);
    }
    const answer = await server.send({ body: { input: "x", conversation: id } });
    const wanted = { status: 400, code: "context_length_exceeded", param: "conversation" };
    assertRefused(answer, wanted, "conversation");
    assert.equal(server.upstream.requests.length, 0);
    await server.isWell();
  });

  it("is limited: a chain of responses", async (t) => {
    const server = await startAttacked(t);
    let previous: string | undefined;
    for (let at = 0; at < 3; at++) {
      const body = { input: "z".repeat(22_000_000), previous_response_id: previous ?? null };
      previous = idOf(await server.send({ body }));
    }
    const answer = await server.send({ body: { input: "x", previous_response_id: previous } });
    const wanted = { status: 400, code: "context_length_exceeded" };
    assertRefused(answer, wanted, "chain");
    await server.isWell();
  });
});

/** The bytes of a document: its parts by name, compressed. */
function toArchive(parts: readonly (readonly [string, Buffer])[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, packed] of parts) {
    const local = Buffer.alloc(30);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    locals.push(local, Buffer.from(name), packed);
    central.push(entry, Buffer.from(name));
    at += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...central, end]);
}

/** Each expands to a few megabytes that a careless pattern reads again at every character. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  "tags that never end": "<".repeat(4_000_000),
  "breaks that never end": "<w:br ".repeat(500_000),
  "fields that never end": "<w:instrText ".repeat(300_000),
  "fields without their next": "<w:delText>x".repeat(300_000),
  "breaks with slashes": `<w:br ${"/".repeat(4_000_000)}`,
  "entities that never end": "&#x".repeat(1_000_000),
  "empty lines": "\n".repeat(4_000_000),
};

describe("documents that attack", () => {
  for (const [name, xml] of Object.entries(DOCUMENTS)) {
    it(`are read in one pass: ${name}`, () => {
      const bytes = toArchive([["word/document.xml", deflateRawSync(xml)]]);
      assert.ok(readOfficeText(bytes).length <= xml.length);
    });
  }

  it("are abandoned if they expand to more than a document has", () => {
    const slide = deflateRawSync(Buffer.alloc(12_000_000, "<a/>"));
    const names = many(10_000, (at) => [`ppt/slides/slide${at}.xml`, slide] as const);
    const whole = deflateRawSync(Buffer.alloc(40_000_000, " "));
    for (const parts of [names.slice(0, 50), [["word/document.xml", whole] as const]]) {
      assert.throws(() => readOfficeText(toArchive(parts)), { code: "tool_failed" });
    }
  });
});
