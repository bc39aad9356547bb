/** A vendor's own fields, on their way from an agent file or a parent to a child. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { toWish } from "../../src/delegation/agents/agent-wish.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { ChildWish } from "../../src/delegation/child.ts";
import { toChildTask } from "../../src/delegation/child-task.ts";
import { toPayload } from "../../src/delegation/executors/child-payload.ts";
import { parsePayload } from "../../src/delegation/runner/payload.ts";
import { PAYLOAD_FIELDS } from "../../src/delegation/runner/payload-fields.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import { SIGNED_FIELDS } from "../../src/delegation/signed-grant.ts";
import { TASK } from "./child-process-fixture.ts";

const CALL: ChildWish = {
  label: "one",
  prompt: "Look.",
  instructions: null,
  summaryPrompt: null,
  tools: undefined,
  maxTurns: undefined,
};

const AGENT: AgentDefinition = {
  name: "a",
  description: "A.",
  path: "a.md",
  model: undefined,
  tools: undefined,
  budget: {},
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Be.",
};

const BOUNDS = { tools: [], maxTurns: 5, limits: NO_LIMITS, summary: "auto" } as const;
const PARENT = { ...TASK, options: { seed: 7, provider: { order: ["x"] } } };

const optionsOf = (agent: Partial<AgentDefinition>): JsonObject | null =>
  toChildTask(PARENT, toWish({ ...AGENT, ...agent }, CALL, []), BOUNDS).options;

describe("the options of a child", () => {
  it("are its parent's if it keeps the model, and those of its file override them", () => {
    assert.deepEqual(optionsOf({}), PARENT.options);
    const options = { seed: 1, provider: { allow_fallbacks: false } };
    assert.deepEqual(optionsOf({ options }), {
      seed: 1,
      provider: { order: ["x"], allow_fallbacks: false },
    });
    assert.deepEqual(optionsOf({ options, model: PARENT.model }), optionsOf({ options }));
  });

  it("are only those of its file if it has another model", () => {
    assert.equal(optionsOf({ model: "custom/other" }), null);
    const options = { top_k: 3 };
    assert.deepEqual(optionsOf({ model: "custom/other", options }), options);
  });

  it("are sent to a process of its own, signed", () => {
    const order = { key: "one", callKey: "c", task: PARENT, timeoutMs: 1000 };
    const parts = {
      parent: { id: "run_1", path: "/root" },
      storePath: undefined,
      safety: {},
      settings: DELEGATION,
    };
    const account = { close() {} } as never;
    const signing = { key: new Uint8Array(32), nowMs: 0 };
    const payload = toPayload({ ...order, account }, parts, signing);
    assert.deepEqual(parsePayload(payload).options, PARENT.options);
    const unknown = Object.keys(payload).filter((name) => !(name in PAYLOAD_FIELDS));
    assert.deepEqual(unknown, [], "each field is in the help and in docs/delegation.md");
    assert.equal(parsePayload(payload).fell_back, false);
    const fallen = { ...order, task: { ...PARENT, fell_back: true }, account };
    assert.equal(parsePayload(toPayload(fallen, parts, signing)).fell_back, true);
    assert.ok(SIGNED_FIELDS.includes("options"));
    assert.throws(
      () => parsePayload({ ...payload, options: { n: 2 } }),
      /`options` cannot set `n`/,
    );
  });
});
