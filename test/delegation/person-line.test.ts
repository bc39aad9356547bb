/** A child process that asks the person of its parent: both ends of the line. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createPersonAsks } from "../../src/delegation/executors/person-asks.ts";
import { encodePersonAsk, parseAllowed, parsePersonAsk } from "../../src/delegation/person-line.ts";
import { openParentAlways } from "../../src/delegation/runner/parent-always.ts";
import { openParentAsk } from "../../src/delegation/runner/parent-ask.ts";
import type { ParentLine } from "../../src/delegation/runner/parent-line.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { createAlways } from "../../src/tools/gate/always.ts";
import type { Answer, Ask, Denial, Question } from "../../src/tools/gate/ask.ts";
import { until } from "../patience.ts";

const QUESTION: Question = {
  id: "tool:1.0",
  child: { label: "a", agent: null, path: "/root/a-1.0", depth: 1, task: "Write." },
  tool: "write",
  arguments: "{}",
  effect: "write",
  reason: "it changes files",
  sandbox: "process",
  always: ["write"],
  asksEveryTime: false,
  waitMs: null,
};

/** A child and its parent, which asks with `ask`. */
function connect(ask: Ask | undefined, always = createAlways()) {
  const clock = createManualClock(0);
  const listeners: ((line: string) => void)[] = [];
  const write = (line: string): void => {
    for (const listener of listeners) listener(line);
  };
  let counting = 0;
  const person = {
    ask,
    always,
    uncounted: async <Out>(work: () => Promise<Out>): Promise<Out> => {
      counting++;
      return await work().finally(() => counting--);
    },
  };
  const parent = createPersonAsks(person, { clock, write });
  const line: ParentLine = {
    send: async (frame: JsonObject) => parent.read(parsePersonAsk(frame) ?? assert.fail()),
    onLine: (listener) => void listeners.push(listener),
  };
  const child = openParentAsk(line);
  const childAlways = openParentAlways(line);
  parent.start();
  return { child, childAlways, parent, clock, write, isUncounted: () => counting > 0 };
}

function createPerson() {
  const asked: Question[] = [];
  const withdrawn: string[] = [];
  let answer: (given: Answer | Denial) => void = () => {};
  const ask: Ask = (question, signal) =>
    new Promise((resolve, reject) => {
      asked.push(question);
      answer = resolve;
      signal.addEventListener("abort", () => {
        withdrawn.push(signal.reason.message);
        reject(signal.reason);
      });
    });
  return { ask, asked, withdrawn, answer: (given: Answer | Denial) => answer(given) };
}

const { signal: NEVER } = new AbortController();

describe("a question of a child process", () => {
  it("is put to the parent's person as it is, and answered", async () => {
    const person = createPerson();
    const { child, parent, clock, isUncounted } = connect(person.ask);
    const answer = child(QUESTION, NEVER);
    await until(() => person.asked[0], "the person is asked");
    assert.deepEqual(person.asked, [QUESTION]);
    await clock.advance(700);
    assert.ok(isUncounted());
    assert.equal(parent.waitedMs(), 700);
    person.answer("always");
    assert.equal(await answer, "always");
    await clock.advance(300);
    assert.deepEqual([parent.waitedMs(), isUncounted()], [700, false], "its time passes again");
  });

  it("is denied with the person's words", async () => {
    const person = createPerson();
    const { child } = connect(person.ask);
    const answer = child(QUESTION, NEVER);
    await until(() => person.asked[0], "the person is asked");
    person.answer({ answer: "no", reason: "Use b.txt." });
    assert.deepEqual(await answer, { answer: "no", reason: "Use b.txt." });
  });

  it("is withdrawn, with the reason, once it is settled in the child", async () => {
    const person = createPerson();
    const { child, isUncounted } = connect(person.ask);
    const settled = new AbortController();
    const answer = child(QUESTION, settled.signal);
    await until(() => person.asked[0], "the person is asked");
    settled.abort(new Failure("cancelled", "answered in another terminal: yes"));
    await assert.rejects(answer, { message: "answered in another terminal: yes" });
    assert.deepEqual(person.withdrawn, ["answered in another terminal: yes"]);
    await until(() => (isUncounted() ? undefined : true), "the time counts again");
  });

  it("costs no time of a parent without a person to ask, however long it waits elsewhere", async () => {
    const { child, parent, clock } = connect(undefined);
    const settled = new AbortController();
    const answer = child(QUESTION, settled.signal);
    await clock.advance(5000);
    settled.abort();
    await assert.rejects(answer);
    await clock.advance(5000);
    assert.equal(parent.waitedMs(), 5000);
  });

  it("does not accept another line as its answer", async () => {
    const person = createPerson();
    const { child, write } = connect(person.ask);
    const answer = child(QUESTION, NEVER);
    await until(() => person.asked[0], "the person is asked");
    write("yes");
    write('{"type":"subagent_approval","ask":1,"answer":"sure"}');
    write('{"type":"subagent_approval","ask":2,"answer":"yes"}');
    write('{"type":"subagent_budget","ask":1,"answer":"yes"}');
    person.answer("no");
    assert.equal(await answer, "no");
  });

  const broken: readonly [what: string, change: JsonObject][] = [
    ["no number", { ask: "1" }],
    ["no question", { question: "rm -rf" }],
    ["a tool that is not text", { question: { ...QUESTION, tool: 1 } as unknown as JsonObject }],
    ["an invalid asker", { question: { ...QUESTION, child: {} } as unknown as JsonObject }],
    [
      "rules that are not texts",
      { question: { ...QUESTION, always: [1] } as unknown as JsonObject },
    ],
  ];
  for (const [what, change] of broken) {
    it(`is ignored with ${what}`, () => {
      const frame = encodePersonAsk({ ask: 1, question: QUESTION });
      assert.ok(parsePersonAsk(frame));
      assert.equal(parsePersonAsk({ ...frame, ...change }), undefined);
    });
  }
});

describe("what is allowed for a whole tree", () => {
  const ALLOWED = { rules: ["write"], call: null };

  it("is known in every process of the tree, once one answer allowed it", async () => {
    const person = createPerson();
    const always = createAlways();
    const first = connect(person.ask, always);
    const second = connect(person.ask, always);
    const answer = first.child(QUESTION, NEVER);
    await until(() => person.asked[0], "the person is asked");
    person.answer("tree");
    assert.equal(await answer, "tree");
    const later = connect(person.ask, always);
    for (const known of [always, second.childAlways, later.childAlways]) {
      assert.deepEqual(known.all, [ALLOWED]);
    }
  });

  it("is not asked about, and an open question about it leaves the terminal", async () => {
    const person = createPerson();
    const always = createAlways();
    const { child } = connect(person.ask, always);
    const settled = new AbortController();
    const asked = child(QUESTION, settled.signal);
    await until(() => person.asked[0], "the person is asked");
    always.allow(ALLOWED);
    assert.deepEqual(person.withdrawn, ["Another answer allows it."]);
    const again = child({ ...QUESTION, id: "tool:1.1" }, settled.signal);
    settled.abort(new Failure("cancelled", "The child knows it by itself."));
    await Promise.all([assert.rejects(asked), assert.rejects(again)]);
    assert.equal(person.asked.length, 1);
  });

  it("is still asked about if the question is asked every time", async () => {
    const person = createPerson();
    const always = createAlways();
    always.allow(ALLOWED);
    const { child } = connect(person.ask, always);
    const answer = child({ ...QUESTION, asksEveryTime: true }, NEVER);
    await until(() => person.asked[0], "the person is asked");
    person.answer("no");
    assert.equal(await answer, "no");
  });

  it("is reported to the parent if the answer came from elsewhere, only for what was asked", async () => {
    const person = createPerson();
    const always = createAlways();
    const { child, childAlways } = connect(person.ask, always);
    const settled = new AbortController();
    const answer = child(QUESTION, settled.signal);
    await until(() => person.asked[0], "the person is asked");
    settled.abort(new Failure("cancelled", "answered in another terminal: tree"));
    await assert.rejects(answer);
    childAlways.allow({ rules: ["shell"], call: null });
    childAlways.allow(ALLOWED);
    await until(() => always.all[0], "the parent knows");
    assert.deepEqual(always.all, [ALLOWED]);
  });

  it("is only the same call if no rule can express it", async () => {
    const person = createPerson();
    const always = createAlways();
    const { child, childAlways } = connect(person.ask, always);
    const call = { name: "write", arguments: '{"path":"$(x)"}' };
    const answer = child({ ...QUESTION, arguments: call.arguments, always: [] }, NEVER);
    await until(() => person.asked[0], "the person is asked");
    person.answer("tree");
    await answer;
    assert.deepEqual([always.all, childAlways.all], [[{ rules: [], call }], [{ rules: [], call }]]);
  });

  for (const allowed of [
    ...[null, "write", {}, { rules: [], call: null }, { rules: [1], call: null }],
    ...[
      { rules: ["shell(git"], call: null },
      { rules: [], call: { name: "write" } },
    ],
  ]) {
    it(`is ignored as ${JSON.stringify(allowed)}`, () => {
      const line = JSON.stringify({ type: "subagent_approval", allowed });
      assert.equal(parseAllowed(line), undefined);
      assert.equal(parsePersonAsk(JSON.parse(line)), undefined);
    });
  }
});
