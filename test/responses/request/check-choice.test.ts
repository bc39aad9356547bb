/** Which `tool_choice` is refused because it names no offered tool. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import { checkChoice } from "../../../src/responses/request/check-choice.ts";

const TOOLS = [
  { type: "function", name: "get_weather" },
  { type: "custom", name: "apply" },
  { type: "web_search_preview" },
  { type: "computer_use_preview", display_width: 1, display_height: 1, environment: "linux" },
  { type: "mcp", server_label: "files", server_url: "https://a.test/", allowed_tools: ["read"] },
  { type: "mcp", server_label: "mail", server_url: "https://b.test/" },
  { type: "namespace", name: "maps", tools: [{ type: "function", name: "find" }] },
  { type: "acme_thing" },
] as unknown as readonly Tool[];

const allow = (mode: string, ...tools: object[]): ToolChoice =>
  ({ type: "allowed_tools", mode, tools }) as unknown as ToolChoice;

const OFFERED = [
  "auto",
  "none",
  "required",
  { type: "function", name: "get_weather" },
  { type: "function", name: "find" },
  { type: "function", name: "find", namespace: "maps" },
  { type: "namespace", name: "maps" },
  { type: "custom", name: "apply" },
  { type: "web_search" },
  { type: "computer_use" },
  { type: "mcp", server_label: "files", name: "read" },
  { type: "mcp", server_label: "mail", name: "whatever" },
  { type: "mcp", server_label: "mail" },
  { type: "acme_thing" },
  allow("required", { type: "function", name: "get_weather" }, { type: "web_search" }),
  allow("auto", { type: "mcp", server_label: "files" }),
] as unknown as readonly ToolChoice[];

const MISSING = [
  [{ type: "function", name: "nope" }, "nope"],
  [{ type: "function", name: "apply" }, "apply"],
  [{ type: "function", name: "find", namespace: "mail" }, "find"],
  [{ type: "custom", name: "get_weather" }, "get_weather"],
  [{ type: "mcp", server_label: "nope" }, "nope"],
  [{ type: "mcp", server_label: "files", name: "write" }, "files/write"],
  [{ type: "file_search" }, "file_search"],
  [{ type: "acme_other" }, "acme_other"],
  [allow("required", { type: "function", name: "nope" }), "nope"],
  [allow("auto", { type: "function", name: "get_weather" }, { type: "shell" }), "shell"],
] as unknown as readonly (readonly [ToolChoice, string])[];

describe("`tool_choice`", () => {
  for (const choice of OFFERED) {
    it(`is taken where its tool is offered: ${JSON.stringify(choice)}`, () => {
      assert.doesNotThrow(() => checkChoice(choice, TOOLS));
    });
  }

  for (const [choice, name] of MISSING) {
    it(`is refused where its tool is not offered: ${JSON.stringify(choice)}`, () => {
      assert.throws(() => checkChoice(choice, TOOLS), {
        code: "invalid_request",
        param: "tool_choice",
        message: `\`tool_choice\` names \`${name}\`, which is not among the \`tools\` of the request.`,
      });
    });
  }

  it("cannot require a call where no tool is offered", () => {
    for (const choice of ["required", allow("auto")] as const) {
      assert.throws(() => checkChoice(choice, []), { param: "tool_choice" }, String(choice));
    }
    for (const choice of ["auto", "none", undefined, null] as const) checkChoice(choice, []);
  });
});
