import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toSummary } from "../../../src/cli/output/run-summary.ts";
import { createTextOutput } from "../../../src/cli/output/text-output.ts";
import { createRunFold } from "../../../src/delegation/ledger/run-figures.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import {
  functionCall,
  message,
  reasoning,
  runEnd,
  runStart,
  toolRun,
  turn,
  USAGE,
} from "../../responses/logged-run.ts";
import { BOTH, project } from "./screen.ts";

const call = { call_id: "call_1", name: "read" };
const SUMMARY = "1 turn · 1,234 tokens · 3.2 s · cost unknown\n";
const dim = (text: string): string => `\x1b[2m${text}\x1b[22m`;

/** A run of one turn. */
function answering(
  ...events: Parameters<typeof turn> extends [number, ...infer Rest] ? Rest : never
) {
  return [runStart(), ...turn(1, ...events), runEnd()];
}

const withTool: readonly RunEvent[] = [
  runStart({ tools: ["read"] }),
  ...turn(1, ...reasoning(0, "Hm"), ...message(1, "Let me look."), ...functionCall(2, call, "{}")),
  ...toolRun(call, "one", { arguments: '{"path":\n "a"}' }),
  ...turn(2, ...message(0, "One", "!")),
  runEnd({ turns: 2, tool_calls: 1 }),
];

describe("the text form on pipes", () => {
  it("is only the answer on standard output, with its last line ended", async () => {
    const { stdout, stderr } = await project(
      createTextOutput,
      answering(...message(0, "Hel", "lo")),
    );
    assert.equal(stdout, "Hello\n");
    assert.equal(stderr, SUMMARY);
  });

  it("adds no line break to an answer that has one, and none to no answer", async () => {
    const ended = await project(createTextOutput, answering(...message(0, "Hello\n")));
    assert.equal(ended.stdout, "Hello\n");
    assert.equal((await project(createTextOutput, answering())).stdout, "");
  });

  it("the text form on pipes ignores empty pieces", async () => {
    const empty = await project(createTextOutput, answering(...message(0, "")));
    assert.equal(empty.stdout, "");
    const behind = await project(
      createTextOutput,
      answering(...reasoning(0, "Hm.\n", ""), ...message(1, "Hello\n", "")),
    );
    assert.deepEqual([behind.stdout, behind.stderr], ["Hello\n", `Hm.\n${SUMMARY}`]);
  });

  it("puts reasoning and a line for each tool call on standard error, plain", async () => {
    const { stdout, stderr } = await project(createTextOutput, withTool);
    assert.equal(stdout, "One!\n");
    assert.equal(
      stderr,
      'Hm\nLet me look.\nread({"path": "a"})\nread → +3 chars\n2 turns · 1 tool call · 2,468 tokens · 3.2 s · cost unknown\n',
    );
  });

  it("reports searches that the vendor made, and names each source once", async () => {
    const action = { type: "search" as const, query: "colour" };
    const item: Item = { type: "web_search_call", status: "completed", action };
    const annotation = {
      type: "url_citation",
      url: "https://one.org/\x1b[2J",
      title: "One",
    } as const;
    const cited: ModelEvent = { type: "annotation", index: 1, part: 0, annotation };
    const search: ModelEvent = { type: "item_end", index: 0, item };
    const log = answering(search, ...message(1, "Blue."), cited, cited);
    const { stdout, stderr } = await project(createTextOutput, log);
    assert.equal(stdout, "Blue.\n");
    const [first, second] = stderr.split("\n");
    assert.deepEqual([first, second], ["web_search(colour)", "source: One · https://one.org/"]);
  });

  it("prints the answer as it was written, control characters included", async () => {
    const { stdout } = await project(
      createTextOutput,
      answering(...message(0, "\x1b[31mred\x07\r\n")),
    );
    assert.equal(stdout, "\x1b[31mred\x07\r\n");
  });

  it("ends with a blank line and the marker when it is asked for", async () => {
    const { stdout } = await project(createTextOutput, answering(...message(0, "Hello")), {
      doneMarker: true,
    });
    assert.equal(stdout, "Hello\n\n=== [ DONE ] ===\n");
  });

  it("prints a document once, whole, before the marker", async () => {
    const log = [
      runStart(),
      ...turn(1, ...message(0, '{"capital":', '"Paris"}')),
      runEnd({ output_json: { capital: "Paris", country: "France" } }),
    ];
    const { stdout } = await project(createTextOutput, log, {
      isStructured: true,
      doneMarker: true,
    });
    assert.equal(stdout, '{"capital":"Paris","country":"France"}\n\n=== [ DONE ] ===\n');
  });

  it("prints no document that was not finished", async () => {
    const log = [runStart(), ...turn(1, ...message(0, '{"cap')), runEnd({ ending: "timeout" })];
    assert.equal((await project(createTextOutput, log, { isStructured: true })).stdout, "");
  });

  for (const flags of [{}, { quiet: true }, { isStructured: true }]) {
    it(`shows a refusal only on standard error, with ${JSON.stringify(flags)}`, async () => {
      const refusal: RunEvent = { type: "refusal_delta", index: 0, part: 0, delta: "I cannot." };
      const log = [runStart(), refusal, runEnd({ ending: "refused" })];
      const { stdout, stderr } = await project(createTextOutput, log, flags);
      assert.equal(stdout, "");
      assert.ok(stderr.startsWith("I cannot.\n"), stderr);
    });
  }

  it("prints the last turn's text of a run that ends in a tool call", async () => {
    const log = [...withTool.slice(0, -1)].filter(
      (event) => !("index" in event && event.index === 0),
    );
    const cut = [
      ...log.slice(
        0,
        log.findLastIndex(({ type }) => type === "turn_start"),
      ),
    ];
    const { stdout } = await project(createTextOutput, [...cut, runEnd({ ending: "max_turns" })]);
    assert.equal(stdout, "Let me look.\n");
  });

  it("joins the text of a turn that a vendor paused", async () => {
    const end = { type: "end", reason: "pause", usage: USAGE, continuation: undefined } as const;
    const log = [
      runStart({ tools: ["read"] }),
      ...turn(1, ...message(0, "One "), end),
      ...turn(2, ...message(0, "two")),
      runEnd({ turns: 2 }),
    ];
    assert.equal((await project(createTextOutput, log)).stdout, "One two\n");
  });

  it("hides tools with --brief, and all except the answer with --quiet", async () => {
    const brief = await project(createTextOutput, withTool, { brief: true });
    assert.equal(
      brief.stderr,
      "Hm\nLet me look.\n2 turns · 1 tool call · 2,468 tokens · 3.2 s · cost unknown\n",
    );
    const quiet = await project(createTextOutput, withTool, { quiet: true });
    assert.deepEqual([quiet.stdout, quiet.stderr], ["One!\n", ""]);
  });

  it("shows why a tool failed, and notices, on one line each", async () => {
    const log: RunEvent[] = [
      runStart(),
      ...toolRun(call, `Error: no\nsuch ${"x".repeat(200)}`, { failed: true }),
      { type: "notice", code: "retry", message: "busy; trying again in 2 s" },
      { type: "run_resume", epoch: 2, at_ms: 0 },
    ];
    const { stderr } = await project(createTextOutput, log);
    const lines = stderr.trimEnd().split("\n");
    assert.match(lines[1] ?? "", /^read → Error: no such x+…$/);
    assert.deepEqual(lines.slice(2), [
      "busy; trying again in 2 s",
      "resumed after a crash (attempt 2); the lines above are from before it",
    ]);
  });
});

describe("the text form on a terminal", () => {
  it("dims all except the answer, and begins no message in the middle of a line", async () => {
    const { all } = await project(createTextOutput, withTool, { terminals: BOTH });
    assert.equal(
      all,
      [
        dim("Hm"),
        "Let me look.",
        dim('read({"path": "a"})'),
        "  \x1b[2m1 line\x1b[m",
        dim("── turn 2 ──"),
        "One!",
        dim("2 turns · 1 tool call · 2,468 tokens · 3.2 s · cost unknown"),
        "",
      ].join("\n"),
    );
  });

  it("keeps the order of the two streams within a batch, with few writes", async () => {
    const { writes } = await project(
      createTextOutput,
      answering(...message(0, "a", "b\n"), ...reasoning(1, "Hm\n"), ...message(2, "c\n")),
      { terminals: BOTH },
    );
    assert.deepEqual(writes, [
      ["stdout", "ab\n"],
      ["stderr", dim("Hm\n")],
      ["stdout", "c\n"],
      ["stderr", `${dim(SUMMARY.trimEnd())}\n`],
    ]);
  });

  it("writes each batch before the next comes", async () => {
    const batches = [[runStart()], ...message(0, "a", "b").map((event) => [event as RunEvent])];
    const { writes } = await project(createTextOutput, batches);
    assert.deepEqual(writes, [
      ["stdout", "a"],
      ["stdout", "b"],
    ]);
  });

  it("dims nothing when only the answer is on a terminal", async () => {
    const { stdout, stderr } = await project(createTextOutput, withTool, { terminals: ["stdout"] });
    assert.ok(!stderr.includes("\x1b"));
    assert.equal(stdout, `Let me look.\n${dim("── turn 2 ──")}\nOne!\n`);
  });

  it("separates the text of each turn, also with -q, so that the answer is below the last line", async () => {
    const log = [
      runStart({ tools: ["read"] }),
      ...turn(1, ...message(0, "First."), ...functionCall(1, call, "{}")),
      ...toolRun(call, "one"),
      ...turn(2, ...functionCall(0, call, "{}")),
      ...toolRun(call, "two"),
      ...turn(3, ...message(0, "Sec", "ond.\n"), ...functionCall(1, call, "{}")),
      ...toolRun(call, "three"),
      ...turn(4, ...message(0, "Last.")),
      runEnd({ turns: 4, tool_calls: 3 }),
    ];
    const { stdout } = await project(createTextOutput, log, { terminals: BOTH, quiet: true });
    const third = dim("── turn 3 ──");
    const fourth = dim("── turn 4 ──");
    assert.equal(stdout, `First.\n${third}\nSecond.\n${fourth}\nLast.\n`);
  });

  it("draws no line above the only text, and none inside a turn that a vendor paused", async () => {
    const end = { type: "end", reason: "pause", usage: USAGE, continuation: undefined } as const;
    const log = [
      runStart({ tools: ["read"] }),
      ...turn(1, ...functionCall(0, call, "{}")),
      ...toolRun(call, "one"),
      ...turn(2, ...message(0, "One "), end),
      ...turn(3, ...message(0, "two")),
      runEnd({ turns: 3, tool_calls: 1 }),
    ];
    const { stdout } = await project(createTextOutput, log, { terminals: BOTH, quiet: true });
    assert.equal(stdout, "One two\n");
  });

  it("shows the first words of a turn as they come", async () => {
    const batches = [
      [
        runStart({ tools: ["read"] }),
        ...turn(1, ...message(0, "First."), ...functionCall(1, call, "{}")),
      ],
      [...toolRun(call, "one")],
      ...turn(2, ...message(0, "a", "b")).map((event) => [event]),
    ];
    const { writes } = await project(createTextOutput, batches, { terminals: BOTH, quiet: true });
    const rule = dim("── turn 2 ──");
    assert.deepEqual(writes.slice(-2), [
      ["stdout", `${rule}\na`],
      ["stdout", "b"],
    ]);
  });

  it("marks text before the answer when only standard error is on a terminal", async () => {
    const { stdout, stderr } = await project(createTextOutput, withTool, { terminals: ["stderr"] });
    assert.equal(stdout, "One!\n");
    assert.ok(
      stderr.startsWith(`${dim("Hm")}\n${dim("Let me look.")}\n${dim("read")}`.slice(0, -6)),
    );
  });

  it("lets no control character of a model or a tool through", async () => {
    const evil = "\x1b]0;owned\x07a\x9bb\u202ec\x1b[2J";
    const log: RunEvent[] = [
      runStart(),
      ...turn(1, ...reasoning(0, evil), ...message(1, evil)),
      ...toolRun({ call_id: "c", name: evil }, evil, { arguments: evil, failed: true }),
      { type: "notice", code: "retry", message: evil },
      runEnd(),
    ];
    const { all } = await project(createTextOutput, log, { terminals: BOTH });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the dimming is ours, the rest is theirs
    const theirs = all.replaceAll(/\x1b\[22?m/g, "").replaceAll("\n", "");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
    assert.doesNotMatch(theirs, /[\x00-\x1f\x7f-\x9f\u202e]/);
    assert.ok(!theirs.includes("owned"));
  });

  it("is just as safe if an escape is split between two pieces", async () => {
    const log = answering(...message(0, "a\x1b", "[31mb\x1b]0;t", "itle\x07"));
    const { stdout } = await project(createTextOutput, log, { terminals: BOTH });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
    assert.doesNotMatch(stdout, /[\x1b\x07]/);
  });
});

function summaryOf(...log: readonly RunEvent[]): string {
  const fold = createRunFold();
  for (const event of log) fold.read(event);
  return toSummary(fold.figures);
}

describe("the summary of a run", () => {
  const cases = [
    [{}, "1 turn · 1,234 tokens · 3.2 s · cost unknown"],
    [{ turns: 2, tool_calls: 1 }, "2 turns · 1 tool call · 1,234 tokens · 3.2 s · cost unknown"],
    [{ cost_usd: 0 }, "1 turn · 1,234 tokens · 3.2 s · free"],
    [{ cost_usd: 0.00123 }, "1 turn · 1,234 tokens · 3.2 s · $0.0012"],
    [{ cost_usd: 12.345 }, "1 turn · 1,234 tokens · 3.2 s · $12.35"],
    [{ cost_usd: 0.0000001 }, "1 turn · 1,234 tokens · 3.2 s · under $0.0001"],
    [{ cost_usd: 0.031 }, "1 turn · 1,234 tokens · 3.2 s · $0.0310"],
    [{ cost_usd: 0.5 }, "1 turn · 1,234 tokens · 3.2 s · $0.50"],
    [
      { cost_usd: 0, turns: 0, usage: { ...USAGE, total_tokens: 0 } },
      "0 turns · 0 tokens · 3.2 s · nothing spent",
    ],
  ] as const;
  for (const [more, summary] of cases) {
    it(summary, () => assert.equal(summaryOf(runStart(), runEnd(more)), summary));
  }

  it("leaves the time out when the run's start was not seen", () => {
    assert.equal(summaryOf(runEnd()), "1 turn · 1,234 tokens · cost unknown");
  });
});
