/** Several worker processes on one port: they see the same responses, and replace each other. */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { patience, until, untilTrue } from "../patience.ts";
import { createPlace } from "./command.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

/** The worker that answered each of the requests on this route. */
function workersOf(served: Served, route: string): Set<unknown> {
  const lines = served.lines().filter((line) => line["route"] === route);
  return new Set(lines.map(({ worker }) => worker));
}

/** Child processes of the primary, from the system's list. */
async function pidsOf({ command }: Served): Promise<number[]> {
  const { pid } = command.child;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

async function untilAllAnswer(served: Served, workers = 2): Promise<void> {
  await untilTrue(async () => {
    await served.ask("GET", "/healthz");
    return workersOf(served, "/healthz").size === workers;
  }, `${workers} workers have answered`);
}

describe(...unless(LINUX_LACK)("several workers"), () => {
  it("answer on one port, and count together", async () => {
    await using served = await serve({ args: ["--workers", "2"] });
    await untilAllAnswer(served);
    const made = await served.create({ input: "Hello" });
    for (let turn = 0; turn < 4; turn++) {
      assert.deepEqual((await served.ask("GET", `/v1/responses/${made.id}`)).body, made);
    }
    const counted =
      /offshoot_requests_total\{method="GET",route="\/v1\/responses\/:id",status="200"\} 4\n/;
    const metrics = await until(async () => {
      const text = String((await served.ask("GET", "/metrics")).body);
      return counted.test(text) ? text : undefined;
    }, "a count of four requests");
    assert.match(metrics, /offshoot_workers 2\n/);
    assert.equal(metrics.match(/^offshoot_resident_memory_bytes\{/gm)?.length, 2);
    served.command.child.kill("SIGTERM");
    const { code, stderr } = await served.command.ended;
    assert.equal(code, 0, stderr);
  });

  it("follow each other's responses, event by event", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: [...slowModel(upstream), "--workers", "2"] });
    await untilAllAnswer(served);
    const { id } = await served.create({ input: "Hi", background: true });
    // Connections go to the workers in turn: of four followers some are at a worker that does not run it.
    const follows = [1, 2, 3, 4].map(async () => {
      const { body } = await served.ask("GET", `/v1/responses/${id}?stream=true`);
      return readEvents(String(body));
    });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    upstream.say(" two");
    upstream.finish();
    const [first, ...others] = await Promise.all(follows);
    assert.equal(first?.at(-1)?.type, "response.completed");
    for (const other of others) assert.deepEqual(other, first);
    const isLogged = (): boolean => workersOf(served, "/v1/responses/:id").size === 2;
    await untilTrue(isLogged, "lines of both workers in the log");
  });

  it("cancel a response whichever of them runs it", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: [...slowModel(upstream), "--workers", "2"] });
    await untilAllAnswer(served);
    for (let turn = 0; turn < 4; turn++) {
      const { id } = await served.create({ input: "Hi", background: true });
      await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
      const { status, body } = await served.ask("POST", `/v1/responses/${id}/cancel`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal((body as EmittedResponse).status, "cancelled");
      await until(
        async () => (upstream.open === 0 ? true : undefined),
        "no request is open any more",
      );
      const deleted = await served.ask("DELETE", `/v1/responses/${id}`);
      assert.equal(deleted.status, 200);
      assert.equal((await served.ask("GET", `/v1/responses/${id}`)).status, 404);
    }
  });

  it("take over from one that was killed, which is replaced", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: [...slowModel(upstream), "--workers", "2"] });
    await untilAllAnswer(served);
    const made = await Promise.all(
      [1, 2, 3, 4].map(() => served.create({ input: "Hi", background: true })),
    );
    await until(async () => (upstream.open === 4 ? true : undefined), "all are asked");
    const [doomed] = await pidsOf(served);
    process.kill(doomed ?? assert.fail(), "SIGKILL");
    upstream.finish();
    for (const { id } of made) {
      const done = await until(async () => {
        const { body } = await served.ask("GET", `/v1/responses/${id}`, undefined, patience());
        const response = body as EmittedResponse;
        return response.status === "completed" ? response : undefined;
      }, `${id} is finished`);
      assert.equal(done.output.at(-1)?.type, "message");
    }
    await until(async () => {
      const pids = await pidsOf(served);
      return pids.length === 2 && !pids.includes(doomed ?? 0) ? true : undefined;
    }, "it is replaced");
    assert.equal((await served.ask("GET", "/readyz")).status, 200);
    await served.command.waitForStderr(`(process ${doomed}) was ended by SIGKILL; `);
    const metrics = String((await served.ask("GET", "/metrics")).body);
    assert.match(metrics, /^offshoot_worker_deaths_total 1$/m);
  });

  it("keep their port, and lose no connection, if all of them are killed", async () => {
    await using served = await serve({ args: ["--workers", "2"] });
    for (let kill = 0; kill < 2; kill++) {
      const doomed = await until(async () => {
        const pids = await pidsOf(served);
        return pids.length === 2 ? pids : undefined;
      }, "two workers");
      for (const pid of doomed) process.kill(pid, "SIGKILL");
      // None of them could accept these: the next workers do.
      const asks = [1, 2, 3, 4].map(() => served.ask("GET", "/healthz", undefined, patience()));
      for (const { status } of await Promise.all(asks)) assert.equal(status, 200);
    }
  });

  it("limit a key's concurrent requests, all of them together", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const made = await place.run(["keys", "create", "mine", "--concurrent", "3"]);
    const authorization = `Bearer ${made.stdout.trim()}`;
    const args = [...slowModel(upstream), "--workers", "3"];
    await using served = await serve({ place, args, key: "another" });
    await untilAllAnswer(served, 3);
    // A connection for each, so that they go to all three in turn.
    const headers = { authorization, connection: "close" };
    const body = JSON.stringify({ input: "Hi", store: false });
    const ask = (): Promise<Response> =>
      fetch(`${served.url}/v1/responses`, { method: "POST", headers, body });
    const taken = [1, 2, 3].map(() => ask().catch(() => undefined));
    await until(async () => (upstream.open === 3 ? true : undefined), "three are asked");
    for (let turn = 0; turn < 6; turn++) assert.equal((await ask()).status, 429);
    const asked = (): boolean => workersOf(served, "/v1/responses").size === 3;
    await untilTrue(asked, "lines of all three workers in the log");
    // Those of a dead worker are free again.
    const [doomed] = await pidsOf(served);
    process.kill(doomed ?? assert.fail(), "SIGKILL");
    await untilTrue(async () => {
      const asked = { headers, signal: patience() };
      return (await fetch(`${served.url}/v1/responses/no`, asked)).status === 404;
    }, "there is a place");
    upstream.finish();
    await Promise.all(taken);
  });

  it("all apply new settings", async () => {
    await using place = await createPlace();
    const file = join(place.home, ".config", "offshoot", "config.yaml");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "");
    await using served = await serve({ place, args: ["--workers", "2"] });
    await untilAllAnswer(served);
    await writeFile(file, "server: { models: { fast: embedded/offline } }\n");
    served.command.child.kill("SIGHUP");
    await served.command.waitForStderr("new settings");
    let inARow = 0;
    await until(async () => {
      const { status } = await served.ask("GET", "/v1/models/fast");
      inARow = status === 200 ? inARow + 1 : 0;
      return inARow === 6 ? true : undefined;
    }, "both know the name");
  });
});
