/**
 * No process is left: not of fifty parallel children, not of a parent that was killed, not of one that was
 * cancelled. And killed work continues where it was.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { systemClock } from "../../src/base/clock.ts";
import {
  type ChildProcessParts,
  createChildProcessExecutor,
} from "../../src/delegation/executors/child-process.ts";
import { openGrantKey } from "../../src/delegation/runner/grant-key.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { userPaths } from "../../src/runtime/paths.ts";
import { reply, respond, type Script, startChatUpstream } from "../../src/testing/index.ts";
import { openChildAccount } from "../delegation/child-account.ts";
import { TASK } from "../delegation/child-process-fixture.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { PATIENCE_MS, untilTrue } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";

/** The processes with this home, which only the test's own have. */
function processesOf({ home }: Place): number[] {
  const mark = `HOME=${home}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const lastAsked = ({ items }: ModelRequest): string => {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return "";
  const { content } = message;
  return typeof content === "string" ? content : JSON.stringify(content);
};
const hasOutputs = ({ items }: ModelRequest): boolean =>
  items.some(({ type }) => type === "function_call_output");
const outputsOf = ({ items }: ModelRequest): unknown[] =>
  items.flatMap((item) => (item.type === "function_call_output" ? [item.output] : []));

const ask = (prompt: string, more: object = {}) => ({
  name: "call_subagent",
  arguments: { prompt, ...more },
});

/** A root that asks two children, of which the second gives the `held` replies first. */
function twoChildren(...held: ReturnType<typeof reply.text>[]): Script & { results: unknown[] } {
  const results: unknown[] = [];
  const engine = respond((request) => {
    const asked = lastAsked(request);
    if (asked.includes("child one")) return reply.text("One is done.");
    if (asked.includes("child two")) return held.shift() ?? reply.text("Two is done.");
    if (!hasOutputs(request)) return reply.calls([ask("child one"), ask("child two")]);
    results.push(...outputsOf(request));
    return reply.text("All is done.");
  });
  return Object.assign(engine, { results });
}

const start = (place: Place, url: string, ...more: string[]) =>
  place.start([
    ...["run", "-q", "-m", "test-model", "--url", url, "--provider", "openai-chat"],
    ...["--tools", "call_subagent,read,shell", ...more, "go"],
  ]);

describe(...unless(LINUX_LACK)("children in processes of their own"), () => {
  it("all finish, fifty in parallel, and none is left", async () => {
    await using place = await createPlace();
    await using upstream = await startChatUpstream({
      engine: respond((request) => reply.text(`You said ${lastAsked(request)}`)),
    });
    const parts: ChildProcessParts = {
      command: [process.execPath, CLI, "subagent"],
      env: { PATH: process.env["PATH"], HOME: place.home },
      variablesFor: () => [],
      grantKey: () => openGrantKey(userPaths({}, place.home).grantKeyFile),
      parent: { id: "run_1", path: "/root" },
      storePath: undefined,
      safety: {},
      settings: DELEGATION,
      clock: systemClock,
    };
    const executor = createChildProcessExecutor(parts);
    const { signal } = new AbortController();
    const children = Array.from({ length: 50 }, (_, at) => {
      const items = [{ type: "message", role: "user", content: `number ${at}` }] as const;
      const task = { ...TASK, url: upstream.url, api_key_name: null, root: place.cwd, items };
      const account = openChildAccount(NO_LIMITS);
      const order = {
        key: `child-${at}`,
        callKey: `run_1/tool:1.${at}`,
        task: { ...task, tools: [] },
        account,
        timeoutMs: PATIENCE_MS,
      };
      return executor.run(order, signal);
    });
    const reports = await Promise.all(children);
    for (const [at, { ending, message, text, turns }] of reports.entries()) {
      assert.deepEqual(
        [ending, message, text, turns],
        ["completed", "", `You said number ${at}`, 1],
      );
    }
    assert.deepEqual(processesOf(place), []);
  });

  it("answer their parent, and their record is one tree with its", async () => {
    await using place = await createPlace();
    const engine = twoChildren();
    await using upstream = await startChatUpstream({ engine });
    const { code, stdout, stderr } = await start(place, upstream.url).ended;
    assert.deepEqual([code, stdout], [0, "All is done.\n"], stderr);
    assert.deepEqual(engine.results, ["One is done.", "Two is done."]);
    assert.deepEqual(processesOf(place), []);
    const ids = (await place.runIds()).sort();
    const [root = ""] = ids;
    assert.deepEqual(ids, [root, `${root}/call-subagent-1.0`, `${root}/call-subagent-1.1`]);
    const child = await place.show(`${root}/call-subagent-1.0`);
    assert.deepEqual([child.ending, child.parent_id], ["completed", root]);
    assert.equal(child.path, "/root/call-subagent-1.0");
  });

  it("nest, each within its parent's limits, and the tree is complete in the record", async () => {
    await using place = await createPlace();
    const delegate = (label: string) =>
      reply.calls([{ name: "subagent", arguments: { label, task_prompt: `task of ${label}` } }]);
    const engine = respond((request) => {
      const asked = lastAsked(request);
      if (asked.startsWith("Summarize")) return reply.text("summary");
      if (asked.includes("task of low")) return reply.text("The lowest.");
      if (hasOutputs(request)) return reply.text("done");
      return delegate(asked.includes("task of mid") ? "low" : "mid");
    });
    await using upstream = await startChatUpstream({ engine });
    const command = place.start(
      [
        ...["run", "-q", "-m", "test-model", "--url", upstream.url, "--provider", "openai-chat"],
        ...["--tools", "subagent", "go"],
      ],
      { env: { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process" } },
    );
    const { code, stderr } = await command.ended;
    assert.equal(code, 0, stderr);
    const ids = (await place.runIds()).sort();
    const [root = ""] = ids;
    assert.deepEqual(ids, [root, `${root}/mid-1.0`, `${root}/mid-1.0/low-1.0`]);
    const { events, ending } = await place.show(`${root}/mid-1.0/low-1.0`);
    assert.equal(ending, "completed");
    const [first] = events;
    assert.ok(first?.type === "run_start");
    assert.deepEqual([first.settings.depth, first.settings.label], [2, "low"]);
    assert.equal(first.settings.grant.length, 2);
    assert.deepEqual(processesOf(place), []);
  });

  it("obey the rules of their parent's command line", async () => {
    await using place = await createPlace({ "plain.txt": "seen", "hidden.txt": "not to be seen" });
    const results: unknown[] = [];
    const engine = respond((request) => {
      const isChild = lastAsked(request).includes("child");
      if (isChild && hasOutputs(request)) {
        results.push(...outputsOf(request));
        return reply.text("done");
      }
      if (isChild) {
        const paths = ["plain.txt", "hidden.txt"];
        return reply.calls(paths.map((path) => ({ name: "read", arguments: { path } })));
      }
      return hasOutputs(request)
        ? reply.text("done")
        : reply.calls([ask("child", { tool_subset: ["read"] })]);
    });
    await using upstream = await startChatUpstream({ engine });
    const command = start(place, upstream.url, "--deny", "path(hidden.txt)");
    const { code, stderr } = await command.ended;
    assert.equal(code, 0, stderr);
    assert.match(String(results[0]), /seen/);
    assert.match(String(results[1]), /^Error: .*deny path\(hidden\.txt\)/);
  });

  it("exit if their parent is killed, and continue with it when it is resumed", async () => {
    await using place = await createPlace();
    const engine = twoChildren(reply.silence("Two is "));
    await using upstream = await startChatUpstream({ engine });
    const command = start(place, upstream.url);
    const childTwo = (): boolean =>
      upstream.requests.some(({ text }) => text.includes("child two") && !text.includes("tools"));
    await untilTrue(childTwo, "the question of child two");
    // The first is done before the kill.
    const root = (await place.runIds()).find((id) => !id.includes("/")) ?? "";
    const isDone = async (): Promise<boolean> =>
      (await place.show(`${root}/call-subagent-1.0`).catch(() => undefined))?.ending ===
      "completed";
    await untilTrue(isDone, "the end of child one");
    const count = (word: string): number =>
      upstream.requests.filter(({ text }) => text.includes(word) && !text.includes('"go"')).length;
    const before = count("child one");
    command.child.kill("SIGKILL");
    await command.ended;
    await untilTrue(() => processesOf(place).length === 0, "the end of all processes");

    const resumed = await place.run(["runs", "resume", root]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stdout, /All is done\.\n$/);
    assert.deepEqual(engine.results, ["One is done.", "Two is done."]);
    assert.equal(count("child one"), before, "what was done is not done again");
    assert.deepEqual(processesOf(place), []);
  });

  it("leave no process and lose nothing, at whatever moment the kill comes", async () => {
    for (let moment = 0; moment < 10; moment++) {
      await using place = await createPlace();
      const engine = twoChildren();
      await using upstream = await startChatUpstream({ engine });
      const command = start(place, upstream.url);
      // Spread over the life of the tree, from before its first request to after its last.
      await delay(150 + moment * 75);
      command.child.kill("SIGKILL");
      const { signal } = await command.ended;
      await untilTrue(
        () => processesOf(place).length === 0,
        `the end of all processes at moment ${moment}`,
      );
      const root = (await place.runIds()).find((id) => !id.includes("/"));
      if (signal === null || root === undefined) continue;
      if ((await place.show(root)).status === "running") {
        const { code, stderr } = await place.run(["runs", "resume", root]);
        assert.equal(code, 0, stderr);
      }
      assert.deepEqual(engine.results.slice(-2), ["One is done.", "Two is done."]);
      const { events } = await place.show(`${root}/call-subagent-1.0`);
      assert.equal(events.filter(({ type }) => type === "run_end").length, 1);
      assert.deepEqual(processesOf(place), []);
    }
  });

  it("are cancelled with their parent, and that is recorded", async () => {
    await using place = await createPlace();
    const engine = twoChildren(reply.silence("Two is "));
    await using upstream = await startChatUpstream({ engine });
    const command = start(place, upstream.url);
    const isAsked = (): boolean => upstream.requests.some(({ text }) => text.includes("child two"));
    await untilTrue(() => isAsked() && processesOf(place).length > 1, "a child that asks");
    command.child.kill("SIGINT");
    const { code } = await command.ended;
    assert.equal(code, 130);
    assert.deepEqual(processesOf(place), []);
  });

  it("end with their commands if they are killed", async () => {
    await using place = await createPlace();
    const engine = respond((request) => {
      const isChild = lastAsked(request).includes("child");
      if (isChild) return reply.calls([{ name: "shell", arguments: { command: "sleep 600" } }]);
      return hasOutputs(request)
        ? reply.text("done")
        : reply.calls([ask("child", { tool_subset: ["shell"] })]);
    });
    await using upstream = await startChatUpstream({ engine });
    const command = start(place, upstream.url, "--approve", "auto", "--sandbox", "none");
    const sleeping = (): number[] =>
      processesOf(place).filter((pid) => commandOf(pid).startsWith("sleep\0"));
    await untilTrue(() => sleeping().length === 1, "the command of the child");
    const [runner] = processesOf(place).filter((pid) => commandOf(pid).includes("\0subagent\0"));
    process.kill(runner ?? assert.fail("no runner"), "SIGKILL");
    const { code, stderr } = await command.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(processesOf(place), []);
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
