/** The settings of a run's own command line and its folder apply again when another process resumes it. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Reply, reply, script } from "../../src/testing/index.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

/** Kills the run in its first model call and resumes it, with these answers. */
async function killAndResume(
  place: Place,
  answers: readonly Reply[],
  flags: readonly string[],
): Promise<Ended> {
  await using upstream = await CHAT.start({ engine: script(reply.silence("Let me "), ...answers) });
  const command = place.start(runAt(upstream, CHAT, ...flags, "-o", "jsonl", "Begin"));
  await command.waitForStdout("Let me ");
  command.child.kill("SIGKILL");
  await command.ended;
  return await place.run(["runs", "resume", "last"]);
}

const shell = (command: string): Reply => reply.calls([{ name: "shell", arguments: { command } }]);

describe("a run that is resumed", () => {
  it("is still allowed what its command line allowed", async () => {
    await using place = await createPlace();
    const answers = [shell("touch made.txt"), reply.text("Done.")];
    const ended = await killAndResume(place, answers, ["--allow", "shell(touch *)"]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.ok(existsSync(join(place.cwd, "made.txt")), ended.stderr);
  });

  it("is still denied what its command line denied", async () => {
    await using place = await createPlace();
    const answers = [shell("touch made.txt"), reply.text("Done.")];
    const flags = ["--approve", "auto", "--deny", "shell(touch *)"];
    const ended = await killAndResume(place, answers, flags);
    assert.ok(!existsSync(join(place.cwd, "made.txt")), ended.stderr);
    const why = await place.run(["runs", "why-denied", "last"]);
    assert.match(why.stdout, /--deny/);
  });

  it("finds the agents of files again, and so does a replay", async () => {
    await using place = await createPlace();
    const folder = join(place.home, ".config", "offshoot", "agents");
    mkdirSync(folder, { recursive: true });
    const agent = "---\nname: counter\ndescription: Counts.\ntools: []\n---\nCount.\n";
    writeFileSync(join(folder, "counter.md"), agent);
    const asked = { agent: "counter", label: "count", task_prompt: "Count to two." };
    const answers = [
      reply.calls([{ name: "subagent", arguments: asked }]),
      reply.text("One, two."),
      reply.text("Done."),
    ];
    const ended = await killAndResume(place, answers, ["--tools", "subagent"]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.doesNotMatch(ended.stderr, /Unknown agent/);
    assert.match(
      (await place.run(["runs", "tree", "last"])).stdout,
      /count \[count-1\.0\]: completed/,
    );
    const replayed = await place.run(["runs", "replay", "last"]);
    assert.equal(replayed.code, 0, replayed.stdout);
  });
});
