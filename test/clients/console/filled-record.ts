/** Data for every view, made by runs, requests and files, like users make it. */

import assert from "node:assert/strict";
import { until } from "../../patience.ts";
import type { ServedConsole } from "./served-console.ts";

/** Ids by their names in a test's addresses. */
export type Filled = Readonly<Record<string, string>>;

interface Listed {
  readonly data: readonly { readonly id: string }[];
}

export async function fillRecord(bench: ServedConsole): Promise<Filled> {
  const narrow = { name: "narrow", scopes: ["runs"], limits: { usd_per_day: 5 } };
  await bench.ask("POST", "/v1/admin/keys", narrow);
  const [TREE] = await Promise.all([makeTree(bench), makeCalls(bench)]);
  const CALLER = await findRun(bench, "Read the notes");
  const steps = await bench.ask<{ rows: readonly [string, unknown, unknown, string][] }>(
    "GET",
    `/v1/runs/${CALLER}/tree`,
  );
  const stepOf = (kind: string) =>
    steps.rows.find(([, , , is]) => is === kind)?.[0] ?? assert.fail(kind);
  bench.run("Write the summary once more");
  await until(async () => {
    const { data } = await bench.ask<Listed>("GET", "/v1/approvals");
    return data.length > 0 ? true : undefined;
  }, "a question");
  return {
    TREE,
    CALLER,
    OTHER: await findRun(bench, "Read the secret"),
    CALL: stepOf("call"),
    TURN: stepOf("turn"),
    SESSION: await makeSession(bench),
    STORE: await makeStore(bench),
  };
}

/** Three subagents: one reads, one is allowed to write, one is stopped. */
async function makeTree(bench: ServedConsole): Promise<string> {
  const command = bench.run("Review the release", "--approve", "auto");
  const id = await until(async () => {
    const { data } = await bench.ask<Listed>("GET", "/v1/runs?search=Review");
    return data[0]?.id;
  }, "the tree");
  const slow = await until(async () => {
    const { rows } = await bench.ask<{ rows: readonly [string, ...unknown[]][] }>(
      "GET",
      `/v1/runs/${id}/tree`,
    );
    return rows.find(([, , , kind, name]) => kind === "run" && name === "slow")?.[0];
  }, "the slow one");
  await bench.ask("POST", `/v1/runs/${encodeURIComponent(slow)}/cancel`, {});
  assert.equal((await command.ended).code, 0);
  return id;
}

/** A call that works, one that is denied by a rule, and one that fails. */
async function makeCalls(bench: ServedConsole): Promise<void> {
  await bench.run("Read the notes").ended;
  await bench.run("Read the secret", "--deny", "path(secret.md)").ended;
  await bench.run("Read what is not there").ended;
}

async function makeSession(bench: ServedConsole): Promise<string> {
  const { id } = await bench.ask<{ id: string }>("POST", "/v1/conversations", {});
  for (const input of ["Tell me about the release", "Say a lot about it"]) {
    await bench.served.create({ input, conversation: id, store: true });
  }
  return id;
}

async function makeStore(bench: ServedConsole): Promise<string> {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new Blob(["# Handbook\n\nReleases are on Mondays.\n"]), "handbook.md");
  const sent = await fetch(`${bench.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${bench.key}` },
    body: form,
  });
  const file = (await sent.json()) as { id: string };
  const wish = { name: "Handbook", file_ids: [file.id] };
  const { id } = await bench.ask<{ id: string }>("POST", "/v1/vector_stores", wish);
  return id;
}

async function findRun(bench: ServedConsole, words: string): Promise<string> {
  const query = new URLSearchParams({ search: words });
  const { data } = await bench.ask<Listed>("GET", `/v1/runs?${query}`);
  return data[0]?.id ?? assert.fail(words);
}
