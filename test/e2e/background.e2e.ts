/**
 * Background subagents of the built command: `kill -9` in the middle and a resume, and the record that they
 * leave. Requests are counted at the model's server.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply, respond, startChatUpstream } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

/** The replies to each run, by the first words of its prompt. The last reply repeats. */
type Lines = Readonly<Record<string, readonly Reply[]>>;

function play(lines: Lines, asked: string[]) {
  return respond((request) => {
    const who = whoAsks(request);
    const said = lines[who] ?? [];
    const at = asked.filter((one) => one === who).length;
    asked.push(who);
    return said[at] ?? said.at(-1) ?? reply.text("?");
  });
}

function whoAsks({ items }: ModelRequest): string {
  const first = items.find((item) => item.type === "message" && item.role === "user");
  return first?.type === "message" ? dropReportWish(String(first.content)) : "";
}

const start = (label: string) => ({
  name: "subagent",
  arguments: { label, task_prompt: label, background: true },
});

const BOTH = reply.calls([start("quick"), start("slow")]);
const READ = reply.calls([{ name: "read", arguments: { path: "a.txt" } }]);

async function checkRecord(place: Place, id: string, runs: number): Promise<void> {
  const tree = await place.run(["runs", "tree", id]);
  assert.equal(tree.code, 0, tree.stderr);
  for (const label of ["quick", "slow"]) assert.ok(tree.stdout.includes(label), tree.stdout);
  const cost = await place.run(["runs", "cost", id, "--json"]);
  assert.equal(cost.code, 0, cost.stderr);
  const replay = await place.run(["runs", "replay", id]);
  assert.equal(replay.code, 0, `${replay.stdout}${replay.stderr}`);
  assert.equal((await place.runIds()).length, runs);
}

function newsIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "child_news" ? event.news.map(({ kind, label }) => `${kind} ${label}`) : [],
  );
}

function spentIn(events: readonly RunEvent[]): unknown[] {
  const end = events.at(-1);
  assert.ok(end?.type === "run_end");
  return [end.ending, end.output_text, end.spent["children"], end.spent["turns"]];
}

describe("background subagents", { concurrency: 2 }, () => {
  it("are found again after kill -9: finished work is not requested again, nothing is reported twice", async () => {
    await using place = await createPlace({ "a.txt": "hello\n" });
    const asked: string[] = [];
    const lines = {
      go: [BOTH, reply.silence(), reply.text("too early"), reply.text("with both reports")],
      quick: [reply.text("quick found it")],
      slow: [READ, reply.silence(), reply.text("slow found it too")],
    };
    await using upstream = await startChatUpstream({ engine: play(lines, asked) });
    const command = place.start(runAt(upstream, CHAT, "go"));
    // Two of each of those that hang, and the one that ended.
    await upstream.waitForRequest(5);
    const id = await until(async () => {
      const root = (await place.runIds()).find((one) => !one.includes("/"));
      if (root === undefined) return undefined;
      const { events } = await place.show(root);
      return events.some(({ type }) => type === "child_end") ? root : undefined;
    }, "the end of `quick`");
    command.child.kill("SIGKILL");
    await command.ended;
    const resumed = await place.run(["runs", "resume", id]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stdout, /with both reports/);
    const count = (who: string): number => asked.filter((one) => one === who).length;
    assert.deepEqual([count("quick"), count("slow"), count("go")], [1, 3, 4]);
    const { events } = await place.show(id);
    assert.deepEqual(newsIn(events), ["report quick", "report slow"]);
    // The two interrupted calls are charged, and are not answers.
    assert.deepEqual(spentIn(events).slice(0, 3), ["completed", "with both reports", 2]);
    await checkRecord(place, id, 3);
  });

  it("work in processes of their own too", async () => {
    await using place = await createPlace({ "a.txt": "hello\n" });
    const asked: string[] = [];
    const lines = {
      go: [BOTH, reply.text("too early"), reply.text("with both reports")],
      quick: [reply.text("quick found it")],
      slow: [READ, reply.text("slow found it too")],
    };
    await using upstream = await startChatUpstream({ engine: play(lines, asked) });
    const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process" };
    const ended = await place.run(runAt(upstream, CHAT, "go"), { env });
    assert.equal(ended.code, 0, ended.stderr);
    const id = (await place.runIds()).find((one) => !one.includes("/")) ?? "";
    const { events } = await place.show(id);
    assert.deepEqual(newsIn(events).sort(), ["report quick", "report slow"]);
    assert.equal(spentIn(events)[2], 2);
    const slow = await place.show(`${id}/slow-1.1`);
    assert.equal(slow.status, "ended");
  });
});
