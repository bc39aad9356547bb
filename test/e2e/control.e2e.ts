/** A tree in one process, controlled from others: followed, steered, stopped child by child. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, script } from "../../src/testing/index.ts";
import { createTwoChildren } from "../delegation/two-children.ts";
import { until, untilTrue } from "../patience.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { serve } from "./served.ts";
import { CHAT, runAt } from "./wires.ts";

async function succeed(place: Place, ...args: string[]): Promise<Ended> {
  const ended = await place.run(["runs", ...args]);
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

/** Waits until a run is in the record. */
async function waitForRun(place: Place, name: string): Promise<void> {
  await untilTrue(
    async () => (await place.runIds()).some((id) => id.endsWith(name)),
    `${name} is in the record`,
  );
}

describe("a tree of another process", () => {
  for (const executor of ["in_process", "child_process"]) {
    it(`has one child stopped, another steered, and is followed (${executor})`, async () => {
      await using place = await createPlace();
      const model = createTwoChildren();
      await using upstream = await CHAT.start({ engine: model.engine });
      const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor };
      const command = place.start(runAt(upstream, CHAT, "--tools", "subagent", "Begin"), { env });
      await upstream.waitForRequest(3);
      await waitForRun(place, "/stopped-1.0");
      await waitForRun(place, "/steered-1.1");
      const follower = place.start(["runs", "follow", "last"]);
      await follower.waitForStderr("subagent steered [steered-1.1]: started");

      const cancelled = await succeed(place, "cancel", "last/stopped-1.0");
      assert.match(cancelled.stderr, /stopped-1\.0 has ended: cancelled; run_\w+ continues/);
      const late = place.start(["runs", "follow", "last", "--from-now", "-o", "jsonl"]);
      await late.waitForStderr(/following run_\w+ from now on\n/);
      const steered = await succeed(place, "steer", "last/steered", "Look", "at", "b");
      assert.match(steered.stderr, /^left for run_\w+\/steered-1\.1: it reads it before its next/);
      await follower.waitForStderr("subagent stopped [stopped-1.0]: cancelled");
      model.release();

      const ended = await command.ended;
      assert.equal(ended.code, 0, ended.stderr);
      const [stopped = "", read = ""] = (JSON.parse(ended.stdout) as string[])
        .filter((text) => text.startsWith('"'))
        .map((text) => JSON.parse(text) as string);
      assert.match(stopped, /"success":false.*"error":"Subagent .*cancelled\."/);
      assert.match(read, /"success":true.*Looked at b\./);
      const followed = await follower.ended;
      assert.deepEqual([followed.code, followed.stdout], [0, ended.stdout], followed.stderr);
      const { code, stdout } = await late.ended;
      assert.equal(code, 0);
      assert.ok(!stdout.includes('"type":"run_start"'), "nothing of the past");
      assert.match(stdout, /"type":"run_end".*\n$/);

      const shown = await succeed(place, "show", "last/steered-1.1");
      assert.match(shown.stdout, /\ninput {4}Look at b\n/);
      const exported = await succeed(place, "export", "last");
      assert.match(exported.stdout, /\*\*Message\*\*\n\nLook at b\n/);
      const jsonl = await succeed(place, "export", "last", "--format", "jsonl");
      assert.match(jsonl.stdout, /"type":"run_input"/);
      if (executor === "in_process") await succeed(place, "replay", "last");
    });
  }

  it("is left by Ctrl-C, and ended by cancelling it", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.silence("Once upon")) });
    const command = place.start(runAt(upstream, CHAT, "--tools", "none", "Tell a story"));
    await command.waitForStdout("Once upon");
    const left = place.start(["runs", "follow", "last"]);
    const stays = place.start(["runs", "follow", "last", "--sse"]);
    await left.waitForStdout("Once upon");
    await stays.waitForStdout("Once up");
    left.child.kill("SIGINT");
    const { code, stderr } = await left.ended;
    assert.equal(code, 130);
    assert.match(stderr, /offshoot: left run_\w+, which continues\n$/);
    const [id = ""] = await place.runIds();
    assert.equal((await place.show(id)).ending, null);

    await succeed(place, "cancel", id.slice(0, -2));
    for (const ended of [await command.ended, await stays.ended]) {
      assert.equal(ended.code, 130, ended.stderr);
      assert.match(ended.stderr, /The run was cancelled\./);
    }
    const again = await place.run(["runs", "follow", "last"]);
    assert.deepEqual([again.code, again.stdout], [130, "Once upon\n"]);
    for (const action of ["cancel", "steer"]) {
      const refused = await place.run([
        "runs",
        action,
        "last",
        ...(action === "steer" ? ["x"] : []),
      ]);
      assert.equal(refused.code, 2, refused.stderr);
      assert.match(refused.stderr, /has ended already/);
    }
  });

  it("is steered from standard input, and not with an empty text", async () => {
    await using place = await createPlace();
    const model = createTwoChildren();
    await using upstream = await CHAT.start({ engine: model.engine });
    const command = place.start(runAt(upstream, CHAT, "--tools", "none", "Work as steered"));
    await upstream.waitForRequest(1);
    const steered = await place.run(["runs", "steer", "last", "-"], { input: "Look at b\n" });
    assert.equal(steered.code, 0, steered.stderr);
    for (const [args, input] of [
      [["last"], ""],
      [["last", " "], ""],
      [["last", "-"], "\n"],
      [["run_nobody", "Hi"], ""],
    ] as const) {
      const refused = await place.run(["runs", "steer", ...args], { input });
      assert.equal(refused.code, 2, refused.stderr);
      assert.match(refused.stderr, /^offshoot: .*\n$/);
    }
    model.release();
    const ended = await command.ended;
    assert.deepEqual([ended.code, ended.stdout.endsWith("Looked at b.\n")], [0, true]);
    assert.match(ended.stderr, /\nmessage: Look at b\n/);
  });

  it("is not followed for ever if its process was killed", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.silence("Once upon")) });
    const command = place.start(runAt(upstream, CHAT, "--tools", "none", "Tell a story"));
    await command.waitForStdout("Once upon");
    const follower = place.start(["runs", "follow", "last"]);
    await follower.waitForStdout("Once upon");
    command.child.kill("SIGKILL");
    const { code, stderr } = await follower.ended;
    assert.equal(code, 2);
    assert.match(stderr, /was interrupted: its process is gone.*offshoot runs resume run_/);
  });
});

describe("a response of three workers", { skip: process.platform !== "linux" }, () => {
  it("has one subagent stopped and another steered, through any worker", async () => {
    await using place = await createPlace();
    const model = createTwoChildren("offshoot__subagent");
    await using upstream = await CHAT.start({ engine: model.engine });
    const args = ["-m", "custom/two", "--provider", "openai-chat", "--url", upstream.url];
    await using served = await serve({ place, args: ["--workers", "3", ...args] });
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const made = [0, 1, 2].map(() => served.create({ input: "Begin", tools, background: true }));
    const ids = (await Promise.all(made)).map(({ id }) => id);
    await upstream.waitForRequest(9);
    for (const id of ids) {
      const path = `/v1/responses/${id}`;
      const cancelled = await served.ask("POST", `${path}/cancel`, { subagent: "stopped-1.0" });
      assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
      const message = { text: "Look at b", subagent: "steered-1.1" };
      const steered = await served.ask("POST", `${path}/steer`, message);
      assert.equal(steered.status, 200, JSON.stringify(steered.body));
    }
    model.release();
    for (const id of ids) {
      const { output_text } = await until(async () => {
        const { body } = await served.ask("GET", `/v1/responses/${id}`);
        const response = body as EmittedResponse;
        return response.status === "completed" ? response : undefined;
      }, "the response completes");
      assert.match(output_text ?? "", /cancelled.*Looked at b\./);
    }
  });
});
