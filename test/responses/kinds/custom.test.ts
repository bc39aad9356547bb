import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { CustomTool } from "../../../src/protocol/tools.ts";
import { CUSTOM_KIND, toCustomOffer } from "../../../src/responses/kinds/custom.ts";
import { reply } from "../../../src/testing/reply.ts";
import { callsIn, runKinds, typesOf } from "./kind-run.ts";

const SQL: CustomTool = { type: "custom", name: "sql", description: "Runs SQL." };
const call = (text: string) => ({
  type: "function_call" as const,
  call_id: "c",
  name: "sql",
  arguments: text,
});

describe("a free-text tool", () => {
  it("is handed to the client as text, streamed as the model writes it", async () => {
    const input = 'select "a"\nfrom t';
    const replies = [reply.calls([{ name: "sql", arguments: JSON.stringify({ input }) }])];
    const run = await runKinds({ kinds: [CUSTOM_KIND], tools: [SQL], replies });
    assert.deepEqual(
      [...new Set(typesOf(run))],
      [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
      ],
    );
    const [made] = run.response.output;
    assert.ok(made?.type === "custom_tool_call");
    assert.deepEqual([made.name, made.input, made.status], ["sql", input, "completed"]);
  });

  it("reads the model's text exactly, in JSON or without it", () => {
    const offer = toCustomOffer(SQL);
    const inputOf = (text: string): unknown => {
      const item = offer.toItem(call(text), "x");
      return item.type === "custom_tool_call" && item.input;
    };
    const property = fc.property(fc.string(), (input) => {
      assert.equal(inputOf(JSON.stringify({ input })), input);
    });
    fc.assert(property, { numRuns: 100 });
    for (const text of ["select 1", '{"query":"x"}', "null", ""]) assert.equal(inputOf(text), text);
  });

  it("shows its calls and results to the model as those of a function", async () => {
    const items = [
      { type: "custom_tool_call" as const, call_id: "c", name: "sql", input: "select 1" },
      { type: "custom_tool_call_output" as const, call_id: "c", output: "1" },
    ];
    const replies = [reply.text("One.")];
    const run = await runKinds({ kinds: [CUSTOM_KIND], tools: [SQL], items, replies });
    const [asked, answered] = callsIn(run.requests[0]);
    assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
    assert.deepEqual(JSON.parse(asked.arguments), { input: "select 1" });
    assert.deepEqual([asked.name, answered.call_id, answered.output], ["sql", "c", "1"]);
  });

  it("tells the model its grammar", () => {
    const format = { type: "grammar" as const, syntax: "regex" as const, definition: "a+" };
    const { description } = toCustomOffer({ ...SQL, format }).spec;
    assert.equal(description, "Runs SQL.\n\nThe input must follow this regex grammar:\na+");
    assert.equal(toCustomOffer({ ...SQL, format: { type: "text" } }).spec.description, "Runs SQL.");
  });

  it("is meant by a choice of its name, and not by one of a function with that name", () => {
    const offer = toCustomOffer(SQL);
    assert.ok(offer.isMeantBy({ type: "custom", name: "sql" }));
    assert.ok(!offer.isMeantBy({ type: "custom", name: "css" }));
    assert.ok(!offer.isMeantBy({ type: "function", name: "sql" }));
  });
});
