/**
 * What DBOS's tables have of a run, and the behaviour of DBOS that the engine is built around: if a later version
 * behaves differently, the comment of `dbos-engine.ts` must be rewritten.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import { createDbosEngine, openDbosEngine } from "../../../src/engine/dbos/dbos-engine.ts";
import type { Sdk } from "../../../src/engine/dbos/dbos-sdk.ts";
import { setUpDbos } from "../../../src/engine/dbos/set-up-dbos.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { POSTGRES_LACK, startPostgres } from "../../store/postgres/postgres-server.ts";
import { completed, createGate, onBenches, until } from "../engine-fixture.ts";
import { loadAnotherSdk, openDbosBench } from "./dbos-fixture.ts";

const RUN = { id: "run_1", title: "a run" };
const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

if (server === undefined) {
  it(`workflows of DBOS (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  const made = await server.newAddress();
  const kept = await openKept(made);
  await kept.runs();
  await kept.close();
  await setUpDbos(made);
  let address = made;
  const onBench = onBenches(async () => {
    address = await server.newAddress(made);
    return await openDbosBench(address);
  });
  const readRows = async (): Promise<unknown[][]> => {
    const sql = `select workflow_uuid, status, executor_id, application_version
      from dbos.workflow_status order by 1`;
    return (await server.query(address, sql)).map((row) => Object.values(row));
  };

  describe("a run on DBOS", () => {
    it(
      "is a workflow with the run's id while it runs, which is gone when it has ended",
      onBench(async (bench) => {
        const engine = bench.engine({ workerId: "worker" });
        const gate = createGate();
        engine.define("child", async (context) =>
          completed(await context.step("one", () => gate.opened.then(() => null))),
        );
        engine.define("agent", async (context) => {
          const child = await context.child("a", "child", null);
          await child.result();
          return completed(null);
        });
        await engine.submit("agent", null, RUN);
        await until(async () => (await readRows()).length === 2);
        assert.deepEqual(await readRows(), [
          ["run_1", "PENDING", "worker", "offshoot-1"],
          ["run_1/a", "PENDING", "worker", "offshoot-1"],
        ]);
        gate.open();
        await engine.result("run_1");
        await engine.stop();
        assert.deepEqual(await readRows(), []);
      }),
    );

    it(
      "leaves a workflow if its process dies, which the next owner replaces",
      onBench(async (bench) => {
        const first = bench.engine({ workerId: "first" });
        const second = bench.engine({ workerId: "second" });
        const gate = createGate();
        for (const engine of [first, second]) {
          engine.define("agent", async (context) =>
            completed(await context.step("one", () => gate.opened.then(() => null))),
          );
        }
        await first.submit("agent", null, RUN);
        await until(async () => (await readRows()).length === 1);
        first.crash();
        assert.deepEqual(await second.start(), ["run_1"]);
        await until(async () => (await readRows())[0]?.[2] === "second");
        assert.deepEqual(await readRows(), [["run_1", "PENDING", "second", "offshoot-1"]]);
        gate.open();
        await second.result("run_1");
      }),
    );

    it(
      "is removed by other processes if its process died right after its ending",
      onBench(async (bench) => {
        const dying = bench.engine();
        const other = bench.engine();
        for (const engine of [dying, other]) engine.define("agent", async () => completed(null));
        await dying.submit("agent", null, RUN);
        await dying.result("run_1");
        dying.crash();
        await other.submit("agent", null, { id: "run_2", title: "" });
        await other.result("run_2");
        const sql = `insert into dbos.workflow_status (workflow_uuid, status, name, executor_id, created_at, updated_at)
          values ('run_1', 'PENDING', 'offshoot.run', 'dying', 1, 1) on conflict (workflow_uuid) do nothing`;
        await server.query(address, sql);
        await other.start();
        assert.deepEqual(
          (await readRows()).filter(([id]) => id === "run_1"),
          [],
        );
      }),
    );
  });

  describe("the engine on DBOS", () => {
    it("says what to do if DBOS has no tables, and creates none", async () => {
      const empty = await server.newAddress();
      const record = await openKept(empty);
      const store = await record.runs();
      const place = { address: empty, sdk: loadAnotherSdk() };
      await assert.rejects(openDbosEngine({ store, clock: systemClock, place }), {
        code: "invalid_request",
        message: /no tables of DBOS.*Run `offshoot store migrate`/,
      });
      await record.close();
    });

    it("gets its tables once, however many processes make them at the same time", async () => {
      const empty = await server.newAddress();
      await Promise.all([1, 2, 3, 4].map(() => setUpDbos(empty, loadAnotherSdk())));
      const found = await server.query(
        empty,
        "select count(*) > 0 as any from dbos.dbos_migrations",
      );
      assert.deepEqual(found, [{ any: true }]);
    });

    it("shares DBOS with other engines of its process, but not with one on another database", async () => {
      const one = await server.newAddress(made);
      const two = await server.newAddress(made);
      const sdk = loadAnotherSdk();
      const open = async (at: string) => {
        const store = await (await openKept(at)).runs();
        const engine = createDbosEngine({ store, clock: systemClock, place: { address: at, sdk } });
        engine.define("agent", async () => completed(null));
        return engine;
      };
      const first = await open(one);
      const second = await open(one);
      const other = await open(two);
      await first.submit("agent", null, RUN);
      await second.submit("agent", null, { id: "run_2", title: "" });
      await first.result("run_1");
      await first.stop();
      await second.submit("agent", null, { id: "run_3", title: "" });
      assert.equal((await second.result("run_3")).ending, "completed");
      await other.submit("agent", null, RUN);
      await assert.rejects(other.result("run_1"), { message: /A process has one DBOS/ });
      await Promise.all([second.stop(), other.stop()]);
    });
  });

  describe("DBOS", () => {
    const launched: Sdk[] = [];
    const launch = async (sdk: Sdk): Promise<void> => {
      launched.push(sdk);
      await sdk.launch();
    };
    after(async () => {
      for (const sdk of launched) await sdk.shutdown();
    });

    it("lets a process that resumes a workflow take it from a living one", async () => {
      const at = await server.newAddress(made);
      const begun: number[] = [];
      const processes = [0, 1].map((index) => {
        const sdk = loadAnotherSdk();
        const endless = async (): Promise<void> => {
          begun.push(index);
          await new Promise(() => {});
        };
        const workflow = sdk.registerWorkflow(endless, { name: "endless" });
        sdk.setConfig({
          name: "facts",
          systemDatabaseUrl: at,
          executorID: `process ${index}`,
          applicationVersion: "facts",
          useListenNotify: false,
          logger: { debug() {}, info() {}, warn() {}, error() {} },
        });
        return { sdk, workflow };
      });
      for (const { sdk } of processes) await launch(sdk);
      const [first] = processes;
      assert.ok(first);
      await first.sdk.startWorkflow(first.workflow, { workflowID: "w" })();
      // Two processes that believe the first is dead, one a moment after the other.
      for (const count of [2, 3]) {
        await first.sdk.resumeWorkflow("w");
        await until(() => begun.length === count);
      }
    });

    it("names another child if a workflow starts fewer children than before", async () => {
      const at = await server.newAddress(made);
      const sdk = loadAnotherSdk();
      const child = sdk.registerWorkflow(async () => {}, { name: "child" });
      const started: string[][] = [];
      const parent = sdk.registerWorkflow(
        async () => {
          const here: string[] = [];
          // After a takeover a stage that has ended is not entered: the first child is not started again.
          for (const key of started.length === 0 ? ["a", "b"] : ["b"]) {
            const { workflowID } = await sdk.startWorkflow(child, { workflowID: `p/${key}` })();
            here.push(workflowID);
          }
          started.push(here);
          if (started.length === 1) await new Promise(() => {});
        },
        { name: "parent" },
      );
      sdk.setConfig({
        name: "facts",
        systemDatabaseUrl: at,
        applicationVersion: "facts",
        useListenNotify: false,
        logger: { debug() {}, info() {}, warn() {}, error() {} },
      });
      await launch(sdk);
      await sdk.startWorkflow(parent, { workflowID: "p" })();
      await until(() => started.length === 1);
      await sdk.resumeWorkflow("p");
      await until(() => started.length === 2);
      assert.deepEqual(started, [["p/a", "p/b"], ["p/a"]]);
    });
  });
}
