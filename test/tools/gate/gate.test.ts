import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import { redactExactly } from "../../../src/base/redact.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { PATIENCE_MS, patience } from "../../patience.ts";
import { toGateParts } from "../workspace-folder.ts";
import { asking, type CallParts, call, define, folder, rule, TOOLS } from "./gate-fixture.ts";

describe("a call at the gate", () => {
  it("runs, and its text is returned unchanged", async () => {
    const { output, failed, thrown } = await call("echo", '{"x": 2}');
    assert.deepEqual(
      { output, failed, thrown },
      { output: "x is 2", failed: false, thrown: false },
    );
  });

  it("returns anything but text as JSON", async () => {
    assert.equal((await call("table", "{}")).output, '{"rows":[1,2]}');
  });

  it("returns pictures as parts after the text", async () => {
    assert.deepEqual((await call("picture", "{}")).output, [
      { type: "input_text", text: "a plot" },
      { type: "input_image", image_url: "data:image/png;base64,AA" },
    ]);
  });

  it("takes an empty text for no arguments", async () => {
    assert.equal((await call("echo", " ")).output, "x is undefined");
  });

  const refusals: readonly [name: string, tool: string, text: string, output: RegExp][] = [
    [
      "arguments that do not parse",
      "echo",
      '{"x": 2',
      /^Error: The arguments of `echo` are not JSON\.$/,
    ],
    [
      "arguments that do not fit",
      "echo",
      '{"x": "2"}',
      /^Error: The arguments of `echo` do not fit: x: .+\.$/,
    ],
    [
      "arguments that are not an object",
      "echo",
      "null",
      /^Error: The arguments of `echo` do not fit: arguments: .+\.$/,
    ],
    [
      "a tool that is not there",
      "ecko",
      "{}",
      /^Error: Unknown tool `ecko`\. Did you mean `echo`\? Tools: echo, table,/,
    ],
    ["a tool unlike any", "delete_everything", "{}", /`delete_everything`\. Tools: echo,/],
    ["a name out of every object", "constructor", "{}", /Unknown tool `constructor`\./],
    ["a tool that says what is wrong", "say_no", "{}", /^Error: File not found: a\.txt$/],
  ];
  for (const [name, tool, text, output] of refusals) {
    it(`reports to the model: ${name}`, async () => {
      const result = await call(tool, text);
      assert.match(String(result.output), output);
      assert.deepEqual([result.failed, result.thrown], [true, false]);
    });
  }

  for (const [what, effect, code, isThrown] of [
    ["a tool that could not do it", "external", "tool_failed", true],
    ["a tool that says what was wrong with its call", "external", "not_found", false],
    ["a subagent that failed", "delegate", "tool_failed", false],
  ] as const) {
    it(`${isThrown ? "marks" : "does not mark"} ${what} as one that threw`, async () => {
      const run = (): Promise<never> => Promise.reject(new Failure(code, "No."));
      const tools = [define("mine", run, { effect })];
      const policy = { approve: "auto", rules: [] } as const;
      const result = await call("mine", "{}", { tools, policy });
      assert.deepEqual([result.output, result.thrown], ["Error: No.", isThrown]);
    });
  }

  it("distinguishes a tool that failed from one that reports a wrong call", async () => {
    const { output, failed, thrown } = await call("break", "{}");
    assert.deepEqual(
      { output, failed, thrown },
      { output: "Error: x is not a function", failed: true, thrown: true },
    );
  });

  it("reports that there are no tools if there are none", async () => {
    const { output } = await call("a", "", { tools: [] });
    assert.equal(output, "Error: Unknown tool `a`. Tools: none.");
  });

  it("starts nothing in a cancelled run", async () => {
    const reason = new Failure("timeout", "too late");
    const signal = AbortSignal.abort(reason);
    await assert.rejects(call("echo", "{}", { signal }), reason);
    await assert.rejects(call("unknown", "{}", { signal }), reason);
  });

  it("rejects if the run is cancelled while a tool works, whatever the tool throws", async () => {
    const control = new AbortController();
    const tool = define("slow", async () => {
      control.abort();
      throw new Error("connection closed");
    });
    const cancelled = call("slow", "{}", { tools: [tool], signal: control.signal });
    await assert.rejects(cancelled, { code: "cancelled" });
  });

  it("knows which calls change nothing", async () => {
    const gate = createGate(await toGateParts(folder.root, TOOLS));
    assert.deepEqual(
      ["echo", "write", "unknown"].map((name) => gate.isReadOnly(name)),
      [true, false, true],
    );
  });

  it("is abandoned at its time limit, even if the tool ignores its signal", async () => {
    const tool = define("deaf", () => new Promise(() => {}), { timeoutMs: 5 });
    const { output, failed } = await call("deaf", "{}", { tools: [tool] });
    assert.deepEqual([output, failed], ["Error: `deaf` took longer than 0 s.", true]);
  });

  it("a result over the output limit is truncated, and says so", async () => {
    const tool = define("long", async () => "abcdefghij".repeat(10));
    const limits = { timeoutMs: PATIENCE_MS, outputChars: 20, parallelCalls: 1 };
    const { output } = await call("long", "{}", { tools: [tool], limits });
    assert.equal(output, "abcdefghijabcdefghij\n[Output truncated: 20 of 100 characters]");
  });

  it("is not started if the run is cancelled while its decision is recorded", async () => {
    const control = new AbortController();
    let hasRun = false;
    const tool = define("late", async () => {
      hasRun = true;
      return "";
    });
    const gate = createGate(await toGateParts(folder.root, [tool]));
    const called = gate.call(
      { name: "late", arguments: "{}" },
      {
        signal: control.signal,
        idempotencyKey: "1",
        take: () => {},
        decided: async () => control.abort(),
      },
    );
    await assert.rejects(called, { code: "cancelled" });
    assert.ok(!hasRun);
  });

  it("returns no key, also at the limit, in JSON and in errors", async () => {
    const key = 'sk-"0123456789\\abcdef';
    const redact = redactExactly([key]);
    const limits = { timeoutMs: PATIENCE_MS, outputChars: 12, parallelCalls: 1 };
    const tools = [
      define("cut", async () => `12345678${key}`),
      define("json", async () => ({ found: key })),
      define("fail", async () => {
        throw new Failure("tool_failed", `no ${key}`);
      }),
    ];
    const outputs = [
      (await call("cut", "{}", { tools, redact, limits })).output,
      (await call("json", "{}", { tools, redact })).output,
      (await call("fail", "{}", { tools, redact })).output,
    ];
    assert.ok(!JSON.stringify(outputs).includes("0123"), JSON.stringify(outputs));
  });

  it("returns an empty text for no result", async () => {
    const tool = define("nothing", async () => undefined as unknown as Json);
    assert.equal((await call("nothing", "{}", { tools: [tool] })).output, "");
  });

  it("shortens an endless name", async () => {
    const { output, decisions } = await call("x".repeat(300_000), "{}");
    assert.ok(String(output).length < 1000 && (decisions[0]?.reason.length ?? 0) < 1000);
  });

  it("follows no redirect away from the host for which it was allowed", async () => {
    const seen: boolean[] = [];
    const tool: Tool = {
      ...define("fetch", async () => "", {
        effect: "network",
        targets: () => ({ hosts: ["docs.example.com"] }),
      }),
      run: async (_, { allowsHost }) => {
        seen.push(...["docs.example.com", "evil.test"].map(allowsHost));
        return "";
      },
    };
    const rules = [rule("allow", "host(docs.example.com)")];
    await call("fetch", "{}", { tools: [tool], policy: { approve: "deny", rules } });
    await call("fetch", "{}", { tools: [tool] });
    assert.deepEqual(seen, [true, false, true, true]);
  });

  it("returns no key of the environment", async () => {
    const redact = redactExactly(["sk-0123456789abcdef0123"]);
    assert.equal((await call("leak", "{}", { redact })).output, "the key is [redacted]");
  });
});

describe("the decision about a call", () => {
  const [deny, allow] = ["deny", "allow"] as const;
  const noTerminal = { policy: { approve: "ask", rules: [] } } as const;
  const writeIt = '{"path":"a.txt"}';
  const rows: readonly [
    name: string,
    call: readonly [tool: string, text: string, parts?: CallParts],
    expected: readonly [verdict: string, by: string, rule?: string],
  ][] = [
    ["an unknown tool is refused", ["nope", "{}"], [deny, "tool"]],
    ["arguments that do not fit are refused", ["echo", "[]"], [deny, "arguments"]],
    ["reading needs no question", ["look", writeIt, noTerminal], [allow, "effect"]],
    ["a function of the program needs no question", ["echo", "{}", noTerminal], [allow, "effect"]],
    ["without a terminal, asking is refusing", ["write", writeIt, noTerminal], [deny, "nobody"]],
    ["`auto` lets it through", ["write", writeIt], [allow, "mode"]],
    [
      "`deny` refuses it",
      ["write", writeIt, { policy: { approve: "deny", rules: [] } }],
      [deny, "mode"],
    ],
    ["a person's yes lets it through", ["write", writeIt, asking("yes")], [allow, "person"]],
    ["a person's no refuses it", ["write", writeIt, asking("no")], [deny, "person"]],
    [
      "a rule allows it",
      ["write", writeIt, { policy: { approve: "ask", rules: [rule("allow", "write(*.txt)")] } }],
      [allow, "rule", "allow write(*.txt)"],
    ],
    [
      "deny beats allow",
      [
        "write",
        writeIt,
        {
          policy: { approve: "auto", rules: [rule("allow", "write"), rule("deny", "path(a.txt)")] },
        },
      ],
      [deny, "rule", "deny path(a.txt)"],
    ],
    [
      "ask beats allow, also in `auto`",
      [
        "write",
        writeIt,
        { policy: { approve: "auto", rules: [rule("allow", "write"), rule("ask", "write")] } },
      ],
      [deny, "nobody", "ask write"],
    ],
    [
      "a file that may hold keys is asked about",
      ["look", '{"path":".env"}', noTerminal],
      [deny, "nobody"],
    ],
    [
      "what the grant leaves out is refused",
      ["look", '{"path":"secrets/b.txt"}', { grant: [{ reads: ["*.txt"] }] }],
      [deny, "grant"],
    ],
    [
      "a tool that is not granted is refused",
      ["write", writeIt, { grant: [{ tools: ["look"] }] }],
      [deny, "grant"],
    ],
    ["a path out of the workspace is refused", ["look", '{"path":"../x"}'], [deny, "guard"]],
    [
      "a call that the budget does not have is refused",
      [
        "echo",
        "{}",
        {
          take: () => {
            throw new Failure("budget_exceeded", "The budget of 2 tool calls is used up.");
          },
        },
      ],
      [deny, "budget"],
    ],
  ];
  for (const [name, [tool, text, parts], [verdict, by, wanted = null]] of rows) {
    it(name, async () => {
      const { decisions, failed, output } = await call(tool, text, parts);
      assert.deepEqual(
        decisions.map((one) => [one.verdict, one.by, one.rule]),
        [[verdict, by, wanted]],
      );
      assert.equal(failed, verdict === deny, String(output));
    });
  }

  it("is recorded a second time if the tool's own guard refuses", async () => {
    const { decisions } = await call("guarded", "{}");
    assert.deepEqual(
      decisions.map(({ verdict, by }) => [verdict, by]),
      [
        ["allow", "effect"],
        ["deny", "guard"],
      ],
    );
    assert.match(decisions[1]?.reason ?? "", /loopback/);
  });

  it("is recorded before the call runs", async () => {
    const order: string[] = [];
    const tool = define("late", async () => {
      order.push("run");
      return "";
    });
    const gate = createGate(await toGateParts(folder.root, [tool]));
    await gate.call(
      { name: "late", arguments: "{}" },
      {
        signal: patience(),
        idempotencyKey: "1",
        take: () => {},
        decided: async () => {
          await Promise.resolve();
          order.push("decided");
        },
      },
    );
    assert.deepEqual(order, ["decided", "run"]);
  });

  it("names the rule and its source", async () => {
    const policy = { approve: "auto", rules: [rule("deny", "write")] } as const;
    const { output, decisions } = await call("write", "{}", { policy });
    assert.equal(
      output,
      "Error: Tool call write was denied: the rule `deny write` (the test) refuses it.",
    );
    assert.equal(decisions[0]?.source, "the test");
  });
});
