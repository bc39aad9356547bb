import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCreateResponse } from "../../../src/responses/chat/parse-chat.ts";

const messages = [{ role: "user", content: "Hi" }];
const parameters = { type: "object", properties: {} };

describe("tools of a chat request", () => {
  const cases: readonly [name: string, given: object, tools: readonly object[]][] = [
    [
      "a function, which is not strict unless it says so",
      { tools: [{ type: "function", function: { name: "f", description: "F", parameters } }] },
      [{ type: "function", name: "f", description: "F", parameters, strict: false }],
    ],
    [
      "a strict function",
      { tools: [{ type: "function", function: { name: "f", strict: true } }] },
      [{ type: "function", name: "f", strict: true }],
    ],
    [
      "a flat function",
      { tools: [{ type: "function", name: "f", parameters }] },
      [{ type: "function", name: "f", parameters, strict: false }],
    ],
    [
      "a custom tool",
      { tools: [{ type: "custom", custom: { name: "c", description: "C" } }] },
      [{ type: "custom", name: "c", description: "C" }],
    ],
    [
      "a custom tool of text",
      { tools: [{ type: "custom", custom: { name: "c", format: { type: "text" } } }] },
      [{ type: "custom", name: "c", format: { type: "text" } }],
    ],
    [
      "a custom tool with a grammar",
      {
        tools: [
          {
            type: "custom",
            custom: {
              name: "c",
              format: { type: "grammar", grammar: { syntax: "lark", definition: "s: X" } },
            },
          },
        ],
      },
      [
        {
          type: "custom",
          name: "c",
          format: { type: "grammar", syntax: "lark", definition: "s: X" },
        },
      ],
    ],
    [
      "kinds that chat does not have",
      { tools: [{ type: "web_search" }, { type: "acme:oven", heat: 1 }] },
      [{ type: "web_search" }, { type: "acme:oven", heat: 1 }],
    ],
    [
      "functions, tools and a search together",
      {
        tools: [{ type: "function", function: { name: "f" } }],
        functions: [{ name: "g", parameters }],
        web_search_options: {},
      },
      [
        { type: "function", name: "f", strict: false },
        { type: "function", name: "g", parameters, strict: false },
        { type: "web_search" },
      ],
    ],
  ];
  for (const [name, given, tools] of cases) {
    it(`are offered: ${name}`, () => {
      assert.deepEqual(toCreateResponse({ messages, ...given }).request.tools, tools);
    });
  }

  it("are called one at a time in the older form, which has room for one call", () => {
    const { request } = toCreateResponse({ messages, functions: [{ name: "f" }] });
    assert.equal(request.parallel_tool_calls, false);
  });
});

describe("the choice among the tools of a chat request", () => {
  const named = { type: "function", name: "f" };
  const nested = { type: "function", function: { name: "f" } };
  const cases: readonly [given: object, choice: unknown][] = [
    [{ tool_choice: "none" }, "none"],
    [{ tool_choice: "auto" }, "auto"],
    [{ tool_choice: "required" }, "required"],
    [{ tool_choice: nested }, named],
    [{ tool_choice: named }, named],
    [{ tool_choice: { type: "custom", custom: { name: "c" } } }, { type: "custom", name: "c" }],
    [
      {
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: {
            mode: "required",
            tools: [
              nested,
              named,
              { type: "custom", custom: { name: "c" } },
              { type: "web_search" },
            ],
          },
        },
      },
      {
        type: "allowed_tools",
        mode: "required",
        tools: [named, named, { type: "custom", name: "c" }, { type: "web_search" }],
      },
    ],
    [
      { tool_choice: { type: "allowed_tools", mode: "auto", tools: [named] } },
      { type: "allowed_tools", mode: "auto", tools: [named] },
    ],
    [{ tool_choice: { type: "web_search" } }, { type: "web_search" }],
    [{ function_call: "none" }, "none"],
    [{ function_call: "auto" }, "auto"],
    [{ function_call: { name: "f" } }, named],
    [{ tool_choice: "required", function_call: "none" }, "required"],
    [{ tool_choice: null }, undefined],
    [{}, undefined],
  ];
  for (const [given, choice] of cases) {
    it(`is understood: ${JSON.stringify(given)}`, () => {
      assert.deepEqual(toCreateResponse({ messages, ...given }).request.tool_choice, choice);
    });
  }
});
