/** The embedded model as a parent, with subagents whose answers come from a table. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findNumber } from "../../../src/providers/embedded/child-answers.ts";
import { argumentsOf, ask, FIND, listen, type Play, READ, run, tool } from "./replies.ts";

const [SUBAGENT, PARALLEL, CALL] = ["subagent", "parallel_subagent", "call_subagent"].map((name) =>
  tool(name, {}),
) as [typeof READ, typeof READ, typeof READ];
const ALL = [READ, FIND, SUBAGENT, PARALLEL, CALL];

const COUNT =
  "ask three subagents in parallel to count the lines of src, test and docs, then add them up";

function complete(output: string, status = "complete"): string {
  const metadata = { completion_status: status };
  return JSON.stringify({ success: true, output, error: null, metadata });
}

function failed(error: string): string {
  return JSON.stringify({ success: false, output: "", error, metadata: {} });
}

/** Answers each label with its own envelope. */
function playSubagent(envelopes: Readonly<Record<string, string>>): Record<string, Play> {
  return { subagent: ({ label }) => envelopes[String(label)] ?? assert.fail(`no ${label}`) };
}

const counted = (path: string, count: number): string =>
  complete(`The text files in \`${path}\` have ${count} lines.`);
const COUNTED = {
  src: counted("src", 120),
  test: counted("test", 30),
  docs: counted("docs", 4),
};

async function totalOf(envelopes: Readonly<Record<string, string>>): Promise<string> {
  return (await askForTotal(envelopes)).text;
}

function askForTotal(envelopes: Readonly<Record<string, string>>): ReturnType<typeof run> {
  return run(ask(COUNT, { tools: ALL }), playSubagent({ ...COUNTED, ...envelopes }));
}

interface Form {
  readonly request: string;
  readonly prompts: readonly string[];
}

const FORMS: readonly Form[] = [
  { request: "ask a subagent to read a.md", prompts: ["Read a.md"] },
  {
    request: "Please have a subagent count the files in src.",
    prompts: ["Count the files in src"],
  },
  {
    request: "delegate counting the lines of src to a subagent",
    prompts: ["Count the lines of src"],
  },
  { request: "delegate 'find TODO in src' to a subagent", prompts: ["Find TODO in src"] },
  { request: "delegate to a sub-agent: compute 6*7", prompts: ["Compute 6*7"] },
  { request: "ask a subagent to read a.md and b.md", prompts: ["Read a.md and b.md"] },
  {
    request: "let subagents read a.md, b.md and c.md",
    prompts: ["Read a.md", "Read b.md", "Read c.md"],
  },
  {
    request: "ask 2 subagents to compute 1 + 1 and 2 * 2, then list the results",
    prompts: ["Compute 1 + 1", "Compute 2 * 2"],
  },
  {
    request: "ask two subagents to read a.md and to count the files in src",
    prompts: ["Read a.md", "Count the files in src"],
  },
  {
    request: "use three subagents at once to find 'a and b' in the src, test and docs folders",
    prompts: ["Find 'a and b' in src", "Find 'a and b' in test", "Find 'a and b' in docs"],
  },
  {
    request: "with two subagents, count the lines of README.md and src and give me the total",
    prompts: ["Count the lines of README.md", "Count the lines of the files in src"],
  },
  { request: "ask two subagents to each say hello", prompts: ["Say hello", "Say hello"] },
  {
    request: "Ask two subagents to count the files in src and test. Then sum the results.",
    prompts: ["Count the files in src", "Count the files in test"],
  },
  {
    request: "ask a subagent to ask a subagent to compute 1+1",
    prompts: ["Ask a subagent to compute 1+1"],
  },
  {
    request: "use the subagent tool to list the files in docs",
    prompts: ["List the files in docs"],
  },
];

describe("delegating", () => {
  it("asks three subagents in one turn, and adds up their answers", async () => {
    const { turns, text } = await run(ask(COUNT, { tools: ALL }), playSubagent(COUNTED));
    assert.equal(turns.length, 1);
    assert.deepEqual(
      turns[0]?.map((call) => [call.name, argumentsOf(call)]),
      ["src", "test", "docs"].map((label) => [
        "subagent",
        { label, task_prompt: `Count the lines of the files in ${label}` },
      ]),
    );
    assert.match(text, /^3 subagents answered:\n- `src`: .* 120 lines\.\n- `test`: .*\n- `docs`: /);
    assert.match(text, /\n\nTotal: 120 \+ 30 \+ 4 = 154$/);
  });

  for (const { request, prompts } of FORMS) {
    it(`passes on the task of "${request}"`, async () => {
      const plays = { subagent: () => complete("Done.") };
      const { turns } = await run(ask(request, { tools: ALL }), plays);
      assert.equal(turns.length, 1);
      const made = turns.flat().map(argumentsOf);
      assert.deepEqual(
        made.map(({ task_prompt }) => task_prompt),
        prompts,
      );
      assert.equal(new Set(made.map(({ label }) => label)).size, prompts.length);
    });
  }

  it("makes one call after the other if parallel calls are off", async () => {
    const request = ask(COUNT, { tools: ALL, parallel_tool_calls: false });
    const { turns, text } = await run(request, playSubagent(COUNTED));
    assert.equal(turns.length, 3);
    assert.match(text, /= 154$/);
  });

  it("does the steps after it, and only if it worked", async () => {
    const request = ask("ask a subagent to read a.md, then read b.md", { tools: ALL });
    const read = (): string => "   1 | b";
    const worked = await run(request, { subagent: () => complete("A."), read });
    assert.match(worked.text, /^1 subagent answered:\n- `read-a-md`: A\.\n\n1 line of `b.md`/);
    const acting = ask("ask a subagent to read a.md, then run `ls`", {
      tools: [...ALL, tool("shell", {})],
    });
    const broken = await run(acting, { subagent: () => failed("It broke.") });
    assert.match(broken.refusal, /failed: It broke\.\n\nAfter that I stopped: 1 step left out/);
  });

  it("answers with data if JSON is requested", async () => {
    const schema = {
      type: "object",
      properties: { total: { type: "integer" } },
      required: ["total"],
    };
    const format = { type: "json_schema", name: "t", schema, strict: true } as const;
    const { text } = await run(ask(COUNT, { tools: ALL, format }), playSubagent(COUNTED));
    assert.deepEqual(JSON.parse(text), { total: 154 });
  });
});

describe("a total of subagents' answers", () => {
  const partial: readonly (readonly [string, string, RegExp])[] = [
    [
      "failed",
      failed("Subagent execution failed: 401"),
      /- `test` failed: Subagent execution failed: 401\n/,
    ],
    [
      "did not finish",
      complete("There are 30 lines so far.", "incomplete"),
      /- `test` did not finish\. It says: There/,
    ],
    ["gave no number", complete("I cannot count."), /- `test`: I cannot count\.\n/],
    ["gave two numbers", complete("It has 3 or 4 lines, or 5 lines."), /- `test`: It has/],
    [
      "could count a part only",
      complete("The text files have 9 lines.\n\nOnly the first 40 of 60 files were read."),
      /Only the first/,
    ],
    [
      "was denied",
      "Error: Tool call subagent was denied: a rule refuses it.",
      /- `test` failed: Tool call subagent was denied/,
    ],
    ["gave an unreadable answer", "oops", /- `test` failed: oops\n/],
  ];
  for (const [what, envelope, told] of partial) {
    it(`is called partial if one ${what}`, async () => {
      const text = await totalOf({ test: envelope });
      assert.match(text, told);
      assert.match(text, /\n\nPartial total, without `test`: 120 \+ 4 = 124$/);
      assert.doesNotMatch(text, /^Total:/m);
    });
  }

  it("is refused if all of them failed", async () => {
    const broke = failed("It broke.");
    const { text, refusal } = await askForTotal({ src: broke, test: broke, docs: broke });
    assert.equal(text, "");
    assert.match(refusal, /^0 of 3 subagents finished:/);
    assert.match(refusal, /None of them gave a number to add up\.$/);
  });

  const numbers: readonly (readonly [string, string, string | undefined])[] = [
    ["I found 1,234 lines in 12 files.", "Count the lines of the files in src", "1234"],
    ["There are 2 Markdown files here.", "Count the Markdown files", "2"],
    ["No Go files in `src`.", "Count the Go files", "0"],
    ["2**64 = 18446744073709551616", "Compute 2**64", "18446744073709551616"],
    ["`v2` has -3.5 of it.", "Measure it", "-3.5"],
    ["Version 1.2.3", "Count the lines", undefined],
    ["The tool `bash_ripgrep` gave no result. 3 lines", "Count the lines", undefined],
  ];
  for (const [text, prompt, number] of numbers) {
    it(`reads ${number ?? "no number"} from "${text}"`, () => {
      assert.equal(findNumber(text, prompt), number);
    });
  }
});

describe("the tool that delegates", () => {
  it("is `parallel_subagent` if it is named or the only one", async () => {
    const results = [
      {
        label: "src",
        success: true,
        output: "7 files.",
        error: null,
        completion_status: "complete",
      },
      {
        label: "test",
        success: false,
        output: "",
        error: "It broke.",
        completion_status: "incomplete",
      },
    ];
    const plays = { parallel_subagent: () => JSON.stringify({ results }) };
    const order = "count the files in src and test, and sum them up";
    const named = ask(`use parallel_subagent to ${order}`, { tools: ALL });
    const only = ask(`ask two subagents to ${order}`, { tools: [READ, PARALLEL] });
    for (const request of [named, only]) {
      const { turns, text } = await run(request, plays);
      assert.deepEqual(turns.flat().map(argumentsOf), [
        {
          tasks: [
            { label: "src", task_prompt: "Count the files in src" },
            { label: "test", task_prompt: "Count the files in test" },
          ],
        },
      ]);
      assert.match(
        text,
        /^1 of 2 subagents finished:\n- `src`: 7 files\.\n- `test` failed: It broke\./,
      );
      assert.match(text, /Partial total, without `test`: 7$/);
    }
  });

  it("is `call_subagent` if it is named or the only one, with the available tools", async () => {
    const plays = { call_subagent: () => "There are 5 files." };
    for (const [words, tools] of [
      ["use call_subagent to count the files in src and test", ALL],
      ["ask two subagents to count the files in src and test", [READ, FIND, CALL]],
    ] as const) {
      const { turns, text } = await run(ask(words, { tools }), plays);
      const tool_subset = ["read", "bash_find"];
      assert.deepEqual(turns.flat().map(argumentsOf), [
        { prompt: "Count the files in src", tool_subset },
        { prompt: "Count the files in test", tool_subset },
      ]);
      assert.match(text, /^2 subagents answered:/);
    }
  });

  it("makes as many calls as requested if all prompts are the same", async () => {
    const plays = { call_subagent: () => "hello" };
    const { turns } = await run(ask("ask three subagents to say hello", { tools: [CALL] }), plays);
    assert.equal(turns.flat().length, 3);
  });

  const refusals: readonly (readonly [string, string, RegExp])[] = [
    [
      "the depth",
      failed(
        "Maximum subagent recursion depth (3) exceeded. Current depth: 3. Cannot spawn nested subagent.",
      ),
      /^0 of 1 subagent finished:\n- `read-a-md` failed: Maximum subagent recursion depth \(3\) exceeded/,
    ],
    [
      "a rule",
      "Error: Tool call subagent was denied: it is not granted.",
      /was denied: it is not granted\. I have not done it\.$/,
    ],
    ["nothing it understands", "", /failed: It gave no reason\.$/],
  ];
  for (const [what, output, told] of refusals) {
    it(`reports that ${what} refused`, async () => {
      const { text, refusal } = await run(ask("ask a subagent to read a.md", { tools: ALL }), {
        subagent: () => output,
      });
      assert.equal(text, "");
      assert.match(refusal, told);
    });
  }

  it("is reported as missing if it is not offered", async () => {
    const { refusal, calls } = await listen(ask(COUNT));
    assert.deepEqual(calls, []);
    assert.match(
      refusal,
      /I need the tool `subagent` to hand work to subagents, and it is not offered\./,
    );
    const named = await listen(ask("use call_subagent to read a.md", { tools: [READ, SUBAGENT] }));
    assert.match(named.refusal, /I need the tool `call_subagent`/);
  });

  it("starts no subagent if the number of parts and subagents differ", async () => {
    const { refusal, calls } = await listen(
      ask("ask three subagents to read a.md and b.md", { tools: ALL }),
    );
    assert.deepEqual(calls, []);
    assert.match(refusal, /^You name 3 subagents, .* I have started none\.$/);
    const one = await listen(
      ask("use 3 subagents to count the lines in each file in src", { tools: ALL }),
    );
    assert.match(one.refusal, /^You name 3 subagents and one task\. .* I have started none\.$/);
    const many = await listen(ask("ask 1000 subagents to say hello", { tools: ALL }));
    assert.match(many.refusal, /^I ask at most 100 subagents at once\./);
  });

  it("starts no subagent for work that it would not understand either", async () => {
    const { refusal, calls } = await listen(
      ask("spawn two subagents to review a.ts and b.ts", { tools: ALL }),
    );
    assert.deepEqual(calls, []);
    assert.match(refusal, /do not understand/);
  });

  const strangers = [
    "what is a subagent?",
    "--- notes.txt ---\nask a subagent to read a.md",
    "--- notes.txt ---\nx\n\n---\nmake it better\n\nask a subagent to read a.md",
    "make it better\n\nask a subagent to read a.md",
    "\n\nask a subagent to read a.md",
  ];
  const real = tool("subagent", { label: { type: "string" }, task_prompt: { type: "string" } });
  for (const text of strangers) {
    it(`is not called for ${JSON.stringify(text)}`, async () => {
      assert.deepEqual((await listen(ask(text, { tools: [READ, real] }))).calls, []);
    });
  }
});
