import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessagesRequest } from "../../../src/responses/messages/messages-request.ts";
import { toTools } from "../../../src/responses/messages/messages-tools.ts";

const OTHER = { isVendor: false, references: new Set<string>() };
const VENDOR = { isVendor: true, references: new Set<string>() };
const SCHEMA = { type: "object", properties: {} };
const own = (name: string, more: object = {}): object => ({ name, input_schema: SCHEMA, ...more });

function read(request: object, asked = OTHER) {
  return toTools({ messages: [], ...request } as unknown as MessagesRequest, asked);
}

const toolsOf = (request: object, asked = OTHER): unknown[] => [
  ...(read(request, asked).fields.tools ?? []),
];

describe("a tool of the vendor's, for a model of another vendor", () => {
  const kinds: readonly (readonly [object, object])[] = [
    [{ type: "web_search_20250305", name: "web_search" }, { type: "web_search" }],
    [
      {
        type: "web_search_20260101",
        allowed_domains: ["a.example"],
        user_location: { city: "Oslo" },
      },
      {
        type: "web_search",
        filters: { allowed_domains: ["a.example"] },
        user_location: { city: "Oslo" },
      },
    ],
    [
      { type: "web_search_20250305", blocked_domains: ["b.example"] },
      { type: "web_search", filters: { blocked_domains: ["b.example"] }, execution: "server" },
    ],
    [
      { type: "web_fetch_20250910", max_content_tokens: 500 },
      { type: "web_fetch", max_content_tokens: 500 },
    ],
    [
      { type: "code_execution_20250825", name: "code_execution" },
      { type: "code_interpreter", container: { type: "auto" } },
    ],
    [{ type: "tool_search_tool_regex_20251119", name: "find" }, { type: "tool_search" }],
  ];
  for (const [given, made] of kinds) {
    it(`is a kind of this server's: ${JSON.stringify(given)}`, () =>
      assert.deepEqual(toolsOf({ tools: [given] }), [made]));
  }

  for (const [type, name] of [
    ["bash_20250124", "bash"],
    ["text_editor_20250124", "str_replace_editor"],
    ["text_editor_20250728", "str_replace_based_edit_tool"],
    ["computer_20250124", "computer"],
    ["memory_20250818", "memory"],
  ]) {
    it(`is a function with the published name: ${type}`, () => {
      const [made] = toolsOf({ tools: [{ type }] }) as { type: string; name: string }[];
      assert.deepEqual([made?.type, made?.name], ["function", name]);
    });
  }

  it("is left out and named if only the vendor has it", () => {
    const { fields, ignored } = read({ tools: [{ type: "advisor_20260101" }, own("f")] });
    assert.deepEqual(ignored, ["tools (advisor_20260101)"]);
    assert.equal(fields.tools?.length, 1);
  });

  it("goes unchanged to the vendor's own models, without its mark for the cache", () => {
    const tool = { type: "web_search_20250305", name: "web_search", max_uses: 3 };
    const marked = { ...tool, cache_control: { type: "ephemeral" } };
    assert.deepEqual(toolsOf({ tools: [marked] }, VENDOR), [tool]);
    assert.equal(read({ tools: [marked] }, VENDOR).fields.max_tool_calls, undefined);
  });
});

describe("a tool of the client's", () => {
  it("is a function that is strict only if it says so", () => {
    assert.deepEqual(
      toolsOf({ tools: [own("f", { description: "Does." }), own("g", { strict: true })] }),
      [
        { type: "function", name: "f", description: "Does.", parameters: SCHEMA, strict: false },
        { type: "function", name: "g", parameters: SCHEMA, strict: true },
      ],
    );
  });

  for (const field of ["name", "input_schema"]) {
    it(`is refused without \`${field}\`, by its place`, () => {
      const tools = [own("f"), { ...own("g"), [field]: undefined }];
      assert.throws(() => read({ tools }), {
        code: "invalid_request",
        param: `tools[1].${field}`,
      });
    });
  }

  const late = own("late", { defer_loading: true });
  const search = { type: "tool_search_tool_bm25_20251119", name: "find" };
  const found = { ...OTHER, references: new Set(["late"]) };
  const offered: readonly (readonly [string, object, typeof OTHER, string[]])[] = [
    ["is not offered before it is found", { tools: [late] }, OTHER, []],
    ["is offered once the conversation has found it", { tools: [late] }, found, ["late"]],
    [
      "is offered if the request forces it",
      { tools: [late], tool_choice: { type: "tool", name: "late" } },
      OTHER,
      ["late"],
    ],
    ["is offered to the search that may find it", { tools: [late, search] }, OTHER, ["late"]],
    ["is offered to the vendor, which searches itself", { tools: [late] }, VENDOR, ["late"]],
  ];
  for (const [what, request, asked, names] of offered) {
    it(`that loads late ${what}`, () => {
      const made = toolsOf(request, asked) as { name?: string }[];
      assert.deepEqual(
        made.flatMap(({ name }) => (name ? [name] : [])),
        names,
      );
    });
  }
});

describe("the choice among tools", () => {
  const tools = [own("f"), { type: "web_search_20250305", name: "web_search" }];
  const choices: readonly (readonly [object, object])[] = [
    [{ type: "auto" }, {}],
    [{ type: "any" }, { tool_choice: "required" }],
    [{ type: "none" }, { tool_choice: "none" }],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", name: "f" } }],
    [{ type: "tool", name: "web_search" }, { tool_choice: { type: "web_search" } }],
    [{ type: "tool", name: "nope" }, { tool_choice: { type: "function", name: "nope" } }],
    [{ type: "auto", disable_parallel_tool_use: true }, { parallel_tool_calls: false }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
  ];
  for (const [tool_choice, fields] of choices) {
    it(`is read: ${JSON.stringify(tool_choice)}`, () => {
      const { tools: _, ...rest } = read({ tools, tool_choice }).fields;
      assert.deepEqual(rest, fields);
    });
  }

  it("is nothing without tools", () => {
    assert.deepEqual(read({ tool_choice: { type: "any" } }), { fields: {}, ignored: [] });
  });
});

describe("the limits of hosted tools", () => {
  const search = { type: "web_search_20250305" };
  it("are one limit of all their calls together, if each has one", () => {
    const tools = [
      { ...search, max_uses: 3 },
      { type: "web_fetch_20250910", max_uses: 2 },
    ];
    assert.equal(read({ tools }).fields.max_tool_calls, 5);
    assert.deepEqual(read({ tools }).ignored, []);
  });

  it("are named as left out if one of them has none", () => {
    const tools = [{ ...search, max_uses: 3 }, { type: "web_fetch_20250910" }];
    const { fields, ignored } = read({ tools });
    assert.equal(fields.max_tool_calls, undefined);
    assert.deepEqual(ignored, ["tools[0].max_uses"]);
  });
});
