/**
 * Processes with the engine on DBOS that are killed, and processes that are stopped and continue after others have
 * taken over.
 */

import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { setUpDbos } from "../../../src/engine/dbos/set-up-dbos.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { untilTrue } from "../../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../../store/postgres/postgres-server.ts";
import { toTexts } from "../engine-fixture.ts";
import type { Order } from "./dbos-process.ts";

const PROGRAM = fileURLToPath(new URL("./dbos-process.js", import.meta.url));
const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Program {
  readonly child: ChildProcess;
  /** What it reported, in order. */
  readonly told: readonly string[];
  order(order: Order): void;
  /** Resolves when it has reported this. */
  tells(text: string): Promise<void>;
}

if (server === undefined) {
  it(`processes on DBOS (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  describe("processes with the engine on DBOS", () => {
    for (const how of ["SIGKILL", "SIGSTOP"] as const) {
      const name =
        how === "SIGKILL"
          ? "go on with the run of one that was killed, and repeat the step in flight alone"
          : "fence off one that stood still for longer than its lease";
      it(name, async () => {
        const address = await server.newAddress();
        const kept = await openKept(address);
        const store = await kept.runs();
        await setUpDbos(address);
        const first = startProgram(address);
        const second = startProgram(address);
        try {
          for (const program of [first, second]) await program.tells("ready");
          first.order("submit");
          await first.tells("two in 1");
          first.child.kill(how);
          await untilTrue(async () => {
            const looks = second.told.filter((text) => text === "started").length;
            second.order("start");
            await untilTrue(
              () => second.told.filter((text) => text === "started").length > looks,
              "a look for runs without an owner",
            );
            return second.told.includes("two in 2");
          }, "the takeover");
          second.order("go");
          await untilTrue(
            async () => (await store.getRunStatus("run_1"))?.status === "ended",
            "the ending",
          );
          if (how === "SIGSTOP") {
            first.child.kill("SIGCONT");
            first.order("go");
            await first.tells("fenced");
          }
          const log = await store.readEvents("run_1", -1, 100);
          assert.deepEqual(toTexts(log), ["one in 1", "two in 2", "run_end"]);
          assert.equal((await store.getRun("run_1"))?.result, 2);
          assert.ok(!second.told.includes("one in 2"), "a finished step is not repeated");
        } finally {
          for (const { child } of [first, second]) child.kill("SIGKILL");
          await kept.close();
        }
      });
    }
  });
}

function startProgram(address: string): Program {
  const child = fork(PROGRAM, [address], {
    execArgv: ["--enable-source-maps"],
    env: { PATH: process.env["PATH"] },
  });
  const told: string[] = [];
  child.on("message", (text: string) => told.push(text));
  return {
    child,
    told,
    order: (order) => void child.send(order),
    async tells(text) {
      while (!told.includes(text)) {
        assert.equal(child.exitCode, null, `it ended before it told \`${text}\``);
        await Promise.race([once(child, "message"), once(child, "exit")]);
      }
    },
  };
}
