/**
 * `kill -9` in the middle of a stored run, then `offshoot runs resume`: finished work is not repeated.
 * Requests are counted at the model's server, calls in the log.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggedEvent, RunEvent } from "../../src/protocol/run-events.ts";
import { type Reply, reply, script, type Upstream } from "../../src/testing/index.ts";
import {
  createPlace,
  type Ended,
  type Place,
  type RunningCommand,
  type ShownRun,
} from "./command.ts";
import { CHAT, LEGACY, RESPONSES, runAt, WIRES, type WireCase } from "./wires.ts";

const FILES = { "a.txt": "hello\n" };
const call = reply.calls([{ name: "read", arguments: { path: "a.txt" } }]);
const answer = reply.text("It says hello.");

interface KillPoint {
  readonly name: string;
  /** The server's reply to each request, before and after. */
  readonly replies: readonly Reply[];
  /** Resolves at the moment to kill. */
  wait(command: RunningCommand, upstream: Upstream): Promise<unknown>;
  /** Turns that were begun, in order. */
  readonly turns: readonly number[];
}

const KILL_POINTS: readonly KillPoint[] = [
  {
    name: "during the first model call",
    replies: [reply.silence("Let me "), call, answer],
    wait: (command) => command.waitForStdout("Let me "),
    turns: [1, 1, 2],
  },
  {
    name: "between the tool and the second model call",
    replies: [call, reply.silence(), answer],
    wait: (_, upstream) => upstream.waitForRequest(2),
    turns: [1, 2, 2],
  },
  {
    name: "during the second answer",
    replies: [call, reply.silence("It sa"), answer],
    wait: (command) => command.waitForStdout("It sa"),
    turns: [1, 2, 2],
  },
];

async function killAt(place: Place, upstream: Upstream, wire: WireCase, point: KillPoint) {
  // The log while it is written: a pipe gets the text of a turn with tools when the turn is over.
  const command = place.start(runAt(upstream, wire, "-o", "jsonl", "What does a.txt say?"));
  await point.wait(command, upstream);
  command.child.kill("SIGKILL");
  assert.equal((await command.ended).signal, "SIGKILL");
  const [id = ""] = await place.runIds();
  return id;
}

function countOf({ events }: ShownRun, type: RunEvent["type"]): number {
  return events.filter((event) => event.type === type).length;
}

function checkRefused(ended: Ended, says: RegExp): void {
  assert.deepEqual([ended.code, ended.stdout], [2, ""], ended.stderr);
  assert.match(ended.stderr, /^offshoot: [^\n]+\n$/);
  assert.match(ended.stderr, says);
}

describe("a run that was killed", { concurrency: 2 }, () => {
  for (const point of KILL_POINTS) {
    for (const wire of WIRES) {
      it(`${point.name} continues where it was, over ${wire.name}`, async () => {
        await using place = await createPlace(FILES);
        await using upstream = await wire.start({ engine: script(...point.replies) });
        const id = await killAt(place, upstream, wire, point);
        assert.equal((await place.show(id)).status, "running");

        const ended = await place.run(["runs", "resume", id]);
        assert.equal(ended.code, 0, ended.stderr);
        assert.equal(ended.stdout, "It says hello.\n");
        assert.equal(upstream.requests.length, 3);

        const run = await place.show(id);
        assert.equal(run.ending, "completed");
        assert.equal(run.next_seq, run.events.length);
        const begun = run.events.flatMap((event) =>
          event.type === "turn_start" ? event.turn : [],
        );
        assert.deepEqual(begun, point.turns);
        assert.equal(countOf(run, "turn_end"), 2);
        assert.deepEqual([countOf(run, "tool_start"), countOf(run, "tool_end")], [1, 1]);
        assert.deepEqual([countOf(run, "run_start"), countOf(run, "run_resume")], [1, 1]);
        assert.deepEqual([countOf(run, "run_end"), run.events.at(-1)?.type], [1, "run_end"]);

        const replayed = await place.run(["runs", "replay", id]);
        assert.equal(replayed.code, 0, replayed.stderr);
        assert.equal(upstream.requests.length, 3, "a replay sends nothing");
      });
    }
  }

  it("sends the server the result that the dead process had", async () => {
    await using place = await createPlace(FILES);
    const [, between] = KILL_POINTS;
    assert.ok(between);
    await using upstream = await LEGACY.start({ engine: script(...between.replies) });
    const id = await killAt(place, upstream, LEGACY, between);
    assert.equal((await place.run(["runs", "resume", id])).code, 0);
    const [, second, third] = upstream.requests;
    assert.deepEqual(third?.body, second?.body);
    assert.match(third?.text ?? "", /"tool_result".*1 \| hello/);
  });

  it("shows the log with its resumes, numbered without gaps", async () => {
    await using place = await createPlace(FILES);
    const [, , answering] = KILL_POINTS;
    assert.ok(answering);
    await using upstream = await CHAT.start({ engine: script(...answering.replies) });
    const id = await killAt(place, upstream, CHAT, answering);
    const ended = await place.run(["runs", "resume", id, "-o", "jsonl"]);
    const lines = ended.stdout.trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as LoggedEvent & RunEvent);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    );
    assert.match((await place.run(["runs", "show", id])).stdout, /\nresumed {2}\(owner 2\)\n/);
  });

  it("returns a document with finished work only", async () => {
    await using place = await createPlace(FILES);
    const [, , answering] = KILL_POINTS;
    assert.ok(answering);
    await using upstream = await CHAT.start({ engine: script(...answering.replies) });
    const id = await killAt(place, upstream, CHAT, answering);
    const ended = await place.run(["runs", "resume", id, "-o", "json"]);
    const { output, output_text, tool_calls, total } = JSON.parse(ended.stdout);
    assert.deepEqual([output_text, tool_calls, total.tool_calls], ["It says hello.", 1, 1]);
    assert.doesNotMatch(JSON.stringify(output), /incomplete/);
    const tree = await place.run(["runs", "tree", id, "--json"]);
    assert.equal(JSON.parse(tree.stdout).tool_calls ?? 1, 1);
  });

  it("can be killed twice", async () => {
    await using place = await createPlace(FILES);
    const replies = [reply.silence("Let me "), call, reply.silence("It sa"), answer];
    await using upstream = await RESPONSES.start({ engine: script(...replies) });
    const [first] = KILL_POINTS;
    assert.ok(first);
    const id = await killAt(place, upstream, RESPONSES, first);
    const again = place.start(["runs", "resume", "-o", "jsonl", id]);
    await again.waitForStdout("It sa");
    again.child.kill("SIGKILL");
    await again.ended;
    const ended = await place.run(["runs", "resume", id]);
    assert.deepEqual([ended.code, ended.stdout], [0, "It says hello.\n"]);
    assert.equal(upstream.requests.length, 4);
    const run = await place.show(id);
    assert.deepEqual([countOf(run, "run_resume"), countOf(run, "tool_start")], [2, 1]);
  });
});

describe("runs resume", () => {
  it("refuses a run that has ended", async () => {
    await using place = await createPlace();
    assert.equal((await place.run(["run", "compute 6*7"])).code, 0);
    const [id = ""] = await place.runIds();
    checkRefused(await place.run(["runs", "resume", id]), /has ended already: completed/);
  });

  it("says how to continue the conversation of a run that ended at a limit", async () => {
    await using place = await createPlace();
    const ended = await place.run(["run", "--max-turns", "1", "find TODO in ."]);
    assert.equal(ended.code, 3);
    const [id = ""] = await place.runIds();
    const hint = new RegExp(
      `ended at a limit .max_turns.\\. .*offshoot run --session ${id} "continue"`,
    );
    checkRefused(await place.run(["runs", "resume", id]), hint);
  });

  it("refuses an unknown run", async () => {
    await using place = await createPlace();
    checkRefused(await place.run(["runs", "resume", "run_unknown"]), /run_unknown/);
  });

  it("refuses a run whose process is alive, which continues undisturbed", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.silence("Once upon")) });
    const command = place.start(runAt(upstream, CHAT, "--tools", "none", "Tell a story"));
    await command.waitForStdout("Once upon");
    const [id = ""] = await place.runIds();
    const says = new RegExp(`still running in process ${command.child.pid}`);
    checkRefused(await place.run(["runs", "resume", id]), says);
    command.child.kill("SIGINT");
    assert.equal((await command.ended).code, 130);
    assert.equal((await place.show(id)).ending, "cancelled");
  });

  it("reports that the key is missing, and leaves the run unchanged", async () => {
    await using place = await createPlace();
    const key = "test-key-0123456789";
    const engine = script(reply.silence("Once upon"), reply.text("Once upon a time."));
    await using upstream = await RESPONSES.start({ engine, key });
    const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: upstream.url };
    const command = place.start(
      ["run", "-m", "openai/gpt-5.1", "--tools", "none", "Tell a story"],
      { env },
    );
    await command.waitForStdout("Once upon");
    command.child.kill("SIGKILL");
    await command.ended;

    const [id = ""] = await place.runIds();
    checkRefused(await place.run(["runs", "resume", id]), /needs a key in `OPENAI_API_KEY`/);
    assert.equal((await place.show(id)).status, "running");
    assert.equal(upstream.requests.length, 1);
    const ended = await place.run(["runs", "resume", id], { env });
    assert.deepEqual([ended.code, ended.stdout], [0, "Once upon a time.\n"], ended.stderr);
  });
});
