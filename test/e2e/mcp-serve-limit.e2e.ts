/** `offshoot mcp serve` with more calls than it works on at once: the others wait in the engine's queue, and all are answered in time. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Fault, reply, respond } from "../../src/testing/index.ts";
import { until, untilTrue } from "../patience.ts";
import { createPlace } from "./command.ts";
import { type Connected, connect, structured, textOf } from "./mcp-serve-client.ts";

const ARGS = ["--max-runs", "2", "--wait", "0", "--tools", "none"];

interface Held {
  readonly fault: Fault;
  /** The most answers of the model that were awaited at once. */
  most(): number;
  letGo(): void;
}

/** A model that answers nobody until it is told to. */
function hold(): Held {
  let letGo = (): void => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const [awaited, seen] = [new Set<object>(), { most: 0 }];
  return {
    fault: {
      name: "held",
      async *bytes(pieces) {
        awaited.add(pieces);
        seen.most = Math.max(seen.most, awaited.size);
        await free;
        yield* pieces;
        awaited.delete(pieces);
      },
    },
    most: () => seen.most,
    letGo: () => letGo(),
  };
}

const ANSWERS = { engine: respond(() => reply.text("Done.")) };

/** The ids of so many runs, of which two are at work. */
async function callMany({ call, upstream }: Connected, count: number): Promise<string[]> {
  const asked = Array.from({ length: count }, () => call("agent", { prompt: "Go" }));
  const ids = (await Promise.all(asked)).map((result) => String(structured(result)["run_id"]));
  await untilTrue(() => upstream.requests.length >= 2, "two requests to the model");
  return ids;
}

/** Those that have not begun. */
async function findQueued({ call }: Connected, ids: readonly string[]): Promise<string[]> {
  const looked = ids.map((run_id) => call("run_status", { run_id }));
  const texts = (await Promise.all(looked)).map(textOf);
  return ids.filter((_, at) => /queued/.test(texts[at] ?? ""));
}

describe("offshoot mcp serve --max-runs", () => {
  it("works on so many runs at once, answers the other calls in time and works on them later", async () => {
    const { fault, most, letGo } = hold();
    await using connected = await connect({ ...ANSWERS, faults: fault, args: ARGS });
    const ids = await callMany(connected, 6);
    assert.equal((await findQueued(connected, ids)).length, 4);
    letGo();
    for (const run_id of ids) {
      const result = await connected.call("run_result", { run_id, wait_s: 50 });
      assert.equal(structured(result)["ending"], "completed", textOf(result));
    }
    assert.equal(most(), 2);
    assert.equal(connected.upstream.requests.length, 6);
  });

  it("cancels a run that waits, and those that wait when the client leaves; no model is asked", async () => {
    await using place = await createPlace();
    const connected = await connect({ ...ANSWERS, faults: hold().fault, args: ARGS, place });
    const ids = await callMany(connected, 5);
    const [run_id] = await findQueued(connected, ids);
    assert.ok(run_id, "a run that waits");
    const cancelled = await connected.call("run_cancel", { run_id });
    assert.equal(structured(cancelled)["ending"], "cancelled");
    assert.equal(connected.upstream.requests.length, 2);
    await connected.client.close();
    await until(async () => {
      const shown = await Promise.all(ids.map(place.show));
      return shown.every(({ ending }) => ending === "cancelled") || undefined;
    }, "the end of all runs");
    assert.equal(connected.upstream.requests.length, 2);
    await connected[Symbol.asyncDispose]();
  });

  it("leaves runs that wait to `runs resume` if it is killed", async () => {
    await using place = await createPlace();
    await using killed = await connect({ ...ANSWERS, faults: hold().fault, args: ARGS, place });
    const ids = await callMany(killed, 3);
    const [waiting] = await findQueued(killed, ids);
    assert.ok(waiting, "a run that waits");
    process.kill(killed.transport.pid ?? assert.fail(), "SIGKILL");
    await using later = await connect({ ...ANSWERS, args: ARGS, place });
    await later.call("run_status", { run_id: waiting });
    assert.equal(later.upstream.requests.length, 0);
    const env = { OFFSHOOT_MODEL: "custom/test-model", OFFSHOOT_URL: killed.upstream.url };
    const resumed = place.start(["runs", "resume", waiting], { env });
    await untilTrue(() => killed.upstream.requests.length === 3, "the request of the resumed run");
    assert.equal((await place.show(waiting)).status, "running");
    resumed.child.kill("SIGKILL");
    await resumed.ended;
  });

  it("refuses a limit that is none", async () => {
    await using place = await createPlace();
    for (const given of ["0", "-1", "1.5", "many", ""]) {
      const { code, stderr } = await place.run(["mcp", "serve", "--max-runs", given], {
        input: "",
      });
      assert.equal(code, 2);
      assert.match(stderr, /--max-runs takes a whole number from 1/);
    }
  });
});
