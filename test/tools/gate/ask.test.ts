import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAlways } from "../../../src/tools/gate/always.ts";
import type { Answer, Ask, Question } from "../../../src/tools/gate/ask.ts";
import type { Decision } from "../../../src/tools/gate/call.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { patience } from "../../patience.ts";
import { toGateParts } from "../workspace-folder.ts";
import { asking, call, define, folder, rule, TOOLS } from "./gate-fixture.ts";

describe("a question", () => {
  it("says what needs approval, and why", async () => {
    const terminal = asking("yes");
    await call("write", '{"path":"a.txt"}', terminal);
    assert.deepEqual(terminal.questions, [
      {
        id: "run_1/1",
        child: null,
        tool: "write",
        arguments: '{"path":"a.txt"}',
        effect: "write",
        reason: "`write` changes files",
        sandbox: "process",
        always: ["write"],
        asksEveryTime: false,
        waitMs: null,
      },
    ]);
  });

  it("answered with always is not asked again in this run, for this tool", async () => {
    const terminal = asking("always");
    const other = define("other", async () => "", { effect: "write" });
    const parts = await toGateParts(folder.root, [...TOOLS, other]);
    const gate = createGate({ ...parts, ...terminal });
    const context = {
      signal: patience(),
      idempotencyKey: "1",
      take: () => {},
      decided: async () => {},
    };
    for (const name of ["write", "write", "other", "write"]) {
      await gate.call({ name, arguments: "{}" }, context);
    }
    assert.deepEqual(
      terminal.questions.map(({ tool }) => tool),
      ["write", "other"],
    );
  });

  it("answered with always is asked again about files that may contain keys, and if a rule asks", async () => {
    const terminal = asking("always");
    const policy = { approve: "ask", rules: [rule("ask", "path(a.txt)")] } as const;
    const parts = await toGateParts(folder.root, TOOLS);
    const gate = createGate({ ...parts, ...terminal, policy });
    const context = {
      signal: patience(),
      idempotencyKey: "1",
      take: () => {},
      decided: async () => {},
    };
    for (const path of ["b.txt", "c.txt", ".env", ".env", "a.txt", "a.txt"]) {
      await gate.call({ name: "write", arguments: JSON.stringify({ path }) }, context);
    }
    assert.equal(terminal.questions.length, 5, "all but c.txt");
  });

  it("answered for the tree is asked in no other run of it, nor in one that waits", async () => {
    const questions: Question[] = [];
    const answers: ((answer: Answer) => void)[] = [];
    const ask: Ask = (question, signal) => {
      questions.push(question);
      return new Promise((resolve, reject) => {
        answers.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const policy = { approve: "ask", rules: [] } as const;
    const parts = { ...(await toGateParts(folder.root, TOOLS)), ask, policy };
    const treeAlways = createAlways();
    const gates = ["one", "two", "three"].map((label) => {
      const asker = { label, agent: null, path: `/root/${label}`, depth: 1, task: "Write." };
      return createGate({ ...parts, asker, treeAlways });
    });
    const decisions: Decision[] = [];
    const context = {
      signal: patience(),
      idempotencyKey: "1",
      take: () => {},
      decided: async (decision: Decision) => decisions.push(decision),
    };
    const wanted = { name: "write", arguments: '{"path":"b.txt"}' };
    const first: Promise<unknown>[] = [];
    // One after the other: both look at the file first, and either may be faster.
    for (const gate of gates.slice(0, 2)) {
      first.push(gate.call(wanted, context));
      while (questions.length < first.length) await new Promise((done) => setImmediate(done));
    }
    assert.deepEqual(
      questions.map(({ child }) => child?.label),
      ["one", "two"],
    );
    answers[0]?.("tree");
    await Promise.all(first);
    await gates[2]?.call(wanted, context);
    assert.equal(questions.length, 2);
    assert.deepEqual(
      decisions.map(({ verdict, by }) => [verdict, by]),
      Array(3).fill(["allow", "person"]),
    );
    assert.match(decisions[0]?.reason ?? "", /the user was asked and said always, for the whole/);
  });

  it("that cannot be asked is a refusal", async () => {
    const ask = async (): Promise<Answer> => {
      throw new Error("EIO");
    };
    const { decisions } = await call("write", "{}", { policy: { approve: "ask", rules: [] }, ask });
    assert.deepEqual([decisions[0]?.verdict, decisions[0]?.by], ["deny", "nobody"]);
  });

  it("answered with cancel ends the run", async () => {
    await assert.rejects(call("write", "{}", asking("cancel")), { code: "cancelled" });
  });

  it("is not asked about a call that is refused in any case", async () => {
    const terminal = asking("yes");
    const refused = await call("write", '{"path":"../../x"}', terminal);
    assert.deepEqual([terminal.questions.length, refused.failed], [0, true]);
  });
});

describe("a tool that can change", () => {
  const pinned = (standing: "agreed" | "changed" | "unknown") => {
    const agreed: string[] = [];
    const tool: Tool = {
      ...define("remote", async () => "done", { effect: "external" }),
      pin: { standing: async () => standing, agree: async () => void agreed.push("now") },
    };
    return { agreed, tool };
  };

  it("is pinned if it is allowed for the first time", async () => {
    const { tool, agreed } = pinned("unknown");
    await call("remote", "{}", { tools: [tool] });
    assert.deepEqual(agreed, ["now"]);
  });

  it("is not pinned again while it is unchanged", async () => {
    const { tool, agreed } = pinned("agreed");
    await call("remote", "{}", { tools: [tool] });
    assert.deepEqual(agreed, []);
  });

  it("needs approval again if it has changed, whatever allows it", async () => {
    const { tool, agreed } = pinned("changed");
    const policy = { approve: "auto", rules: [rule("allow", "remote")] } as const;
    const { decisions, output } = await call("remote", "{}", { tools: [tool], policy });
    assert.deepEqual([decisions[0]?.verdict, decisions[0]?.by, agreed], ["deny", "pin", []]);
    assert.match(String(output), /`remote` has changed since it was approved/);
  });

  it("is pinned again after the user's approval", async () => {
    const { tool, agreed } = pinned("changed");
    const terminal = asking("yes", "auto");
    await call("remote", "{}", { tools: [tool], ...terminal });
    assert.deepEqual([terminal.questions.length, agreed], [1, ["now"]]);
  });
});
