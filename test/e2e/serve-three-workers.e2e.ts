/**
 * Three workers are as safe as one, even if one of them is killed: files, searches, queues, budgets,
 * numbers.
 */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { askAgain, until, untilTrue } from "../patience.ts";
import { startBusyVendor } from "./busy-vendor.ts";
import { createPlace, type Place } from "./command.ts";
import { type Answered, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const THREE = ["--workers", "3"];

async function configure(place: Place, text: string): Promise<void> {
  const file = join(place.home, ".config", "offshoot", "config.yaml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** `kill -9` of one of the workers, once all listen. */
async function killOne(served: Served): Promise<void> {
  await until(async () => {
    const text = String((await get(served, "/metrics")).body);
    const told = text.match(/^offshoot_resident_memory_bytes\{/gm)?.length;
    return told === 3 ? true : undefined;
  }, "three workers listen");
  const { pid } = served.command.child;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const [first] = text.trim().split(/\s+/).map(Number);
  process.kill(first ?? assert.fail("no workers"), "SIGKILL");
}

/** Asks until a worker answers: one that has just died does not answer. */
async function get(served: Served, path: string): Promise<Answered> {
  return await askAgain(
    (limit) => served.ask("GET", path, undefined, limit),
    `an answer to ${path}`,
  );
}

async function upload(served: Served, path: string, text: string): Promise<string> {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new Blob([text], { type: "text/plain" }), "a.txt");
  const answer = await fetch(`${served.url}${path}`, { method: "POST", body: form });
  const { id } = (await answer.json()) as { id: string };
  assert.equal(answer.status, 200);
  return id;
}

/** Each text is different. */
function toFact(at: number): string {
  return Array.from({ length: 60 }, (_, word) => `${at}.${word}`).join(" ");
}

/** An embeddings server that counts the texts that it got. */
async function startEmbeddings(): Promise<AsyncDisposable & { url: string; texts: string[] }> {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const { input } = JSON.parse(body) as { input: string[] };
    texts.push(...input);
    const data = input.map((_, index) => ({ index, embedding: [1, 0, 0] }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ data, model: "e", usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    texts,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

describe("three workers", { skip: process.platform !== "linux" }, () => {
  it("index each file once, and find all of it although one is killed", async () => {
    await using embeddings = await startEmbeddings();
    await using place = await createPlace();
    const names = `embeddings_model: custom/e, embeddings_url: "${embeddings.url}"`;
    await configure(place, `server: { ${names} }\n`);
    await using served = await serve({ place, args: THREE });
    const made = await served.ask("POST", "/v1/vector_stores", {});
    const store = `/v1/vector_stores/${(made.body as { id: string }).id}`;
    const facts = Array.from({ length: 240 }, (_, at) => toFact(at));
    const file_ids = [await upload(served, "/v1/files", facts.join("\n\n"))];
    for (let at = 0; at < 20; at++) {
      file_ids.push(await upload(served, "/v1/files", `The password is zebra${at}.`));
    }
    const chunking = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 };
    const chunking_strategy = { type: "static", static: chunking };
    await served.ask("POST", `${store}/file_batches`, { file_ids, chunking_strategy });
    await until(async () => (embeddings.texts.length > 64 ? true : undefined), "it is on its way");
    await killOne(served);
    const counts = await until(async () => {
      const { file_counts } = (await get(served, store)).body as {
        file_counts: { in_progress: number; completed: number };
      };
      return file_counts.in_progress === 0 ? file_counts : undefined;
    }, "all are indexed");
    assert.equal(counts.completed, file_ids.length);
    for (let at = 0; at < 20; at++) {
      const query = { query: `zebra${at}` };
      const { body } = await until(
        () => served.ask("POST", `${store}/search`, query).catch(() => undefined),
        "it is searched",
      );
      const [first] = (body as { data: { file_id: string }[] }).data;
      assert.equal(first?.file_id, file_ids[at + 1], `zebra${at}`);
    }
    const indexed = embeddings.texts.filter((text) => !/^zebra\d+$/.test(text));
    const repeated = indexed.length - new Set(indexed).size;
    // Two files at once in the killed worker, a batch of each.
    assert.ok(repeated <= 64, `${repeated} texts were embedded again`);
    assert.ok(new Set(indexed).size > 240, `${new Set(indexed).size} texts`);
    const listed = await place.run(["runs", "list", "--json"]);
    assert.deepEqual(JSON.parse(listed.stdout), [], "indexing is not a run of a user");
  });

  it("limit running and waiting background responses, all of them together", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    await configure(place, "server: { max_background: 2, max_queued: 3 }\n");
    await using served = await serve({ place, args: [...slowModel(upstream), ...THREE] });
    const made: EmittedResponse[] = [];
    for (let count = 0; count < 5; count++) {
      made.push(await served.create({ input: "Hi", background: true }));
    }
    await until(async () => (upstream.open === 2 ? true : undefined), "two are asked");
    for (let turn = 0; turn < 4; turn++) {
      const body = { input: "Hi", background: true };
      assert.equal((await served.ask("POST", "/v1/responses", body)).status, 429);
    }
    const numbers = String((await get(served, "/metrics")).body);
    assert.match(numbers, /offshoot_responses\{state="running"\} 2\n/);
    assert.match(numbers, /offshoot_responses\{state="queued"\} 3\n/);
    assert.equal(upstream.requests, 2);
    await killOne(served);
    await until(async () => (upstream.open === 2 ? true : undefined), "two are asked again");
    assert.ok(upstream.requests <= 4, `${upstream.requests} were asked`);
    upstream.finish();
    for (const { id } of made) {
      await until(async () => {
        const { body } = await get(served, `/v1/responses/${id}`);
        return (body as EmittedResponse).status === "completed" ? true : undefined;
      }, `${id} is finished`);
    }
    // A worker counts an ending right after it has written it, and another worker may read the record in between.
    await untilTrue(async () => {
      const after = String((await get(served, "/metrics")).body);
      const isOver = (state: string): boolean =>
        after.includes(`offshoot_responses{state="${state}"} 0\n`);
      return isOver("running") && isOver("queued");
    }, "no response is counted as running or queued");
  });

  it("share the files of containers", async () => {
    await using served = await serve({ args: THREE });
    const made = await served.ask("POST", "/v1/containers", { name: "mine" });
    const container = `/v1/containers/${(made.body as { id: string }).id}`;
    const file = await upload(served, `${container}/files`, "in all of them");
    await killOne(served);
    for (let turn = 0; turn < 6; turn++) {
      const { status, body } = await get(served, `${container}/files/${file}/content`);
      assert.deepEqual([status, String(body)], [200, "in all of them"]);
    }
  });

  it("enforce one budget for a key, which outlives the worker that holds a part of it", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    // For one answer at a time, and for a request that an interrupted call has cost.
    const key = await place.run(["keys", "create", "mine", "--tokens-per-day", "560"]);
    const args = [...slowModel(upstream), ...THREE];
    await using served = await serve({ place, args, key: "another" });
    const input = "Say hello to all of them. ".repeat(20);
    const body = JSON.stringify({ input, background: true, max_output_tokens: 250 });
    const headers = { authorization: `Bearer ${key.stdout.trim()}`, connection: "close" };
    const send = (path: string, init: RequestInit): Promise<Response> =>
      askAgain(
        (signal) => fetch(`${served.url}${path}`, { headers, signal, ...init }),
        `an answer to ${path}`,
      );
    const create = (): Promise<Response> => send("/v1/responses", { method: "POST", body });
    const { id } = (await (await create()).json()) as EmittedResponse;
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    for (let turn = 0; turn < 4; turn++) assert.equal((await create()).status, 429);
    await killOne(served);
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    upstream.finish();
    await until(async () => {
      const found = (await (await send(`/v1/responses/${id}`, {})).json()) as EmittedResponse;
      return found.status === "completed" ? true : undefined;
    }, "it is finished");
    assert.equal((await create()).status, 200, "what was not used is free again");
  });

  it("wait together if a vendor asks one of them to", async () => {
    await using vendor = await startBusyVendor(100);
    await using served = await serve({ args: [...slowModel(vendor), ...THREE] });
    const ask = async (count: number): Promise<void> => {
      const calls = Array.from({ length: count }, () =>
        served.create({ input: "Hi", store: false }),
      );
      await Promise.all(calls);
    };
    /** True if all of them wait in the second half of a wait that one of them was asked for. */
    const waitOnce = async (): Promise<boolean> => {
      await ask(9);
      vendor.tellNext(4);
      const told = ask(1);
      await untilTrue(() => vendor.toldAtMs > 0, "one is told to wait");
      const halfMs = vendor.toldAtMs + 2000;
      const endMs = vendor.toldAtMs + 4000;
      await untilTrue(() => performance.now() > halfMs, "half of the wait is over");
      vendor.arrivals.length = 0;
      await Promise.all([told, ask(9)]);
      return !vendor.arrivals.some((atMs) => atMs < endMs);
    };
    // A machine may be so busy that one of them learns it late; without the exchange they would never wait
    // together.
    let isTogether = false;
    for (let round = 0; round < 5 && !isTogether; round++) isTogether = await waitOnce();
    assert.ok(isTogether, "others went on");
  });
});
