/** A tree in which every run is a process of its own: all of it runs, within the places of its root. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import { reply, respond, type Script } from "../../src/testing/index.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { createPlace, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

/** The runners with this home, which only the test's own have. */
function countRunners({ home }: Place): number {
  const mark = `HOME=${home}\0`;
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const isRunner = readFileSync(`/proc/${name}/cmdline`, "latin1").endsWith("\0subagent\0");
      return isRunner && readFileSync(`/proc/${name}/environ`, "latin1").includes(mark);
    } catch {
      return false;
    }
  }).length;
}

/** Each run starts as many as its level says, in one turn. `asked` is called for every request. */
function levels(widths: readonly number[], asked: () => void): Script {
  return respond(({ items }) => {
    asked();
    const [first] = items;
    const task = first?.type === "message" ? dropReportWish(String(first.content)) : "";
    const path = task === "go" ? [] : task.split(".");
    const width = widths[path.length] ?? 0;
    const isBack = items.some(({ type }) => type === "function_call_output");
    if (isBack || width === 0) return reply.text(`done: ${task}`);
    const labels = Array.from({ length: width }, (_, at) => [...path, at].join("."));
    return reply.calls(
      labels.map((label) => ({
        name: "subagent",
        arguments: JSON.stringify({ label, task_prompt: label }),
      })),
    );
  });
}

const MAX_DEPTH = 4;

describe(...unless(LINUX_LACK)("a tree of processes"), () => {
  for (const [places, widths, runs] of [
    [1, [1, 2, 1, 1], 8],
    [2, [2, 2, 2, 1], 23],
  ] as const) {
    it(`of ${runs} runs four levels deep runs in ${places} places`, async () => {
      await using place = await createPlace();
      let most = 0;
      const engine = levels(widths, () => {
        most = Math.max(most, countRunners(place));
      });
      await using upstream = await CHAT.start({ engine });
      const ended = await place.run(runAt(upstream, CHAT, "--tools", "subagent", "go"), {
        env: {
          OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process",
          OFFSHOOT_AGENT_SUBAGENT_MAX_PROCESSES: String(places),
          OFFSHOOT_AGENT_SUBAGENT_MAX_DEPTH: String(MAX_DEPTH),
        },
      });
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(ended.stdout, "done: go\n");
      const { stdout } = await place.run(["runs", "tree", "last"]);
      assert.equal(stdout.match(/: completed /g)?.length, runs, stdout);
      // Those that wait for their children exist, too: one for each level above a place.
      assert.ok(most <= places * MAX_DEPTH, `${most} processes at once`);
      assert.equal(countRunners(place), 0);
    });
  }
});
