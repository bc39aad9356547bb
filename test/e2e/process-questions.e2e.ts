/**
 * Subagents in processes of their own ask their parent and continue with its answer, even if the parent's
 * process was killed in between. And a subagent that is asked again continues with its whole conversation.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { reply, startChatUpstream, type Upstream } from "../../src/testing/index.ts";
import { outputsOf } from "../delegation/background-fixture.ts";
import { asksFor, playing, type Role, spawning, toCalls, toTask } from "../delegation/family.ts";
import { until } from "../patience.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const FILES = { "a.txt": "hello\n" };

const asking: Role = ({ outputs }) =>
  outputs.length === 0
    ? toCalls(["ask_parent", { question: "Which colour?" }])
    : reply.text(`I was told: ${outputs[0]}`);

const answering = (id: string) =>
  ["subagents", { action: "message", id, text: `Blue, ${id}.` }] as const;
const WAIT = ["subagents", { action: "wait" }] as const;

/** Starts one, answers it, and waits for it. */
const one: Role = ({ outputs }) => {
  if (outputs.length === 0) return toCalls(spawning("painter"));
  if (outputs.length === 1) return toCalls(answering("painter"));
  return outputs.length === 2 ? toCalls(WAIT) : reply.text("painted");
};

interface Starting {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const PROCESSES = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process" };

function startRun(place: Place, upstream: Upstream, starting: Starting = {}): RunningCommand {
  const { flags = [], env = {} } = starting;
  const args = [...runAt(upstream, CHAT, "go"), "--tools", "read,subagent", "--quiet", ...flags];
  return place.start(args, { env: { ...PROCESSES, ...env } });
}

async function rootOf(place: Place): Promise<string> {
  return (await place.runIds()).find((one) => !one.includes("/")) ?? assert.fail("no run");
}

async function showRoot(place: Place): Promise<{ id: string; events: readonly RunEvent[] }> {
  const id = await rootOf(place);
  return { id, events: (await place.show(id)).events };
}

function endTextOf(events: readonly RunEvent[]): string {
  const end = events.at(-1);
  assert.ok(end?.type === "run_end");
  return end.output_text;
}

async function checkReplay(place: Place, upstream: Upstream, id: string): Promise<void> {
  const sent = upstream.requests.length;
  const replayed = await place.run(["runs", "replay", id], { env: PROCESSES });
  assert.equal(replayed.code, 0, `${replayed.stdout}${replayed.stderr}`);
  assert.equal(upstream.requests.length, sent, "nothing is sent");
}

describe("a subagent in a process of its own", { concurrency: 2 }, () => {
  it("asks its parent, whose call ends early, and continues with the answer", async () => {
    await using place = await createPlace(FILES);
    await using upstream = await startChatUpstream({
      engine: playing({ go: one, painter: asking }),
    });
    const ended = await startRun(place, upstream).ended;
    assert.deepEqual([ended.code, ended.stdout], [0, "painted\n"], ended.stderr);
    const { id, events } = await showRoot(place);
    const [asked] = outputsOf(events, "subagent") as { output: string; metadata: object }[];
    assert.equal(asked?.output, "Which colour?");
    assert.match(JSON.stringify(asked?.metadata), /"completion_status":"asks"/);
    const [sent, waited] = outputsOf(events, "subagents");
    assert.deepEqual(sent, { id: `${id}/painter-1.0`, sent: "answer" });
    assert.match(JSON.stringify(waited), /I was told: Blue, painter\./);
    await checkReplay(place, upstream, id);
  });

  it("asks again after its parent was killed, and is answered once", async () => {
    await using place = await createPlace(FILES);
    let isSilent = true;
    const go: Role = (moment) =>
      moment.outputs.length === 1 && isSilent ? reply.silence() : one(moment);
    await using upstream = await startChatUpstream({ engine: playing({ go, painter: asking }) });
    const command = startRun(place, upstream);
    // The root's model is asked again when its call has returned the question.
    await until(() => asksFor(upstream.requests, "go") === 2 || undefined, "the question");
    command.child.kill("SIGKILL");
    await command.ended;
    isSilent = false;
    const id = await rootOf(place);
    const resumed = await place.run(["runs", "resume", id], { env: PROCESSES });
    assert.deepEqual([resumed.code, resumed.stdout], [0, "painted\n"], resumed.stderr);
    const { events } = await place.show(`${id}/painter-1.0`);
    assert.equal(endTextOf(events), "I was told: Blue, painter.");
    assert.equal(asksFor(upstream.requests, "painter"), 2, "what was asked is not asked again");
    await checkReplay(place, upstream, id);
  });

  it("needs no place while it waits: more ask than may work at once", async () => {
    await using place = await createPlace(FILES);
    const names = ["p1", "p2", "p3", "p4"];
    const go: Role = ({ outputs }) => {
      if (outputs.length === 0) return toCalls(...names.map((name) => spawning(name)));
      if (outputs.length === names.length) return toCalls(...names.map(answering));
      return reply.text("painted");
    };
    const roles = Object.fromEntries(names.map((name) => [name, asking]));
    await using upstream = await startChatUpstream({ engine: playing({ go, ...roles }) });
    const env = { OFFSHOOT_AGENT_SUBAGENT_MAX_PROCESSES: "1" };
    const ended = await startRun(place, upstream, { env }).ended;
    assert.equal(ended.code, 0, ended.stderr);
    const { id } = await showRoot(place);
    for (const [at, name] of names.entries()) {
      const { events } = await place.show(`${id}/${name}-1.${at}`);
      assert.equal(endTextOf(events), `I was told: Blue, ${name}.`);
    }
  });

  it("a subagent gets a message if no answer comes", async () => {
    const go: Role = ({ outputs }) =>
      outputs.length === 0 ? toCalls(spawning("painter")) : reply.text("no colour");
    await using place = await createPlace(FILES);
    await using upstream = await startChatUpstream({ engine: playing({ go, painter: asking }) });
    const ended = await startRun(place, upstream).ended;
    assert.equal(ended.code, 0, ended.stderr);
    const { id } = await showRoot(place);
    const { events } = await place.show(`${id}/painter-1.0`);
    assert.match(endTextOf(events), /No answer will come\./);
  });

  it("has `ask_parent` if its list of tools names it, and a record has the answer", async () => {
    const offered = new Map<string, boolean>();
    const role: Role = ({ request }) => {
      const [first] = request.items;
      const name = first?.type === "message" ? toTask(String(first.content)) : "";
      offered.set(name, JSON.stringify(request.tools).includes('"ask_parent"'));
      return reply.text("done");
    };
    const go: Role = ({ outputs }) => {
      if (outputs.length > 0) return reply.text("done");
      const named = (tools: readonly string[]) => ({ allowed_tools: tools });
      return toCalls(
        spawning("plain"),
        spawning("named", named(["read", "ask_parent"])),
        spawning("bare", named(["read"])),
        spawning("agent that asks", { agent: "asker" }),
        spawning("agent", { agent: "reader" }),
      );
    };
    const names = ["plain", "named", "bare", "agent that asks", "agent"];
    const roles = Object.fromEntries(names.map((name) => [name, role]));
    await using place = await createPlace(FILES);
    for (const [name, tools] of [
      ["asker", "[read, ask_parent]"],
      ["reader", "[read]"],
    ]) {
      const file = join(place.home, `.config/offshoot/agents/${name}.md`);
      await mkdir(dirname(file), { recursive: true });
      const head = `---\nname: ${name}\ndescription: Reads what it is told to.\ntools: ${tools}\n---\n`;
      await writeFile(file, `${head}\nRead.\n`);
    }
    await using upstream = await startChatUpstream({ engine: playing({ go, ...roles }) });
    const ended = await startRun(place, upstream).ended;
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(Object.fromEntries(offered), {
      plain: true,
      named: true,
      bare: false,
      "agent that asks": true,
      agent: false,
    });
    offered.clear();
    const kept = await startRun(place, upstream, { flags: ["--no-store"] }).ended;
    assert.equal(kept.code, 0, kept.stderr);
    assert.equal(offered.get("plain"), false, "without a record there is no way for the answer");
  });

  it("continues with its whole conversation when it is asked again", async () => {
    await using place = await createPlace(FILES);
    const seen: string[] = [];
    const go: Role = ({ outputs }) => {
      if (outputs.length === 0) return toCalls(spawning("counter"));
      const again = { label: "again", task_prompt: "And now?", continue: "counter" };
      return outputs.length === 1 ? toCalls(["subagent", again]) : reply.text("done");
    };
    const counter: Role = ({ request }) => {
      seen.push(request.items.map((item) => ("role" in item ? item.role : item.type)).join(" "));
      return reply.text(seen.length === 1 ? "There are 3." : "There are 4.");
    };
    await using upstream = await startChatUpstream({ engine: playing({ go, counter }) });
    const ended = await startRun(place, upstream).ended;
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(seen, ["user", "user assistant user"]);
    const { id, events } = await showRoot(place);
    const [, second] = outputsOf(events, "subagent") as { output: string }[];
    assert.equal(second?.output, "There are 4.");
    await checkReplay(place, upstream, id);
  });
});
