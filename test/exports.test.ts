/** What the package promises: the names of its entries. A change here is a change for users. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as aiSdk from "../src/frameworks/ai-sdk/index.ts";
import * as agents from "../src/frameworks/openai-agents/index.ts";
import * as library from "../src/index.ts";
import { INNER_FIELDS, type InnerField } from "../src/runtime/run-request.ts";
import * as server from "../src/server/index.ts";
import * as testing from "../src/testing/index.ts";

/** The fields that the runtime sets itself. */
const INNER = [
  ...["model_reason", "response", "agent", "depth", "summary_prompt", "report_along", "told"],
  ...["on_throw", "place", "rules", "fell_back", "approval_wait_ms", "mcp_depth", "queue"],
] as const;

describe("the package's exports", () => {
  it("hide the fields of a run that are not for programs", () => {
    type Shown = Extract<keyof library.RunRequest, InnerField>;
    const isHidden: [Shown] extends [never] ? true : Shown = true;
    assert.ok(isHidden);
    assert.deepEqual([...INNER_FIELDS].sort(), [...INNER].sort());
  });

  it("has the library's names", () => {
    assert.deepEqual(Object.keys(library).sort(), [
      "ENDINGS",
      "FAILURES",
      "Failure",
      "ToolOutput",
      "VERSION",
      "createRuntime",
      "defineTool",
      "parseItem",
      "parseItems",
      "parseResponse",
      "parseResponseEvent",
      "parseRule",
      "toItems",
    ]);
  });

  it("has the names of the server and of its models for other frameworks", () => {
    assert.deepEqual(Object.keys(server), ["createServerApp"]);
    assert.deepEqual(Object.keys(aiSdk), ["createAiProvider"]);
    assert.deepEqual(Object.keys(agents).sort(), ["createAgentsModel", "createAgentsProvider"]);
  });

  it("has the testing kit's names", () => {
    const names = Object.keys(testing).sort();
    for (const name of [
      "FAULTS",
      "createManualClock",
      "createScriptedProvider",
      "reply",
      "script",
    ]) {
      assert.ok(names.includes(name), name);
    }
    assert.ok(names.includes("startChatUpstream") && names.includes("startResponsesUpstream"));
  });
});
