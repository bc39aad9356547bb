/**
 * How long a page of runs takes in a record with 100,000 of them, and the tree of a run with 50,000 nodes. `node
 * build/bench/run-list.js`; the limit is 100 ms for a page.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toSkeleton } from "../src/runtime/record/skeleton.ts";
import { openKept } from "../src/store/open-kept.ts";
import type { RunIndex, RunListQuery } from "../src/store/run-index.ts";
import { fillLargeRecord, NODES } from "./large-record.ts";

const LIMIT_MS = 100;

const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
const path = join(folder, "runs.db");
try {
  await (await openKept(path)).runs();
  await fillLargeRecord(path);
  const kept = await openKept(path);
  const index = await kept.index();
  const queries: Readonly<Record<string, Partial<RunListQuery>>> = {
    newest: {},
    "of a tenant": { tenant: "tenant-3" },
    running: { status: "running" },
    "failed, none": { ending: "timeout" },
    "a model": { model: "acme/model-7" },
    "an agent that nobody is": { agent: "nobody" },
    "a key": { key_id: "key-11" },
    "a folder and a day": { folder: "/srv/5", from_ms: 5_000_000, to_ms: 6_000_000 },
    "words that nothing has": { search: "nothing like this" },
    "in the middle": { before: { created_at_ms: 5_000_000, id: "run_50000" } },
    waiting: { waiting: true },
  };
  let slowest = 0;
  for (const [name, query] of Object.entries(queries)) {
    const ms = await time(() => listPage(index, query));
    slowest = Math.max(slowest, ms);
    process.stdout.write(`${ms.toFixed(1).padStart(8)} ms  list: ${name}\n`);
  }
  const tree = await time(async () => {
    const nodes = toSkeleton(await index.listTree("run_big"), await index.listSpans("run_big"));
    if (nodes.length < NODES) throw new Error(`only ${nodes.length} nodes`);
  });
  process.stdout.write(`${tree.toFixed(1).padStart(8)} ms  tree of ${NODES} nodes\n`);
  await kept.close();
  if (slowest > LIMIT_MS) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** As `GET /v1/runs` does: the rows, then what their trees used. */
async function listPage(index: RunIndex, query: Partial<RunListQuery>): Promise<void> {
  const rows = await index.listRuns({ tenant: undefined, limit: 51, ...query });
  const roots = rows.map(({ root_id }) => root_id);
  const all = { tenant: undefined, from_day: "", to_day: "" };
  if (roots.length > 0) {
    await index.sumUsage({ ...all, by: "root", daily: false, limit: 100, roots });
  }
}

/** The best of five, in milliseconds: other programs use the machine, too. */
async function time(work: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
