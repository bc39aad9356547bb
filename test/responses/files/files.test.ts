import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import type { FileObject } from "../../../src/responses/files/file-record.ts";
import {
  createFile,
  deleteFile,
  getFile,
  listFiles,
  readFileContent,
  readFileParts,
} from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import type { ShelfParts } from "../../../src/responses/tenant/shelf-parts.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { checkPublished } from "../../conformance/check.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const HOUR_MS = 3_600_000;

function createParts(): ShelfParts & { clock: ManualClock } {
  const clock = createManualClock(1_790_000_000_999);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock) };
}

async function send(parts: ShelfParts, text: string, more: object = {}): Promise<FileObject> {
  const { filename = "a.txt", tenant = "t", ...fields } = more as Record<string, string>;
  const asked = parseNewFile(filename, { purpose: "user_data", ...fields });
  return createFile(parts, tenant, asked, { bytes: streamOf(Buffer.from(text)), maxBytes: 100 });
}

const list = (parts: ShelfParts, query = ""): ReturnType<typeof listFiles> =>
  listFiles(parts, "t", new URLSearchParams(query));

describe("files", () => {
  it("are kept, shown and deleted as published", async () => {
    const parts = createParts();
    const made = await send(parts, "Hello", { filename: "note.md" });
    checkPublished("OpenAIFile", made);
    assert.match(made.id, /^file-[a-z0-9]+$/);
    assert.deepEqual(made, {
      id: made.id,
      object: "file",
      bytes: 5,
      created_at: 1_790_000_000,
      filename: "note.md",
      purpose: "user_data",
      status: "processed",
    });
    assert.deepEqual(await getFile(parts, "t", made.id), made);
    const content = await readFileContent(parts, "t", made.id);
    assert.deepEqual([content.file, content.mediaType], [made, "text/markdown"]);
    const { value } = await content.bytes.next();
    assert.equal(Buffer.from(value ?? []).toString(), "Hello");
    const deleted = await deleteFile(parts, "t", made.id);
    checkPublished("DeleteFileResponse", deleted);
    assert.deepEqual(deleted, { id: made.id, object: "file", deleted: true });
    await assert.rejects(getFile(parts, "t", made.id), { code: "not_found", param: "file_id" });
    await assert.rejects(deleteFile(parts, "t", made.id), { code: "not_found" });
  });

  it("are read whole for a request's part, up to a limit", async () => {
    const parts = createParts();
    const { id } = await send(parts, "%PDF-1.7 and so on", { filename: "doc.bin" });
    const { filename, mediaType, bytes } = await readFileParts(parts, "t", id);
    assert.deepEqual([filename, mediaType], ["doc.bin", "application/pdf"]);
    assert.equal(Buffer.from(bytes).toString(), "%PDF-1.7 and so on");
    const refused = { code: "invalid_request", param: "file_id" };
    await assert.rejects(readFileParts(parts, "t", id, 17), refused);
  });

  it("are listed by purpose, newest first, a page at a time", async () => {
    const parts = createParts();
    for (let n = 0; n < 6; n++) {
      await send(parts, "", { filename: `${n}`, purpose: n % 2 === 0 ? "vision" : "batch" });
    }
    const names = async (query: string): Promise<string> => {
      const page = await list(parts, query);
      checkPublished("ListFilesResponse", page);
      assert.equal(page.last_id, page.data.at(-1)?.id ?? "");
      return `${page.data.map(({ filename }) => filename).join("")}${page.has_more ? "+" : ""}`;
    };
    assert.equal(await names(""), "543210");
    assert.equal(await names("order=asc&limit=2"), "01+");
    assert.equal(await names("purpose=vision"), "420");
    assert.equal(await names("purpose=vision&limit=2"), "42+");
    const { last_id } = await list(parts, "purpose=vision&limit=2");
    assert.equal(await names(`purpose=vision&limit=2&after=${last_id}`), "0");
    assert.equal(await names("purpose=evals"), "");
    await assert.rejects(list(parts, "limit=10001"), { param: "limit" });
  });

  it("are all listed, however many there are of another purpose", async () => {
    const parts = createParts();
    await send(parts, "", { filename: "first", purpose: "vision" });
    for (let n = 0; n < 1100; n++) await send(parts, "", {});
    await send(parts, "", { filename: "last", purpose: "vision" });
    const page = await list(parts, "purpose=vision&limit=2");
    assert.deepEqual(
      [page.data.map(({ filename }) => filename), page.has_more],
      [["last", "first"], false],
    );
    assert.equal((await list(parts)).data.length, 1102);
  });

  it("are gone when their time is over, before anyone clears them away", async () => {
    const parts = createParts();
    const made = await send(parts, "x", {
      "expires_after[anchor]": "created_at",
      "expires_after[seconds]": "3600",
    });
    checkPublished("OpenAIFile", made);
    assert.equal(made.expires_at, made.created_at + 3600);
    await parts.clock.advance(HOUR_MS - 1);
    assert.deepEqual(await getFile(parts, "t", made.id), made);
    await parts.clock.advance(1);
    await assert.rejects(getFile(parts, "t", made.id), { code: "not_found" });
    await assert.rejects(readFileContent(parts, "t", made.id), { code: "not_found" });
    assert.deepEqual((await list(parts)).data, []);
    const expired = await parts.shelf.listExpired(parts.clock.now(), 9);
    assert.deepEqual(
      expired.map(({ id }) => id),
      [made.id],
    );
  });

  it("are not there for another tenant", async () => {
    const parts = createParts();
    const { id } = await send(parts, "secret");
    const unknown = { code: "not_found", param: "file_id" };
    for (const attempt of [
      () => getFile(parts, "u", id),
      () => deleteFile(parts, "u", id),
      () => readFileContent(parts, "u", id),
      () => readFileParts(parts, "u", id),
    ]) {
      await assert.rejects(attempt(), unknown);
    }
    assert.deepEqual((await listFiles(parts, "u", new URLSearchParams())).data, []);
    assert.equal((await list(parts)).data.length, 1);
  });

  it("leave nothing when they are too large or break off, and read no further bytes", async () => {
    const parts = createParts();
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked++;
        yield Buffer.alloc(40);
      }
    }
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(40);
      throw new Error("The client went away.");
    }
    const fields = parseNewFile("a", { purpose: "user_data" });
    const store = (bytes: AsyncIterable<Uint8Array>): Promise<FileObject> =>
      createFile(parts, "t", fields, { bytes, maxBytes: 100 });
    await assert.rejects(store(endless()), { code: "invalid_request", param: "file" });
    assert.equal(asked, 3);
    await assert.rejects(store(broken()), /went away/);
    const query = { tenant: "t", kind: "file", order: "oldest", limit: 9 } as const;
    assert.deepEqual(await parts.shelf.list(query), []);
    assert.equal((await store(streamOf(Buffer.alloc(100)))).bytes, 100);
  });

  it("are not visible before the last byte is stored, and expire if it never comes", async () => {
    const parts = createParts();
    const seen: unknown[] = [];
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      const query = { tenant: "t", kind: "file", order: "oldest", limit: 9 } as const;
      const [thing] = await parts.shelf.list(query);
      seen.push((await list(parts)).data.length, thing?.expires_at_ms);
      await assert.rejects(getFile(parts, "t", thing?.id ?? ""), { code: "not_found" });
    }
    const fields = parseNewFile("a", { purpose: "user_data" });
    const made = await createFile(parts, "t", fields, { bytes: slow(), maxBytes: 100 });
    assert.deepEqual(seen, [0, parts.clock.now() + 24 * HOUR_MS]);
    const thing = await parts.shelf.get({ tenant: "t", kind: "file", id: made.id });
    assert.equal(thing?.expires_at_ms, null);
  });
});
