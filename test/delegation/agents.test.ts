import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { parseAgentFile } from "../../src/delegation/agents/agent-file.ts";
import { findAgentProblems } from "../../src/delegation/agents/agent-problems.ts";
import { describeAgents, withAgents } from "../../src/delegation/agents/agent-spec.ts";
import { toAgentTemplate } from "../../src/delegation/agents/agent-template.ts";
import { readAgentWish, toWish } from "../../src/delegation/agents/agent-wish.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { ChildWish } from "../../src/delegation/child.ts";

const front = (...lines: string[]): string => ["---", ...lines, "---", "Be brief."].join("\n");

const PLAIN = ["name: a", "description: Does it."];

const AGENT: AgentDefinition = {
  name: "reviewer",
  description: "Reviews.",
  path: "reviewer.md",
  model: undefined,
  tools: undefined,
  budget: {},
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Review.",
};

const CALL: ChildWish = {
  label: "one",
  prompt: "Look.",
  instructions: null,
  summaryPrompt: "Sum up.",
  tools: undefined,
  maxTurns: undefined,
};

describe("an agent file", () => {
  it("has a name, a description, a model, tools, a budget, a schema and instructions", async () => {
    const text = front(
      "name: reviewer",
      "description: >",
      "  Reviews a change",
      "  and says what is wrong.",
      "model: openai/gpt-5.1",
      "options: { seed: 7 }",
      "tools: [read, 'mcp__*', read]",
      "budget:",
      "  turns: 5",
      "  usd: 0.25",
      "  seconds: 90",
      "input_schema: { type: object }",
      "output_schema:",
      "  type: object",
    );
    assert.deepEqual(await parseAgentFile(`\ufeff${text}\n\nAnd kind.\n`, "x/reviewer.md"), {
      name: "reviewer",
      path: "x/reviewer.md",
      description: "Reviews a change and says what is wrong.",
      model: "openai/gpt-5.1",
      options: { seed: 7 },
      tools: ["read", "mcp__*"],
      budget: { turns: 5, usd: 0.25, seconds: 90 },
      inputSchema: { type: "object" },
      outputMode: undefined,
      outputSchema: { type: "object" },
      schemaFile: undefined,
      expose: [],
      instructions: "Be brief.\n\nAnd kind.",
    });
  });

  it("needs only a name, a description and instructions, with any line ends", async () => {
    const text = front(...PLAIN).replaceAll("\n", "\r\n");
    const { model, tools, budget, instructions } = await parseAgentFile(text, "a.md");
    assert.deepEqual([model, tools, budget, instructions], [undefined, undefined, {}, "Be brief."]);
  });

  const MISTAKES: readonly (readonly [string, string, RegExp])[] = [
    ["no front matter", "Be brief.", /^a\.md:1: An agent file begins with a line of `---`/],
    ["an open front matter", "---\nname: a\n", /^a\.md:1: The second line of `---` is missing/],
    ["an empty front matter", "---\n---\nx", /^a\.md:1: Between the lines/],
    ["broken YAML", front("name: a", "tools: [a"), /^a\.md:\d: /],
    ["a name twice", front(...PLAIN, "name: a"), /^a\.md:4: This name is used a second time here/],
    ["no name", front("description: x"), /^a\.md:1: The field `name` is missing/],
    ["no description", front("name: a"), /^a\.md:1: The field `description` is missing/],
    ["a bad name", front("name: A b"), /^a\.md:2: `name` must begin with a small letter/],
    ["a long name", front(`name: ${"a".repeat(65)}`), /^a\.md:2: `name` .* at most 64/],
    ["another name than its file", front("name: b"), /^a\.md:2: .* must be in `b\.md`, not/],
    ["an unknown field", front(...PLAIN, "modle: x/y"), /^a\.md:4: .*Did you mean `model`\?/],
    ["an empty description", front("name: a", "description: ' '"), /^a\.md:3: `description`/],
    ["a description of pages", front("name: a", `description: ${"x".repeat(1001)}`), /1001 char/],
    ["a model without a vendor", front(...PLAIN, "model: gpt"), /^a\.md:4: .*vendor\/model/],
    [
      "options that are not a map",
      front(...PLAIN, "options: 3"),
      /^a\.md:4: `options` must be a map/,
    ],
    ["options of ours", front(...PLAIN, "options: {n: 2}"), /^a\.md:4: `options` cannot set `n`/],
    [
      "tools that are not a list",
      front(...PLAIN, "tools: read"),
      /^a\.md:4: `tools` must be a list/,
    ],
    [
      "a budget that is not a map",
      front(...PLAIN, "budget: 3"),
      /^a\.md:4: `budget` must be a map/,
    ],
    [
      "an unknown budget",
      front(...PLAIN, "budget:", "  eur: 3"),
      /^a\.md:5: .* `eur`\. There are: /,
    ],
    ["too many turns", front(...PLAIN, "budget:", "  turns: 51"), /^a\.md:5: .* from 1 to 50/],
    ["half a token", front(...PLAIN, "budget: {tokens: 1.5}"), /`budget.tokens` is a whole number/],
    ["a negative sum", front(...PLAIN, "budget: {usd: -1}"), /`budget.usd` is a number from 0/],
    [
      "an input that is not an object",
      front(...PLAIN, "input_schema: { type: string }"),
      /^a\.md:4: `input_schema` must be/,
    ],
    ["an invalid schema", front(...PLAIN, "output_schema: 3"), /^a\.md:4: `output_schema` must be/],
    [
      "an unknown mode",
      front(...PLAIN, "output_mode: xml"),
      /^a\.md:4: `output_mode` must be one of/,
    ],
    [
      "a mode without its schema",
      front(...PLAIN, "output_mode: json_schema"),
      /^a\.md:4: .* needs an `output_schema`/,
    ],
    [
      "a mode that takes no schema",
      front(...PLAIN, "output_mode: json_object", "output_schema: {}"),
      /^a\.md:4: .* takes no `output_schema`/,
    ],
    ["no instructions", "---\nname: a\ndescription: x\n---\n \n", /There are no instructions/],
    ["an alias of nothing", front("name: a", "description: *x"), /^a\.md:\d: /],
  ];
  for (const [what, text, message] of MISTAKES) {
    it(`is refused for ${what}, in one message with the file and the line`, async () => {
      await assert.rejects(parseAgentFile(text, "a.md"), (thrown: Error) => {
        assert.match(thrown.message, message);
        assert.ok(!thrown.message.includes("\n"));
        return true;
      });
    });
  }

  it("is created from a template that is valid except for its description", async () => {
    const template = (name: string): string =>
      toAgentTemplate(name).replace(/^description: .*$/m, "description: Finds things.");
    await assert.rejects(parseAgentFile(toAgentTemplate("a"), "a.md"), /is still the template's/);
    const made = await parseAgentFile(template("my-agent"), "my-agent.md");
    const tools = ["read", "bash_find", "bash_ripgrep"];
    assert.deepEqual([made.name, made.tools], ["my-agent", tools]);
    const whole = template("b").replace(/^# (model|budget|output_schema)/gm, "$1");
    const all = await parseAgentFile(whole.replace(/^# {3}(\w+: )/gm, "  $1"), "b.md");
    assert.deepEqual([all.model, all.schemaFile], ["openai/gpt-5.1", "b.schema.json"]);
    assert.deepEqual(Object.keys(all.budget).sort(), [
      "children",
      "seconds",
      "tokens",
      "tool_calls",
      "turns",
      "usd",
    ]);
  });
});

const PARENT = ["read", "grep", "mcp__x__y", "subagent"];

describe("a call that names an agent", () => {
  it("gets the file's instructions, model, limits, time and schema", () => {
    const budget = { turns: 5, tokens: 9, usd: 1, seconds: 2, tool_calls: 3, children: 0 };
    const outputSchema = { type: "object" };
    const agent = { ...AGENT, model: "x/y", budget, outputSchema };
    assert.deepEqual(toWish(agent, CALL, PARENT), {
      ...CALL,
      agent: "reviewer",
      instructions: "Review.",
      model: "x/y",
      tools: undefined,
      maxTurns: 5,
      limits: { turns: 5, tokens: 9, usd: 1, tool_calls: 3, children: 0 },
      schema: outputSchema,
      isJson: false,
      summaryPrompt: null,
      timeoutMs: 2000,
    });
  });

  const TOOLS: readonly (readonly [string, readonly string[] | undefined, string[] | undefined])[] =
    [
      ["all of the parent's when the file names none", undefined, undefined],
      ["none when the list is empty on purpose", [], []],
      ["those that are named", ["grep"], ["grep"]],
      ["those that fit a pattern, of which none delegates", ["*"], ["read", "grep", "mcp__x__y"]],
      ["leave to delegate when it is written out", ["read", "subagent"], ["read", "subagent"]],
      ["what its parent has under another name", ["bash_read", "bash_ripgrep"], ["read", "grep"]],
      ["what fits one pattern of several", ["zzz*", "mcp__*"], ["mcp__x__y"]],
    ];
  for (const [what, tools, expected] of TOOLS) {
    it(`has ${what}`, () => {
      assert.deepEqual(toWish({ ...AGENT, tools }, CALL, PARENT).tools, expected);
    });
  }

  const REFUSED: readonly (readonly [
    string,
    Partial<AgentDefinition>,
    Partial<ChildWish>,
    string,
  ])[] = [
    [
      "tools that its parent lacks, by name",
      { tools: ["read", "shell", "write"] },
      {},
      "The agent `reviewer` needs `shell`, `write`, which its parent does not have",
    ],
    [
      "a list that comes to nothing",
      { tools: ["zzz*"] },
      {},
      "The agent `reviewer` would have no tools: none of its parent's tools matches `zzz*`",
    ],
    [
      "a tool of the call that the agent lacks",
      { tools: ["read"] },
      { tools: ["grep"] },
      "The agent `reviewer` has no tool `grep`",
    ],
    [
      "more turns than the agent has",
      { budget: { turns: 5 } },
      { maxTurns: 6 },
      "The agent `reviewer` has at most 5 turns, and max_turns asks for 6",
    ],
  ];
  for (const [what, definition, call, message] of REFUSED) {
    it(`is refused ${what}`, () => {
      assert.throws(() => toWish({ ...AGENT, ...definition }, { ...CALL, ...call }, PARENT), {
        code: "invalid_request",
        message,
      });
    });
  }

  it("may narrow the agent's tools and turns", () => {
    const agent = { ...AGENT, tools: ["read", "grep"], budget: { turns: 5 } };
    const wish = toWish(agent, { ...CALL, tools: ["grep"], maxTurns: 2 }, PARENT);
    assert.deepEqual([wish.tools, wish.maxTurns], [["grep"], 2]);
  });

  const parent = { agents: [{ ...AGENT, outputSchema: { type: "object" } }], tools: PARENT };
  const readRest = (rest: Json): ChildWish => {
    assert.ok(!JSON.stringify(rest).includes("agent"));
    return CALL;
  };

  it("is refused for an unknown name, with the known ones", () => {
    assert.throws(() => readAgentWish({ agent: "reviewr" }, readRest, parent), {
      message: "Unknown agent: reviewr. Did you mean `reviewer`? Agents: reviewer",
    });
    assert.throws(() => readAgentWish({ agent: 3 }, readRest, { ...parent, agents: [] }), {
      message: "Unknown agent: 3. Agents: none",
    });
  });

  it("must not ask for a summary of a document", () => {
    const input = { agent: "reviewer", summary_prompt: "Short." };
    assert.throws(() => readAgentWish(input, readRest, parent), /Leave `summary_prompt` out/);
    assert.equal(readAgentWish({ agent: "reviewer" }, readRest, parent).summaryPrompt, null);
  });

  it("is an ordinary call when it names none", () => {
    assert.equal(readAgentWish({ agent: null }, readRest, parent), CALL);
    assert.equal(readAgentWish({}, readRest, parent), CALL);
  });
});

describe("the description of agents for a model", () => {
  const spec = {
    type: "function",
    name: "subagent",
    description: "Delegates.",
    parameters: { type: "object", properties: { label: {} } },
  } as const;

  it("has a line for each agent, and the names as the only choices", () => {
    const agents = [AGENT, { ...AGENT, name: "other", description: "x".repeat(400) }];
    assert.match(describeAgents(agents), /^reviewer: Reviews\.\nother: x{299}…$/);
    const { description, parameters } = withAgents(spec, agents);
    assert.match(description ?? "", /^Delegates\.\n\nAgents for `agent`:\nreviewer: Reviews\.\n/);
    const { properties } = parameters as { properties: Record<string, { enum?: string[] }> };
    assert.deepEqual(properties["agent"]?.enum, ["reviewer", "other"]);
    assert.ok(properties["label"]);
  });

  it("is empty without agents", () => {
    assert.equal(describeAgents([]), "");
    assert.equal(withAgents(spec, []), spec);
  });
});

describe("the problems of an agent before it is called", () => {
  const checkModel = (model: string): void => {
    if (model !== "x/y") throw new Error(`There is no model ${model}.`);
  };
  const checkProvider = (provider: string): void => {
    if (provider !== "openai-chat") throw new Error(`Unknown provider \`${provider}\`.`);
  };
  const known = { tools: ["read", "grep"], usual: ["read", "grep"], checkModel, checkProvider };

  it("include an unknown API", async () => {
    const agent = { ...AGENT, model: "x/y", provider: "openai-chta" };
    const [problem = ""] = await findAgentProblems(agent, known);
    assert.match(problem, /^reviewer\.md: Unknown provider `openai-chta`/);
  });

  it("are none when its tools, model and schema are valid", async () => {
    const agent = { ...AGENT, tools: ["re*"], model: "x/y", outputSchema: { type: "object" } };
    assert.deepEqual(await findAgentProblems(agent, known), []);
  });

  it("are each unknown tool, the unknown model and the invalid schema", async () => {
    const agent = { ...AGENT, tools: ["raed", "q*"], model: "x/z", outputSchema: { type: "nope" } };
    const problems = await findAgentProblems(agent, known);
    assert.match(problems[0] ?? "", /^reviewer\.md: No tool fits `raed`\. Did you mean `read`\?$/);
    assert.match(problems[1] ?? "", /^reviewer\.md: No tool fits `q\*`\.$/);
    assert.match(problems[2] ?? "", /^reviewer\.md: There is no model x\/z\.$/);
    assert.match(problems[3] ?? "", /^reviewer\.md: The output schema is not a valid JSON Schema/);
    assert.equal(problems.length, 4);
  });
});
