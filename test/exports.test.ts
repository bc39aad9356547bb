/** What the package promises: the names of its entries. A change here is a change for users. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as library from "../src/index.ts";
import * as testing from "../src/testing/index.ts";

describe("the package's exports", () => {
  it("has the library's names", () => {
    assert.deepEqual(Object.keys(library).sort(), [
      "ENDINGS",
      "FAILURES",
      "Failure",
      "ToolOutput",
      "VERSION",
      "createEventWriter",
      "createRuntime",
      "defineTool",
      "parseCreateResponse",
      "parseItem",
      "parseItems",
      "parseResponse",
      "parseResponseEvent",
      "parseRule",
      "toItems",
    ]);
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
