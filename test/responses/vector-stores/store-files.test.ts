import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deleteNamedFile } from "../../../src/responses/containers/named-file.ts";
import { deleteFile } from "../../../src/responses/files/files.ts";
import {
  cancelBatch,
  createBatch,
  getBatch,
  listBatchFiles,
} from "../../../src/responses/vector-stores/batches.ts";
import {
  createStoreFile,
  deleteStoreFile,
  forgetFile,
  getStoreFile,
  listStoreFiles,
  readStoreFileContent,
  updateStoreFile,
} from "../../../src/responses/vector-stores/store-files.ts";
import { createStore, deleteStore } from "../../../src/responses/vector-stores/stores.ts";
import { checkPublished } from "../../conformance/check.ts";
import { createBench, TENANT, type VectorBench } from "./vector-fixture.ts";

async function createFilled(names: readonly string[]) {
  const bench = await createBench();
  const { id: store } = await createStore(bench, TENANT, {});
  const files: string[] = [];
  for (const name of names) {
    const file = await bench.upload(name, `Text of ${name}`);
    await createStoreFile(bench, TENANT, store, { file_id: file });
    files.push(file);
  }
  await bench.engine.idle();
  return { bench, store, files };
}

const countChunks = async (bench: VectorBench, store: string): Promise<number> =>
  (await bench.chunks.countWords({ tenant: TENANT, store }, [])).total;

describe("files of a vector store", () => {
  it("are added, read after the request, shown and removed as published", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const file = await bench.upload("a.md", "# Title\n\nSome text.");
    const chunking = { max_chunk_size_tokens: 200, chunk_overlap_tokens: 20 };
    const added = await createStoreFile(bench, TENANT, store, {
      file_id: file,
      attributes: { region: "eu", year: 2024, draft: false },
      chunking_strategy: { type: "static", static: chunking },
    });
    checkPublished("VectorStoreFileObject", added);
    assert.deepEqual([added.id, added.status, added.usage_bytes], [file, "in_progress", 0]);
    assert.deepEqual(added.chunking_strategy, { type: "static", static: chunking });
    await bench.engine.idle();
    const ready = await getStoreFile(bench, TENANT, { store, file });
    checkPublished("VectorStoreFileObject", ready);
    assert.equal(ready.status, "completed");
    const content = await readStoreFileContent(bench, TENANT, { store, file });
    checkPublished("VectorStoreFileContentResponse", content);
    assert.deepEqual(content.data, [{ type: "text", text: "# Title\n\nSome text." }]);
    const attributes = { region: "us" };
    const labelled = await updateStoreFile(bench, TENANT, { store, file }, { attributes });
    assert.deepEqual(labelled.attributes, attributes);
    const deleted = await deleteStoreFile(bench, TENANT, { store, file });
    checkPublished("DeleteVectorStoreFileResponse", deleted);
    assert.equal(await countChunks(bench, store), 0);
    await assert.rejects(getStoreFile(bench, TENANT, { store, file }), {
      code: "not_found",
      param: "file_id",
    });
  });

  it("say why they cannot be searched", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const picture = await bench.upload("a.png", Buffer.from("\x89PNG\r\n\x1a\n....", "latin1"));
    const empty = await bench.upload("b.txt", "  \n ");
    for (const file of [picture, empty]) {
      await createStoreFile(bench, TENANT, store, { file_id: file });
    }
    await bench.engine.idle();
    const shown = await getStoreFile(bench, TENANT, { store, file: picture });
    checkPublished("VectorStoreFileObject", shown);
    assert.equal(shown.status, "failed");
    assert.equal(shown.last_error?.code, "unsupported_file");
    assert.match(shown.last_error?.message ?? "", /a\.png.*image\/png/);
    const { last_error } = await getStoreFile(bench, TENANT, { store, file: empty });
    assert.equal(last_error?.code, "invalid_file");
  });

  it("are listed a page at a time, by status", async () => {
    const { bench, store, files } = await createFilled(["a.txt", "b.txt", "c.txt"]);
    const list = async (query: string) => {
      const page = await listStoreFiles(bench, TENANT, { store }, new URLSearchParams(query));
      checkPublished("ListVectorStoreFilesResponse", page);
      return [page.data.map(({ id }) => files.indexOf(id)), page.has_more];
    };
    assert.deepEqual(await list(""), [[2, 1, 0], false]);
    assert.deepEqual(await list("limit=2"), [[2, 1], true]);
    assert.deepEqual(await list(`limit=2&after=${files[1]}`), [[0], false]);
    assert.deepEqual(await list(`limit=1&order=asc&before=${files[2]}`), [[1], true]);
    assert.deepEqual(await list("filter=completed&order=asc"), [[0, 1, 2], false]);
    assert.deepEqual(await list("filter=failed"), [[], false]);
    assert.deepEqual(await list("after=file-none"), [[], false]);
    await assert.rejects(list("filter=done"), { code: "invalid_request", param: "filter" });
  });

  it("leave every store when they are deleted themselves", async () => {
    const { bench, store, files } = await createFilled(["a.txt", "b.txt"]);
    const other = await createStore(bench, TENANT, { file_ids: files });
    await bench.engine.idle();
    await forgetFile(bench, TENANT, files[0] ?? "");
    assert.equal(await countChunks(bench, store), 1);
    assert.equal(await countChunks(bench, other.id), 1);
    const gone = { store: other.id, file: files[0] ?? "" };
    await assert.rejects(getStoreFile(bench, TENANT, gone), { code: "not_found" });
  });

  it("leave a store too that is given one while it is being deleted", async () => {
    const { bench, store, files } = await createFilled(["a.txt"]);
    const file = files[0] ?? "";
    let forgotten = 0;
    const deleted = await deleteNamedFile(bench, TENANT, file, async (tenant, id) => {
      await forgetFile(bench, tenant, id);
      if (forgotten++ > 0) return;
      await createStoreFile(bench, tenant, store, { file_id: id });
      await bench.engine.idle();
      assert.equal(await countChunks(bench, store), 1);
    });
    assert.equal(deleted.deleted, true);
    assert.equal(await countChunks(bench, store), 0);
    await assert.rejects(getStoreFile(bench, TENANT, { store, file }), { code: "not_found" });
  });

  it("are not added to a store that is deleted meanwhile", async () => {
    const bench = await createBench();
    const file = await bench.upload("a.txt", "Some text.");
    for (const body of [{ file_id: file }, { file_ids: [file] }]) {
      const { id: store } = await createStore(bench, TENANT, {});
      const bytes = await bench.shelf.countBytes(TENANT);
      let run = "";
      const promise: typeof bench.indexing.promise = async (...job) => {
        [run] = job;
        await bench.indexing.promise(...job);
        if (await bench.shelf.get({ tenant: TENANT, kind: "vector_store", id: store })) {
          await deleteStore(bench, TENANT, store);
        }
      };
      const deleting = { ...bench, indexing: { ...bench.indexing, promise } };
      const adding =
        "file_id" in body
          ? createStoreFile(deleting, TENANT, store, body)
          : createBatch(deleting, TENANT, store, body);
      await assert.rejects(adding, { code: "not_found", param: "vector_store_id" });
      await bench.engine.idle();
      assert.ok((await bench.shelf.countBytes(TENANT)) < bytes, "no file of the store is left");
      assert.equal(await bench.engine.status(run), undefined);
    }
  });

  it("are indexed also if the record makes each change twice", async () => {
    const { bench, store, files } = await createFilled(["a.txt"]);
    const file = files[0] ?? "";
    const change = bench.shelf.change.bind(bench.shelf);
    bench.shelf.change = async (...asked) => {
      await change(...asked);
      return await change(...asked);
    };
    await createStoreFile(bench, TENANT, store, { file_id: file });
    await bench.engine.idle();
    const { status } = await getStoreFile(bench, TENANT, { store, file });
    assert.equal(status, "completed");
    assert.equal(await countChunks(bench, store), 1);
  });

  it("leave a store when the deletion that a crash has cut is repeated", async () => {
    const { bench, store, files } = await createFilled(["a.txt"]);
    const file = files[0] ?? "";
    await deleteFile(bench, TENANT, file);
    const forget = (tenant: string, id: string): Promise<void> => forgetFile(bench, tenant, id);
    await assert.rejects(deleteNamedFile(bench, TENANT, file, forget), { code: "not_found" });
    assert.equal(await countChunks(bench, store), 0);
  });

  it("are read by the next process where one has stopped in the middle", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const file = await bench.upload("a.txt", "Some text");
    await createStoreFile({ ...bench, indexing: silent(bench) }, TENANT, store, { file_id: file });
    assert.equal((await getStoreFile(bench, TENANT, { store, file })).status, "in_progress");
    const next = bench.restart();
    bench.clock.advance(60_000);
    await next.engine.start();
    await next.engine.idle();
    assert.equal((await getStoreFile(bench, TENANT, { store, file })).status, "completed");
    assert.equal(await countChunks(bench, store), 1);
  });

  it("refuse attributes that are too many or too long", async () => {
    const { bench, store, files } = await createFilled(["a.txt"]);
    const file = files[0] ?? "";
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, at]));
    for (const attributes of [many, { a: "x".repeat(513) }, { a: [1] }]) {
      await assert.rejects(updateStoreFile(bench, TENANT, { store, file }, { attributes }), {
        code: "invalid_request",
      });
    }
  });
});

/** A process that dies right before it begins. */
function silent({ indexing }: VectorBench): VectorBench["indexing"] {
  return { ...indexing, begin: async () => true };
}

describe("batches of files", () => {
  it("are made, waited for and listed as published", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const files = [await bench.upload("a.txt", "One"), await bench.upload("b.txt", "Two")];
    const attributes = { region: "eu" };
    const made = await createBatch(bench, TENANT, store, { file_ids: files, attributes });
    checkPublished("VectorStoreFileBatchObject", made);
    assert.deepEqual([made.status, made.file_counts.total], ["in_progress", 2]);
    await bench.engine.idle();
    const place = { store, batch: made.id };
    const ready = await getBatch(bench, TENANT, place);
    assert.deepEqual([ready.status, ready.file_counts.completed], ["completed", 2]);
    const page = await listBatchFiles(bench, TENANT, place, new URLSearchParams("order=asc"));
    assert.deepEqual(
      page.data.map((one) => [one.id, one.attributes]),
      files.map((id) => [id, attributes]),
    );
    const other = await createStore(bench, TENANT, {});
    const elsewhere = { store: other.id, batch: made.id };
    await assert.rejects(getBatch(bench, TENANT, elsewhere), { code: "not_found" });
  });

  it("take what each file says of itself", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const file = await bench.upload("a.txt", "One");
    await createBatch(bench, TENANT, store, { files: [{ file_id: file, attributes: { n: 1 } }] });
    assert.deepEqual((await getStoreFile(bench, TENANT, { store, file })).attributes, { n: 1 });
    await assert.rejects(createBatch(bench, TENANT, store, {}), { param: "file_ids" });
  });

  it("stop when they are cancelled, and leave nothing of what was not done", async () => {
    const bench = await createBench();
    const { id: store } = await createStore(bench, TENANT, {});
    const files = [await bench.upload("a.txt", "One"), await bench.upload("b.txt", "Two")];
    const { id: batch } = await createBatch(bench, TENANT, store, { file_ids: files });
    const cancelled = await cancelBatch(bench, TENANT, { store, batch });
    checkPublished("VectorStoreFileBatchObject", cancelled);
    assert.deepEqual([cancelled.status, cancelled.file_counts.in_progress], ["cancelled", 0]);
    await bench.engine.idle();
    const { file_counts } = await getBatch(bench, TENANT, { store, batch });
    assert.equal(await countChunks(bench, store), file_counts.completed);
  });
});
