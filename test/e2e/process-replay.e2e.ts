/**
 * A replay has the same result wherever the children of a tree ran: in its process, in processes of their
 * own, or in both. It sends nothing and starts nothing, also for children that failed, were killed or were
 * cancelled.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { type Reply, reply, startChatUpstream, type Upstream } from "../../src/testing/index.ts";
import { playing, type Role, type Roles, spawning, toCalls } from "../delegation/family.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { until } from "../patience.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const EXECUTORS = ["in_process", "child_process"] as const;
type ExecutorName = (typeof EXECUTORS)[number];

const FILES = { "a.txt": "hello\n" };
const READ = ["read", { path: "a.txt" }] as const;
const REFUSED = reply.status(400, { error: { message: "No." } });

const two: Role = ({ outputs }) =>
  outputs.length > 0 ? reply.text("Both are done.") : toCalls(spawning("one"), spawning("two"));
const reading: Role = ({ outputs }) =>
  outputs.length > 0 ? reply.text("It says hello.") : toCalls(READ);

interface Tree {
  readonly roles: Roles;
  /** How each child ends, as the root's model sees it. */
  readonly endings: readonly string[];
  readonly tools?: string;
  readonly flags?: readonly string[];
  /** The exit code of the root. */
  readonly code?: number;
}

const call = (prompt: string) => ["call_subagent", { prompt, tool_subset: ["read"] }] as const;
const task = (label: string) => ({ label, task_prompt: label });

const TREES: Readonly<Record<string, Tree>> = {
  "with two children": {
    roles: { go: two, one: reading, two: () => reply.text("Two is done.") },
    endings: ["completed", "completed"],
  },
  "with a child that its vendor refuses": {
    roles: { go: two, one: reading, two: () => REFUSED },
    endings: ["completed", "failed"],
  },
  "with a child that fails after it has worked": {
    roles: {
      go: two,
      one: reading,
      two: ({ outputs }) => (outputs.length > 0 ? REFUSED : toCalls(READ)),
    },
    endings: ["completed", "failed"],
  },
  "with a child whose answer breaks off": {
    roles: { go: two, one: reading, two: () => reply.failure("Broken.", { text: "Half of" }) },
    endings: ["completed", "failed"],
  },
  "with a child at its last turn": {
    roles: {
      go: ({ outputs }) =>
        outputs.length > 0 ? reply.text("done") : toCalls(spawning("one", { max_turns: 2 })),
      one: () => reply.calls([{ name: "read", arguments: FILE }], { text: "Half." }),
    },
    endings: ["max_turns"],
  },
  "with a child whose report is cut": {
    roles: {
      go: ({ outputs }) => (outputs.length > 0 ? reply.text("done") : toCalls(spawning("one"))),
      one: () => reply.text("x".repeat(200_000)),
    },
    endings: ["completed"],
  },
  "with children of `parallel_subagent` of which one fails": {
    roles: {
      go: ({ outputs }) =>
        outputs.length > 0
          ? reply.text("done")
          : toCalls(["parallel_subagent", { tasks: [task("one"), task("two"), task("three")] }]),
      one: reading,
      two: () => REFUSED,
      three: () => reply.text("Three is done."),
    },
    endings: ["completed", "completed", "failed"],
    tools: "read,subagent,parallel_subagent",
  },
  "with children of `call_subagent` beside one of `subagent`": {
    roles: {
      go: ({ outputs }) =>
        outputs.length > 0
          ? reply.text("done")
          : toCalls(call("one"), call("two"), spawning("three")),
      one: ({ outputs }) =>
        outputs.length > 0
          ? reply.text("It says hello.")
          : reply.calls([{ name: "read", arguments: FILE }], { text: "I look. " }),
      two: () => REFUSED,
      three: reading,
    },
    endings: ["completed", "completed", "failed"],
    tools: "read,subagent,call_subagent",
  },
  "with a child that has a child": {
    roles: {
      go: ({ outputs }) => (outputs.length > 0 ? reply.text("done") : toCalls(spawning("outer"))),
      outer: ({ outputs }) =>
        outputs.length > 0 ? reply.text("Outer is done.") : toCalls(spawning("inner")),
      inner: reading,
    },
    endings: ["completed"],
  },
  "with a child in the background": {
    roles: {
      go: ({ outputs }) =>
        outputs.length > 0
          ? reply.text("done")
          : toCalls(spawning("one", { background: true }), spawning("two")),
      one: reading,
      two: () => REFUSED,
    },
    endings: ["completed", "failed"],
  },
  "whose budget is too small for all of them": {
    roles: {
      go: ({ outputs }) =>
        outputs.length > 0
          ? reply.text("done", { usage: USAGE })
          : reply.calls(
              ["one", "two", "three", "four", "five", "six"].map((name) => ({
                name: "subagent",
                arguments: JSON.stringify(task(name)),
              })),
              { usage: USAGE },
            ),
      ...Object.fromEntries(
        ["one", "two", "three", "four", "five", "six"].map((name) => [name, hungry]),
      ),
    },
    endings: [],
    flags: ["--max-total-tokens", "14000"],
  },
};

const USAGE = { input: 1000, output: 200 };
const FILE = JSON.stringify(READ[1]);

function hungry({ outputs }: Parameters<Role>[0]): Reply {
  const how = { usage: USAGE };
  if (outputs.length > 0) return reply.text("It says hello.", how);
  return reply.calls([{ name: "read", arguments: FILE }], how);
}

interface Recorded {
  readonly place: Place;
  readonly upstream: Upstream;
  readonly id: string;
}

function startRun(
  place: Place,
  upstream: Upstream,
  {
    executor,
    tools = "read,subagent",
    flags = [],
  }: Pick<Tree, "tools" | "flags"> & {
    readonly executor: ExecutorName;
  },
): RunningCommand {
  const args = [...runAt(upstream, CHAT, "go"), "--tools", tools, ...flags, "--quiet"];
  return place.start(args, { env: { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor } });
}

async function rootOf(place: Place): Promise<string> {
  return (await place.runIds()).find((one) => !one.includes("/")) ?? assert.fail("no run");
}

function endingsIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === "child_end" ? event.ending : [])).sort();
}

/** Replayed with the settings of each executor: only the record decides. */
async function checkReplay({ place, upstream, id }: Recorded): Promise<void> {
  const sent = upstream.requests.length;
  const runs = (await place.runIds()).length;
  for (const executor of EXECUTORS) {
    const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor };
    const { code, stdout, stderr } = await place.run(["runs", "replay", id], { env });
    assert.equal(code, 0, `replayed as ${executor}:\n${stdout}${stderr}`);
  }
  assert.equal(upstream.requests.length, sent, "nothing is sent");
  assert.equal((await place.runIds()).length, runs, "nothing is written into the record");
}

/** Trees in the same process have more of their rows among the unit tests. */
const isTried = (executor: ExecutorName, { tools = "" }: Tree): boolean =>
  executor === "child_process" || tools.includes("call_subagent");

for (const executor of EXECUTORS) {
  describe(`a replay of a tree, ${executor}`, { concurrency: 2 }, () => {
    for (const [name, tree] of Object.entries(TREES)) {
      if (!isTried(executor, tree)) continue;
      const { roles, endings, code = 0, ...how } = tree;
      it(`has the same result: ${name}`, async () => {
        await using place = await createPlace(FILES);
        await using upstream = await startChatUpstream({ engine: playing(roles) });
        const ended = await startRun(place, upstream, { executor, ...how }).ended;
        assert.equal(ended.code, code, ended.stderr);
        const id = await rootOf(place);
        const { events } = await place.show(id);
        if (endings.length > 0) assert.deepEqual(endingsIn(events), endings);
        await checkReplay({ place, upstream, id });
      });
    }

    it("has the same result if a child was cancelled, and if the root was", async () => {
      for (const isRoot of [false, true]) {
        await using place = await createPlace(FILES);
        const roles = { go: two, one: reading, two: () => reply.silence("Let me ") };
        await using upstream = await startChatUpstream({ engine: playing(roles) });
        const command = startRun(place, upstream, { executor });
        const id = await untilSaid(place, "two-1.1", "Let me ");
        if (isRoot) command.child.kill("SIGINT");
        else assert.equal((await place.run(["runs", "cancel", `${id}/two-1.1`])).code, 0);
        assert.equal((await command.ended).code, isRoot ? 130 : 0);
        await checkReplay({ place, upstream, id });
      }
    });

    it("has the same result if the tree was killed and resumed", async () => {
      await using place = await createPlace(FILES);
      let isSilent = true;
      const roles = {
        go: two,
        one: reading,
        two: () => (isSilent ? reply.silence("Let me ") : reply.text("Two is done.")),
      };
      await using upstream = await startChatUpstream({ engine: playing(roles) });
      const command = startRun(place, upstream, { executor });
      const id = await untilSaid(place, "two-1.1", "Let me ");
      await until(async () => {
        const { events } = await place.show(id);
        return events.some(({ type }) => type === "child_end") || undefined;
      }, "the end of `one`");
      command.child.kill("SIGKILL");
      await command.ended;
      isSilent = false;
      const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor };
      const resumed = await place.run(["runs", "resume", id], { env });
      assert.deepEqual([resumed.code, resumed.stdout], [0, "Both are done.\n"], resumed.stderr);
      await checkReplay({ place, upstream, id });
    });

    it("sends only what depends on a change", async () => {
      await using place = await createPlace(FILES);
      const roles = {
        go: two,
        one: reading,
        two: () => reply.text("Two is done."),
        three: reading,
      };
      await using upstream = await startChatUpstream({ engine: playing(roles) });
      const ended = await startRun(place, upstream, { executor }).ended;
      assert.equal(ended.code, 0, ended.stderr);
      const id = await rootOf(place);
      const runs = await place.runIds();
      const before = upstream.requests.length;
      const changed = ["runs", "replay", id, "--from", "two-1.1", "--with", "prompt=three"];
      const replayed = await place.run(changed);
      assert.equal(replayed.code, 0, `${replayed.stdout}${replayed.stderr}`);
      assert.equal(upstream.requests.length - before, 3, "two turns of it, one of its parent");
      assert.deepEqual(await place.runIds(), runs, "nothing is written into the record");
    });
  });
}

describe(...unless(LINUX_LACK)("a replay of a tree with a child that was killed"), () => {
  it("has the same result that its parent has received", async () => {
    await using place = await createPlace(FILES);
    const roles = {
      go: two,
      one: reading,
      two: ({ outputs }: Parameters<Role>[0]) =>
        outputs.length > 0 ? reply.silence("It sa") : toCalls(READ),
    };
    await using upstream = await startChatUpstream({ engine: playing(roles) });
    const command = startRun(place, upstream, { executor: "child_process" });
    const id = await untilSaid(place, "two-1.1", "It sa");
    process.kill(findRunner(place), "SIGKILL");
    const ended = await command.ended;
    assert.equal(ended.code, 0, ended.stderr);
    const { events } = await place.show(id);
    assert.deepEqual(endingsIn(events), ["completed", "failed"]);
    await checkReplay({ place, upstream, id });
  });
});

/** Waits until a child of the only tree has begun to write this; returns the root's id. */
async function untilSaid(place: Place, key: string, text: string): Promise<string> {
  return await until(async () => {
    const root = (await place.runIds()).find((one) => !one.includes("/"));
    if (root === undefined) return undefined;
    const isThere = (await place.runIds()).includes(`${root}/${key}`);
    const { events } = isThere ? await place.show(`${root}/${key}`) : { events: [] };
    return JSON.stringify(events).includes(JSON.stringify(text).slice(1, -1)) ? root : undefined;
  }, `\`${text}\` of ${key}`);
}

/** The only process of the place that runs a subagent. */
function findRunner({ home }: Place): number {
  const found = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
      const isHere = readFileSync(`/proc/${name}/environ`, "latin1").includes(`HOME=${home}\0`);
      return isHere && words.includes("subagent");
    } catch {
      return false;
    }
  });
  assert.equal(found.length, 1, "one child works");
  return Number(found[0]);
}
