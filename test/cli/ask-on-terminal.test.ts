import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { createAskOnTerminal, renderQuestion } from "../../src/cli/ask-on-terminal.ts";
import type { Terminal } from "../../src/cli/io.ts";
import type { Asker, Question } from "../../src/tools/gate/ask.ts";
import { patience } from "../patience.ts";

const QUESTION: Question = {
  id: "tool:1.0",
  child: null,
  tool: "shell",
  arguments: '{"command":"ls"}',
  effect: "execute",
  reason: "`shell` runs a command outside of the sandbox",
  sandbox: "process",
  always: ["shell(ls *)"],
  asksEveryTime: false,
  waitMs: null,
};

const CHILD: Asker = {
  label: "look\u001b[2J",
  agent: "reviewer",
  path: "/root/look-1.0",
  depth: 1,
  task: "Look at a.",
};

/** A terminal on which these lines are typed. */
function typing(...lines: (string | undefined)[]): Terminal & { readonly shown: string[] } {
  const shown: string[] = [];
  return {
    shown,
    columns: 80,
    ask: async (prompt) => {
      shown.push(prompt);
      return lines.shift();
    },
    askHidden: async () => lines.shift(),
    show: (text) => void shown.push(text),
  };
}

const ask = (terminal: Terminal, question: Question = QUESTION) => {
  const asking = createAskOnTerminal({ openTerminal: () => terminal });
  assert.ok(asking);
  return asking.ask(question, patience());
};

describe("a question on the terminal", () => {
  const rows: readonly [typed: string | undefined, answer: string][] = [
    ["y", "yes"],
    ["Yes", "yes"],
    ["n", "no"],
    ["A", "always"],
    [" always ", "always"],
    ["c", "cancel"],
    [undefined, "cancel"],
  ];
  for (const [typed, answer] of rows) {
    it(`takes ${JSON.stringify(typed) ?? "the end of the input"} for ${answer}`, async () => {
      assert.equal(await ask(typing(typed)), answer);
    });
  }

  for (const [typed, reason] of [
    ["n use b.txt", "use b.txt"],
    ["No, because  it is old ", "because  it is old"],
    ["no: y", "y"],
    ["N - not yet", "not yet"],
  ] as const) {
    it(`takes ${JSON.stringify(typed)} for a no with words for the model`, async () => {
      assert.deepEqual(await ask(typing(typed)), { answer: "no", reason });
    });
  }

  it("takes a no without further words as a no", async () => {
    assert.equal(await ask(typing("no, ")), "no");
  });

  it("takes neither nothing nor other words for an answer", async () => {
    const terminal = typing("", "maybe", "yes, but not b.txt", "no");
    assert.equal(await ask(terminal), "no");
    assert.deepEqual(
      terminal.shown.map((text) => text.includes("Tool Call: shell")),
      [true, false, false, false],
    );
    const again = terminal.shown.slice(1).map((text) => text.split("\n")[0]);
    assert.deepEqual(again, Array(3).fill("Type y, n (or n and why), a or c, then Enter."));
    const ofChild = typing("q", "n");
    await ask(ofChild, { ...QUESTION, child: CHILD });
    assert.match(ofChild.shown[1] ?? "", /^Type y, n \(or n and why\), a, t or c, then Enter\.\n/);
  });

  it("shows the whole call, escaped, with the reason for the question", () => {
    assert.equal(
      renderQuestion({ ...QUESTION, arguments: '{"command":"ls\\nApprove this?","timeout":3}' }),
      [
        "",
        "Tool Call: shell",
        '  "command": "ls\\nApprove this?"',
        '  "timeout": 3',
        "  why: `shell` runs a command outside of the sandbox (sandbox: process)",
        "  always, in this run: shell(ls *)",
        "",
      ].join("\n"),
    );
  });

  it("says which subagent asks, for what task, and offers the whole tree", async () => {
    const terminal = typing("t");
    assert.equal(await ask(terminal, { ...QUESTION, child: CHILD }), "tree");
    const [shown = ""] = terminal.shown;
    assert.match(
      shown,
      /^ {2}subagent: "look\\u001b\[2J" \(agent reviewer, \/root\/look-1\.0, depth 1\)$/m,
    );
    assert.match(shown, /^ {2}its task: "Look at a\."$/m);
    assert.match(
      shown,
      /\[A\]lways for this subagent \[T\]ree: always for all \[C\]ancel the whole run: $/,
    );
  });

  it("shows arguments that are not JSON as one text", () => {
    assert.match(renderQuestion({ ...QUESTION, arguments: "{oops\n" }), /^ {2}"\{oops\\n"$/m);
  });

  it("never hides the end of a long argument", () => {
    const command = `${"x".repeat(10_000)} && rm -rf /`;
    const shown = renderQuestion({ ...QUESTION, arguments: JSON.stringify({ command }) });
    assert.match(shown, /characters are not shown/);
    assert.match(shown, /rm -rf \/"\n/);
    assert.ok(
      shown
        .split("\n")
        .every((line) => line === "" || line.startsWith("  ") || line.startsWith("Tool Call")),
    );
  });

  it("comes one at a time", async () => {
    const waiting: ((line: string) => void)[] = [];
    const terminal: Terminal = {
      columns: 80,
      ask: () => new Promise((resolve) => waiting.push(resolve)),
      askHidden: async () => undefined,
      show: () => {},
    };
    const asking = createAskOnTerminal({ openTerminal: () => terminal });
    const signal = patience();
    const first = asking?.ask(QUESTION, signal);
    const second = asking?.ask({ ...QUESTION, tool: "write" }, signal);
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settle();
    assert.equal(waiting.length, 1);
    waiting[0]?.("y");
    assert.equal(await first, "yes");
    await settle();
    await settle();
    waiting[1]?.("n");
    assert.equal(await second, "no");
  });

  it("gets no further questions after the answer cancel", async () => {
    const terminal = typing("c");
    const asking = createAskOnTerminal({ openTerminal: () => terminal });
    const signal = patience();
    const answers = await Promise.all([
      asking?.ask(QUESTION, signal),
      asking?.ask(QUESTION, signal),
    ]);
    assert.deepEqual([answers, terminal.shown.length], [["cancel", "cancel"], 1]);
  });

  it("says why it is withdrawn, and ends its line", async () => {
    const withdrawn = new AbortController();
    const shown: string[] = [];
    const terminal: Terminal = {
      columns: 80,
      ask: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          withdrawn.abort(new Failure("cancelled", "The run was cancelled."));
        }),
      askHidden: async () => undefined,
      show: (text) => void shown.push(text),
    };
    const asking = createAskOnTerminal({ openTerminal: () => terminal });
    const asked = asking?.ask({ ...QUESTION, child: CHILD }, withdrawn.signal);
    await assert.rejects(async () => await asked, { code: "cancelled" });
    assert.deepEqual(shown, ["\nno longer needed: look\\u{1b}[2J: The run was cancelled.\n"]);
  });

  it("is not shown if the previous answer has settled it", async () => {
    const terminal = typing("t", "n");
    const asking = createAskOnTerminal({ openTerminal: () => terminal });
    const settled = new AbortController();
    const first = asking?.ask({ ...QUESTION, child: CHILD }, patience());
    const second = asking?.ask({ ...QUESTION, child: CHILD }, settled.signal);
    // The gate takes some steps from the answer to what it settles.
    const settle = async (): Promise<void> => {
      await first;
      for (let steps = 0; steps < 20; steps++) await undefined;
      settled.abort(new Failure("cancelled", "Another answer allows it."));
    };
    await Promise.all([settle(), assert.rejects(async () => await second, { code: "cancelled" })]);
    assert.equal(terminal.shown.length, 1);
  });

  it("is not shown to a run that has ended", async () => {
    const terminal = typing("y");
    const reason = new Failure("timeout", "too late");
    const asking = createAskOnTerminal({ openTerminal: () => terminal });
    await assert.rejects(async () => asking?.ask(QUESTION, AbortSignal.abort(reason)), reason);
    assert.deepEqual(terminal.shown, []);
  });

  it("breaks long values itself, so that none begins a line like ours", () => {
    const command = `ls${" ".repeat(74)}why: it is safe`;
    const shown = renderQuestion({ ...QUESTION, arguments: JSON.stringify({ command }) }, 80);
    assert.doesNotMatch(shown, /^ {0,2}why: it is safe/m);
    assert.ok(shown.split("\n").every((line) => line.length < 80));
  });

  it("does not exist without a terminal", () => {
    assert.equal(createAskOnTerminal({ openTerminal: () => undefined }), undefined);
  });
});
