/** Approval questions of one process, answered from another: on a terminal, on a pipe, after a crash. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ToolDecision } from "../../src/protocol/run-events.ts";
import type { OpenQuestion } from "../../src/runtime/approvals.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { TERMINAL_LACK, unless } from "../needs.ts";
import { until } from "../patience.ts";
import { CLI, createPlace, type Ended, type Place } from "./command.ts";
import { startOnTerminal } from "./terminal.ts";
import { CHAT, runAt } from "./wires.ts";

const write = (path: string) => ({
  name: "write",
  arguments: JSON.stringify({ path, content: "hello" }),
});

const calling = (...calls: { name: string; arguments: string }[]) =>
  script(...calls.map((call) => reply.calls([call])), reply.text("Done."));

/** Its one child, `writer`, writes a file. */
const delegating = () =>
  respond(({ items }) => {
    const text = JSON.stringify(items);
    if (text.includes("function_call_output")) return reply.text("Done.");
    if (!text.includes("Begin")) return reply.calls([write("a.txt")]);
    const order = { label: "writer", task_prompt: "Write it" };
    return reply.calls([{ name: "subagent", arguments: JSON.stringify(order) }]);
  });

/** Three children that each write a file of their name: two in the first turn, one in the second. */
const fanningOut = () =>
  respond(({ items }) => {
    const [first] = items;
    const task = first?.type === "message" ? String(first.content) : "";
    const answers = items.filter(({ type }) => type === "function_call_output").length;
    const [, own] = /^Write (\w)\.txt/.exec(task) ?? [];
    if (own) return answers > 0 ? reply.text("Done.") : reply.calls([write(`${own}.txt`)]);
    const labels = answers === 0 ? ["a", "b"] : ["c"];
    if (answers > 2) return reply.text("Done.");
    return reply.calls(
      labels.map((label) => ({
        name: "subagent",
        arguments: JSON.stringify({ label, task_prompt: `Write ${label}.txt` }),
      })),
    );
  });

async function runs(place: Place, ...args: string[]): Promise<Ended> {
  return await place.run(["runs", ...args]);
}

async function waiting(place: Place): Promise<OpenQuestion> {
  return await until(async () => {
    const { stdout } = await runs(place, "waiting", "--json");
    return (JSON.parse(stdout) as OpenQuestion[])[0];
  }, "a question");
}

async function decisionOf(place: Place, id: string): Promise<ToolDecision | undefined> {
  const { events } = await place.show(id);
  return events.find((event) => event.type === "tool_decision" && event.question !== undefined) as
    | ToolDecision
    | undefined;
}

const WAIT = ["--approval-wait", "600"];

describe("a question on a pipe that waits", () => {
  it("is seen and allowed from another process, and stays answered in the record", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const command = place.start(runAt(upstream, CHAT, ...WAIT, "write it"));
    await command.waitForStderr(
      /run: waits for approval: write a\.txt \(offshoot runs approve run_\w+ tool:1\.0\)\n/,
    );
    const shown = await runs(place, "waiting");
    assert.match(shown.stdout, /^run_\w+ · waits \d+ s · is denied in (9|10) m/);
    assert.match(shown.stdout, /\nTool Call: write\n {2}"path": "a\.txt"\n/);
    assert.match(
      shown.stdout,
      /\n {2}offshoot runs approve run_\w+ tool:1\.0\n {2}offshoot runs deny run_\w+ tool:1\.0\n/,
    );
    const tree = await runs(place, "tree", "last");
    assert.match(tree.stdout, / · waits for approval: write a\.txt\n/);
    assert.doesNotMatch(tree.stdout, /silent/);
    const follower = place.start(["runs", "follow", "last"]);
    await follower.waitForStderr("run: waits for approval: write a.txt");

    const unnamed = await runs(place, "approve", "last");
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /Say which question you mean: tool:1\.0 \(write a\.txt\)\.\n$/);
    const approved = await runs(place, "approve", "last", "tool:1.0");
    assert.deepEqual(
      [approved.code, approved.stdout, approved.stderr.replace(/run_\w+/, "RUN")],
      [0, "", "approved: write a.txt of RUN\n"],
    );
    assert.equal((await command.ended).code, 0);
    assert.equal((await follower.ended).code, 0);
    assert.equal(readFileSync(join(place.cwd, "a.txt"), "utf8"), "hello");
    const late = await runs(place, "deny", "last");
    assert.deepEqual([late.code, late.stdout], [2, ""]);
    assert.match(late.stderr, /^offshoot: Run run_\w+ has ended already: completed\.\n$/);
    const record = await runs(place, "show", "last");
    assert.match(
      record.stdout,
      /asks about write: .*\n {2}allowed write \(person\): .* said yes in/,
    );
    assert.equal((await runs(place, "replay", "last")).code, 0);
    assert.match((await runs(place, "waiting")).stderr, /^No tool call waits for approval\.\n$/);
  });

  it("is denied from another process: the record says where, and replays", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const command = place.start(runAt(upstream, CHAT, ...WAIT, "write it"));
    await waiting(place);
    const tooMany = await runs(place, "deny", "last", "tool:1.0", "Use", "b.txt");
    assert.equal(tooMany.code, 2);
    assert.match(tooMany.stderr, /takes one id, one call and one reason, but got `b\.txt` too/);
    const denied = await runs(place, "deny", "last", "tool:1.0", "Use b.txt.");
    assert.match(denied.stderr, /^denied: write a\.txt of run_\w+\n$/);
    assert.equal((await command.ended).code, 0);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    assert.match(
      JSON.stringify(upstream.requests[1]?.body),
      /Tool call write was denied by user: Use b\.txt\./,
    );
    const why = await runs(place, "why-denied", "last");
    assert.match(
      why.stdout,
      /by {6}person: The user was asked.*\n.*denied by user in another terminal: Use b\.txt\./,
    );
    const replayed = await runs(place, "replay", "last");
    assert.equal(replayed.code, 0, replayed.stderr);
  });

  it("is denied with a message when the time is over", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const ended = await place.run(runAt(upstream, CHAT, "--approval-wait", "1", "write it"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stderr, /denied: `write` changes files, and no answer came within 1 s\./);
  });

  it("is not waited for if there is no record in which it could be answered", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const ended = await place.run(runAt(upstream, CHAT, ...WAIT, "--no-store", "write it"));
    assert.match(ended.stderr, /and there is no terminal to ask on\./);
  });

  it("outlives its process: an answer is stored, and used once by the process that continues", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const command = place.start(runAt(upstream, CHAT, ...WAIT, "write it"));
    await waiting(place);
    command.child.kill("SIGKILL");
    await command.ended.catch(() => {});
    const left = await runs(place, "approve", "last", "tool:1.0");
    assert.equal(left.code, 0, left.stderr);
    assert.match(
      left.stderr,
      /^left for write a\.txt of (run_\w+): it was .*: offshoot runs resume \1\n$/,
    );
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    const env = { OFFSHOOT_APPROVAL_WAIT: "600" };
    const resumed = await place.run(["runs", "resume", "last"], { env });
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.ok(existsSync(join(place.cwd, "a.txt")));
  });

  it("is shown in the form that will run, however long it is and however often a name is repeated", async () => {
    await using place = await createPlace();
    const filler = (mark: string): string => mark.repeat(2500);
    const text = `{"path":"README.md","content":"${filler("a")}","path":"evil.sh","content":"${filler("b")}"}`;
    await using upstream = await CHAT.start({
      engine: calling({ name: "write", arguments: text }),
    });
    const command = place.start(runAt(upstream, CHAT, ...WAIT, "write it"));
    await command.waitForStderr("waits for approval: write evil.sh");
    const shown = await runs(place, "waiting");
    assert.match(shown.stdout, /"path": "evil\.sh"/);
    assert.doesNotMatch(shown.stdout, /README/);
    assert.equal((await runs(place, "deny", "last")).code, 0);
    assert.equal((await command.ended).code, 0);
  });

  it("is not answered by a command that a tool has started", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const asking = place.start(runAt(upstream, CHAT, ...WAIT, "write it"));
    const { run_id } = await waiting(place);
    const line = `HOME='${place.home}' '${process.execPath}' '${CLI}' runs`;
    const command = `${line} approve ${run_id} tool:1.0; ${line} list`;
    const forged = { name: "shell", arguments: JSON.stringify({ command }) };
    await using other = await CHAT.start({ engine: calling(forged) });
    await place.run(runAt(other, CHAT, "--approve", "auto", "approve it"));
    const told = JSON.stringify(other.requests[1]?.body);
    assert.ok(/offshoot: Approvals come from a person: this command was started by a/.test(told));
    assert.ok(told.includes(`${run_id}  `), "it sees the record");
    assert.equal((await waiting(place)).run_id, run_id);
    assert.equal((await runs(place, "deny", run_id)).code, 0);
    assert.equal((await asking.ended).code, 0);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
  });
});

describe("a question of a subagent", () => {
  for (const executor of ["in_process", "child_process"]) {
    it(`is answered by its name from another process (${executor})`, async () => {
      await using place = await createPlace();
      await using upstream = await CHAT.start({ engine: delegating() });
      const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor };
      const args = runAt(upstream, CHAT, ...WAIT, "--tools", "subagent,write", "Begin");
      const command = place.start(args, { env });
      await command.waitForStderr("subagent writer [writer-1.0]: waits for approval: write a.txt");
      const question = await waiting(place);
      assert.match(question.run_id, /\/writer-1\.0$/);
      assert.equal(question.asker?.label, "writer");
      const tree = await runs(place, "tree", "last");
      assert.match(tree.stdout, /writer \[writer-1\.0\]: RUNNING .* · waits for approval: write a/);
      const wrong = await runs(place, "approve", "last");
      assert.equal(wrong.code, 2);
      assert.match(
        wrong.stderr,
        /waits for no approval itself; a subagent does: run_\w+\/writer-1/,
      );
      const approved = await runs(place, "approve", "last/writer", question.question, "--tree");
      assert.equal(approved.code, 0, approved.stderr);
      assert.match(approved.stderr, /^approved: write a\.txt of run_\w+\/writer-1\.0\n$/);
      const ended = await command.ended;
      assert.equal(ended.code, 0, ended.stderr);
      assert.ok(existsSync(join(place.cwd, "a.txt")));
      const decision = await decisionOf(place, question.run_id);
      assert.match(decision?.reason ?? "", /always, for the whole tree in another terminal$/);
      const replayed = await runs(place, "replay", "last");
      if (executor === "in_process") assert.equal(replayed.code, 0, replayed.stderr);
    });

    it(`is answered for its siblings, too, by an answer for the tree (${executor})`, async () => {
      await using place = await createPlace();
      await using upstream = await CHAT.start({ engine: fanningOut() });
      const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor };
      const args = runAt(upstream, CHAT, ...WAIT, "--tools", "subagent,write", "Begin");
      const command = place.start(args, { env });
      for (const label of ["a", "b"]) {
        await command.waitForStderr(`[${label}-1.${label === "a" ? 0 : 1}]: waits for approval`);
      }
      const { run_id, question } = await waiting(place);
      const approved = await runs(place, "approve", run_id, question, "--tree");
      assert.equal(approved.code, 0, approved.stderr);
      const ended = await command.ended;
      assert.equal(ended.code, 0, ended.stderr);
      for (const name of ["a.txt", "b.txt", "c.txt"]) {
        assert.ok(existsSync(join(place.cwd, name)), name);
      }
      assert.doesNotMatch(ended.stderr, /\[c-2\.0\]: waits for approval/);
    });
  }
});

describe(...unless(TERMINAL_LACK)("a question on a terminal"), () => {
  it("is removed from it by an answer from another one", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt")) });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write it"));
    await terminal.shows("[C]ancel the whole run: ");
    const approved = await runs(place, "approve", "last", "tool:1.0");
    assert.equal(approved.code, 0, approved.stderr);
    await terminal.shows("answered in another terminal: yes");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.ok(existsSync(join(place.cwd, "a.txt")));
  });

  it("is answered there first: another one has nothing left to answer", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({
      engine: calling(write("a.txt"), write("b.txt")),
    });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write them"));
    await terminal.shows("[C]ancel the whole run: ");
    const first = await waiting(place);
    terminal.type("n\n");
    await terminal.shows("[C]ancel the whole run: ");
    const late = await runs(place, "approve", "last", first.question);
    assert.deepEqual([late.code, late.stdout], [2, ""], late.stderr);
    assert.match(
      late.stderr,
      /^offshoot: Too late: the call of write in run_\w+ was denied already/,
    );
    terminal.type("n, write c.txt\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    assert.match(JSON.stringify(upstream.requests[2]?.body), /denied by user: write c\.txt/);
  });

  it("is asked for a subagent in a process of its own too", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: delegating() });
    const config = await place.run(["config", "set", "agent.subagent.executor", "child_process"]);
    assert.equal(config.code, 0, config.stderr);
    const args = runAt(upstream, CHAT, "--tools", "subagent,write", "Begin");
    const terminal = startOnTerminal(place, args);
    await terminal.shows('subagent: "writer" (/root/writer-1.0, depth 1)');
    await terminal.shows("[C]ancel the whole run: ");
    terminal.type("n, it exists\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    assert.match(JSON.stringify(upstream.requests), /denied by user: it exists/);

    const again = startOnTerminal(place, args);
    await again.shows("[C]ancel the whole run: ");
    const question = await waiting(place);
    const denied = await runs(place, "deny", question.run_id);
    assert.equal(denied.code, 0, denied.stderr);
    await again.shows("answered in another terminal: no");
    assert.equal(await again.ended, 0, again.screen);
  });

  it("is asked once for a whole tree of processes if the answer is for the tree", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: fanningOut() });
    await place.run(["config", "set", "agent.subagent.executor", "child_process"]);
    const args = runAt(upstream, CHAT, "--tools", "subagent,write", "Begin");
    const terminal = startOnTerminal(place, args);
    await terminal.shows("[C]ancel the whole run: ");
    // Both ask before one of them is answered.
    await until(async () => {
      const { stdout } = await runs(place, "waiting", "--json");
      return (JSON.parse(stdout) as OpenQuestion[]).length === 2 ? true : undefined;
    }, "two questions");
    terminal.type("t\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      assert.ok(existsSync(join(place.cwd, name)), name);
    }
    assert.equal(terminal.screen.split("Approve this tool call?").length, 2, terminal.screen);
  });
});
