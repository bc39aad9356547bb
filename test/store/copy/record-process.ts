/**
 * Works with a SQLite record in a process of its own, which is asked by its arguments and answers its parent: as
 * with the command, all locks go with the process, also where it is killed in the middle.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { toFailure } from "../../../src/base/failure.ts";
import type {
  CopyBegin,
  CopyOptions,
  CopyProgress,
  StoreCopy,
} from "../../../src/store/copy/store-copy.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { newDatabasePath } from "../database-path.ts";
import { nameOf } from "../shelf-contract.ts";
import { fillRecord, readAll } from "./full-record.ts";
import { fillLargeRecord, type LargeWish } from "./large-record.ts";

export interface CopyWish {
  readonly path: string;
  readonly address: string;
  readonly things?: CopyOptions["things"];
  /** Kills itself after so many batches; `comparing`: when nothing is left to be copied. */
  readonly killAt?: number | "comparing";
}

export interface Copied extends StoreCopy {
  readonly begun: CopyBegin | undefined;
  readonly batches: number;
  /** The most memory that the process had. */
  readonly memoryBytes: number;
}

const JOBS = {
  fill: (path: string) => withRecord(path, fillRecord),
  fillLarge: ({ path, bytes }: LargeWish) =>
    withRecord(path, (kept) => fillLargeRecord(kept, bytes)),
  read: (path: string) => withRecord(path, readAll),
  change: (path: string) =>
    withRecord(path, async (kept) => {
      await (await kept.shelf()).update(nameOf("small"), "changed");
    }),
  copy: ({ path, ...wish }: CopyWish) => withRecord(path, (kept) => copy(kept, wish)),
};

type Job = keyof typeof JOBS;

export async function makeRecord(): Promise<string> {
  const path = newDatabasePath();
  await inProcess("fill", path);
  return path;
}

/** Gives what the job gives, or `killed`. Rejects with the job's failure. */
export async function inProcess(job: Job, about: string | CopyWish | LargeWish): Promise<unknown> {
  const child = fork(fileURLToPath(import.meta.url), [job, JSON.stringify(about)], {
    serialization: "advanced",
  });
  return await new Promise((resolve, reject) => {
    let answer: { done: unknown } | { code: string; message: string } | undefined;
    child.once("message", (message) => {
      answer = message as typeof answer;
    });
    child.once("exit", (_, signal) => {
      if (signal === "SIGKILL") resolve("killed");
      else if (answer && "done" in answer) resolve(answer.done);
      else reject(Object.assign(new Error(answer?.message ?? "no answer"), answer));
    });
  });
}

async function withRecord<Out>(
  path: string,
  work: (kept: KeptRecord) => Promise<Out>,
): Promise<Out> {
  const kept = await openKept(path);
  try {
    return await work(kept);
  } finally {
    await kept.close();
  }
}

async function copy(kept: KeptRecord, wish: Omit<CopyWish, "path">): Promise<Copied> {
  const { address, things = [], killAt } = wish;
  let last: CopyProgress | undefined;
  let batches = 0;
  let begun: CopyBegin | undefined;
  const done = await kept.maintenance.copyTo(address, {
    things,
    onBegin(how) {
      begun = how;
    },
    onProgress(step) {
      // The first step of a table tells what was there.
      if (step.phase === "copying" && step.table === last?.table) batches++;
      last = step;
      const isTime = batches === killAt || step.phase === killAt;
      if (isTime) process.kill(process.pid, "SIGKILL");
    },
  });
  const memoryBytes = process.resourceUsage().maxRSS * 1024;
  return { ...done, begun, batches, memoryBytes };
}

/** As a program: answers and ends. */
async function answer(job: string, about: string): Promise<void> {
  assert.ok(Object.hasOwn(JOBS, job));
  const work = JOBS[job as Job] as (about: unknown) => Promise<unknown>;
  const reply = await work(JSON.parse(about)).then(
    (done) => ({ done }),
    (thrown: unknown) => ({ code: toFailure(thrown).code, message: toFailure(thrown).message }),
  );
  process.send?.(reply, () => process.disconnect());
}

const [, program, job, about] = process.argv;
if (program === fileURLToPath(import.meta.url) && job !== undefined && about !== undefined) {
  await answer(job, about);
}
