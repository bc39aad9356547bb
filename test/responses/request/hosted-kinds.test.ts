import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tool } from "../../../src/protocol/tools.ts";
import {
  checkKinds,
  isForVendor,
  kindOf,
  mayUse,
} from "../../../src/responses/request/hosted-kinds.ts";

const tool = (fields: object): Tool => fields as Tool;
const never = (): boolean => false;

describe("kindOf", () => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    web_search: [
      ...["web_search", "web_search_2025_08_26", "web_search_preview", "web_search_20250305"],
      ...["google_search", "googleSearch", "browser_search", "nova_grounding"],
    ],
    web_fetch: ["web_fetch", "web_fetch_20250910", "url_context", "urlContext"],
    code_interpreter: [
      ...["code_interpreter", "code_execution", "code_execution_20250825"],
      ...["codeExecution", "nova_code_interpreter"],
    ],
    computer: ["computer", "computer_use", "computer_use_preview", "computer_20250124"],
    tool_search: ["tool_search", "tool_search_tool_regex_20251119"],
    bash: ["bash", "bash_20250124"],
    text_editor: ["text_editor_20250728"],
  };
  for (const [kind, types] of Object.entries(spellings)) {
    for (const type of types)
      it(`reads \`${type}\` as ${kind}`, () => assert.equal(kindOf({ type }), kind));
  }

  for (const type of ["web_searches", "x_search", "web_search_2025", "constructor", ""]) {
    it(`leaves \`${type}\` as it is`, () => assert.equal(kindOf({ type }), type));
  }
});

describe("tools that a key may use", () => {
  const FREE: readonly object[] = [
    { type: "function", name: "f" },
    { type: "custom", name: "c" },
    { type: "namespace", name: "n", tools: [] },
    { type: "local_shell" },
    { type: "apply_patch" },
    { type: "computer_use_preview" },
    { type: "memory_20250818" },
    { type: "tool_search" },
    { type: "shell" },
    { type: "shell", environment: { type: "local" } },
    { type: "mcp", server_label: "here" },
  ];
  const RESTRICTED: readonly object[] = [
    { type: "web_search" },
    { type: "file_search", vector_store_ids: [] },
    { type: "shell", environment: { type: "container_auto" } },
    { type: "mcp", server_label: "far", server_url: "https://mcp.example.org" },
    { type: "mcp", server_label: "far", connector_id: "connector_1" },
    { type: "programmatic_tool_calling" },
    { type: "a_vendors_own" },
  ];

  for (const one of FREE) {
    it(`are those of the client, without a list: ${JSON.stringify(one)}`, () =>
      assert.ok(mayUse([], tool(one), never)));
  }

  for (const one of RESTRICTED) {
    it(`are hosted only with the kind on the list: ${JSON.stringify(one)}`, () => {
      assert.ok(!mayUse([], tool(one), never));
      assert.ok(mayUse([kindOf(tool(one))], tool(one), never));
      assert.ok(mayUse(["*"], tool(one), never));
    });
  }

  it("need the list for a client's kind that this server runs", () => {
    for (const type of ["apply_patch", "shell", "computer"]) {
      assert.ok(!mayUse([], tool({ type }), (kind) => kind === type), type);
    }
  });

  it("are named, with their place, when the key may not use one", () => {
    const tools = [tool({ type: "function", name: "f" }), tool({ type: "google_search" })];
    const caller = { kinds: ["file_search"] } as unknown as Parameters<typeof checkKinds>[1];
    assert.throws(() => checkKinds(tools, caller, never), {
      code: "forbidden",
      param: "tools[1]",
      message: /`web_search`/,
    });
  });
});

describe("isForVendor", () => {
  it("is false for kinds of the client, and true for hosted and unknown ones", () => {
    for (const type of [
      "function",
      "custom",
      "namespace",
      "computer",
      "tool_search",
      "bash_20250124",
    ]) {
      assert.ok(!isForVendor(tool({ type })), type);
    }
    for (const type of ["web_search", "shell", "mcp", "x_search", "constructor"]) {
      assert.ok(isForVendor(tool({ type })), type);
    }
  });
});
