/** Agents as files and the plan of a run, through the built command. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createPlace } from "./command.ts";

const AGENT = `---
name: counter
description: Counts lines.
tools: [read]
budget: { turns: 3 }
---
Count.
`;

describe("offshoot agents", () => {
  it("creates, checks, lists and shows an agent of the user", async () => {
    await using place = await createPlace();
    const made = await place.run(["agents", "new", "helper"]);
    assert.equal(made.code, 0, made.stderr);
    const file = join(place.home, ".config/offshoot/agents/helper.md");
    assert.match(await readFile(file, "utf8"), /^name: helper$/m);
    const written = await readFile(file, "utf8");
    await writeFile(file, written.replace(/^description: .*$/m, "description: Finds things."));
    assert.equal((await place.run(["agents", "check"])).stdout, "1 agent checked.\n");
    assert.match((await place.run(["agents"])).stdout, /^helper {2}user {5}Finds things\.\n/);
    const plan = await place.run(["run", "--plan", "-o", "json", "Hello"]);
    assert.equal(JSON.parse(plan.stdout).agents[0].problem, null);
    assert.match((await place.run(["agents", "show", "helper"])).stdout, /You are helper\./);
    await writeFile(file, AGENT);
    const wrong = await place.run(["agents", "check"]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /helper\.md:2: The agent `counter` must be in `counter\.md`/);
  });
});

describe("offshoot run --plan", () => {
  it("lists the agents that may run, and starts none", async () => {
    await using place = await createPlace({ ".offshoot/agents/counter.md": AGENT });
    const untrusted = await place.run(["run", "--plan", "Count the lines"]);
    assert.equal(untrusted.code, 0, untrusted.stderr);
    assert.match(
      untrusted.stderr,
      /counter\.md is not trusted, so the agent `counter` is left out/,
    );
    assert.ok(!untrusted.stdout.includes("agent counter"));
    const trusted = await place.run(["agents", "trust", "counter"]);
    assert.equal(trusted.code, 0, trusted.stderr);
    const { stdout } = await place.run(["run", "--plan", "Count the lines"]);
    assert.match(stdout, /^Nothing was sent\./);
    assert.match(stdout, /\nrun\n {2}model +embedded\/offline /);
    assert.match(stdout, /\nsubagent \(any number, 3 levels deep\)\n/);
    assert.match(stdout, /\nagent counter: Counts lines\.\n[\s\S]* {2}tools +read\n/);
    assert.match(stdout, /\nTotal cost {2}free\n/);
    assert.deepEqual(await place.runIds(), []);
  });

  it("is JSON for a program, and refuses what the run would refuse", async () => {
    await using place = await createPlace();
    const planned = await place.run(["run", "--plan", "-o", "json", "-m", "embedded", "Hello"]);
    const plan = JSON.parse(planned.stdout);
    assert.deepEqual([plan.object, plan.run.model, plan.agents], ["plan", "embedded/offline", []]);
    const keyless = await place.run(["run", "--plan", "-m", "openai/gpt-5.1", "Hello"]);
    assert.equal(keyless.code, 2);
    assert.match(keyless.stderr, /OPENAI_API_KEY/);
  });
});
