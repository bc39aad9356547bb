import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import type { RunContext } from "../../../src/engine/engine.ts";
import type { ClientInput } from "../../../src/protocol/run-events.ts";
import { LetterBox } from "../../../src/responses/multi-agent/letter-box.ts";
import {
  type Letter,
  readMessage,
  type TakenAnswer,
  type TeamMessage,
  toSignal,
} from "../../../src/responses/multi-agent/team-messages.ts";
import { TeamPost, toNext } from "../../../src/responses/multi-agent/team-post.ts";
import { untilTrue } from "../../patience.ts";

const letter = (recipient: string, id = "amsg_1"): Letter => ({
  id,
  author: "/root/b",
  recipient,
  text: "hello",
});
const answer = (agent: string, seq: number): TakenAnswer => {
  const event: ClientInput = { type: "client_input", agent, items: [], at_ms: 0 };
  return { seq, event };
};

/** The post of one run. `working` are the agents below it that have a run; its messages are given by hand. */
function openPost(me: string, working: Record<string, string>) {
  const left: { run: string; message: TeamMessage | undefined; key: string }[] = [];
  const taken: TakenAnswer[] = [];
  const ended = new Set<string>();
  const waiting: ((body: Json) => void)[] = [];
  const failures: unknown[] = [];
  const box = new LetterBox(me);
  let letters = 0;
  const context = {
    id: me === "/root" ? "run_1" : "run_1/x~1",
    waitFor: () => new Promise<Json>((resolve) => waiting.push(resolve)),
    runs: {
      async signal(run: string, _: string, { key, body }: { key: string; body: Json }) {
        if (ended.has(run)) throw new Failure("conflict", "It has ended.");
        left.push({ run, message: readMessage(body), key });
      },
    },
  } as unknown as Pick<RunContext, "id" | "waitFor" | "runs">;
  const post = new TeamPost({
    me,
    context,
    box,
    runOf: (name) => working[name],
    async onInjected() {},
    async onTaken(one) {
      taken.push(one);
    },
    onLetter: () => void letters++,
  });
  void post.listen((job) => void job().catch((thrown: unknown) => failures.push(thrown)));
  return {
    post,
    box,
    left,
    taken,
    ended,
    failures,
    countLetters: () => letters,
    async give(message: TeamMessage) {
      await untilTrue(() => waiting.length > 0, "it waits for a message");
      waiting.shift()?.(toSignal(message).body);
      await untilTrue(() => waiting.length > 0, "it has read it");
    },
  };
}

describe("the messages of a team", () => {
  it("go to the first agent from every sender", async () => {
    const { post, left } = openPost("/root/x", {});
    await post.send(letter("/root/a"));
    assert.deepEqual(
      left.map(({ run, key }) => [run, key]),
      [["run_1", "letter:amsg_1"]],
    );
  });

  it("are passed to the run of the agent on the way to their recipient", async () => {
    const { give, left, box } = openPost("/root", { "/root/a": "run_1/a~2" });
    await give({ kind: "letter", letter: letter("/root/a/deep") });
    assert.deepEqual(
      left.map(({ run }) => run),
      ["run_1/a~2"],
    );
    assert.deepEqual(box.unread, []);
  });

  it("are read once by the agent that they are for", async () => {
    const { give, box, countLetters, left } = openPost("/root/a", {});
    await give({ kind: "letter", letter: letter("/root/a") });
    await give({ kind: "letter", letter: letter("/root/a") });
    assert.equal(countLetters(), 1);
    assert.deepEqual(
      box.deliver().map((item) => "id" in item && item.id),
      ["amsg_1"],
    );
    assert.deepEqual([box.deliver(), left], [[], []]);
  });

  it("wait for the next run of an agent that does not work", async () => {
    const working: Record<string, string> = {};
    const { give, post, left } = openPost("/root", working);
    await give({ kind: "letter", letter: letter("/root/a") });
    post.remember([answer("/root/a/deep", 7), answer("/root/b", 8)]);
    assert.deepEqual(left, []);
    working["/root/a"] = "run_1/a~3";
    await post.handAll("/root/a");
    assert.deepEqual(
      left.map(({ run, key }) => [run, key]),
      [
        ["run_1/a~3", "letter:amsg_1"],
        ["run_1/a~3", "taken:7"],
      ],
    );
  });

  it("are not lost, and no failure, where the agent has just ended", async () => {
    const { give, ended, left, failures, post } = openPost("/root", { "/root/a": "run_1/a~1" });
    ended.add("run_1/a~1");
    await give({ kind: "letter", letter: letter("/root/a") });
    assert.deepEqual([left, failures], [[], []]);
    ended.clear();
    await post.handAll("/root/a");
    assert.equal(left.length, 1);
  });

  it("carry the client's answers down, with their numbers in the first run's log", async () => {
    const { post, left, give, taken } = openPost("/root/a", { "/root/a/b": "run_1/a~1/b~1" });
    await give({ kind: "taken", answer: answer("/root/a/b/c", 12) });
    assert.deepEqual(
      taken.map(({ seq }) => seq),
      [12],
    );
    await post.note(taken);
    assert.deepEqual(
      left.map(({ run, key }) => [run, key]),
      [["run_1/a~1/b~1", "taken:12"]],
    );
  });

  it("know the next agent on the way", () => {
    assert.equal(toNext("/root/a/b/c", "/root"), "/root/a");
    assert.equal(toNext("/root/a/b/c", "/root/a"), "/root/a/b");
    assert.equal(toNext("/root/a", "/root/a"), undefined);
    assert.equal(toNext("/root/ab", "/root/a"), undefined);
  });

  it("are ignored if they are invalid", () => {
    assert.equal(readMessage({ kind: "other" }), undefined);
    assert.equal(readMessage("text"), undefined);
  });
});
