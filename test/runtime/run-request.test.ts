import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { startTree } from "../delegation/tree-fixture.ts";

const SCHEMA = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
};

describe("a run's request", () => {
  it("accepts `output_mode` and `output_schema` under the names of the options", async (t) => {
    const tree = await startTree(
      t,
      respond(() => reply.text('{"n":3}')),
    );
    for (const asked of [
      { output_schema: SCHEMA },
      { output_mode: "json_schema", output_schema: SCHEMA },
      { output_mode: "json_object" },
    ] as const) {
      const { end } = await tree.run(asked);
      assert.deepEqual(end.output_json, { n: 3 });
    }
    const sent = tree.upstream.requests.map(({ body }) => JSON.stringify(body));
    assert.match(sent[0] ?? "", /"response_format":\{"type":"json_schema"/);
    assert.match(sent[2] ?? "", /"response_format":\{"type":"json_object"/);
  });

  it("asks the model to think with `effort`, unless `think` is false", async (t) => {
    const tree = await startTree(
      t,
      respond(() => reply.text("x")),
    );
    await tree.run({ effort: "low" });
    await tree.run({ think: true });
    await tree.run({ effort: "low", think: false });
    const efforts = tree.upstream.requests.map(({ body }) => body["reasoning_effort"]);
    assert.deepEqual(efforts, ["low", "high", undefined]);
  });

  const WRONG: readonly [object, RegExp][] = [
    [{ output_mod: "json_object" }, /has no field `output_mod`\. Did you mean `output_mode`\?/],
    [{ output_mode: "json_schema" }, /`output_schema` is missing/],
    [{ output_mode: "json_object", output_schema: SCHEMA }, /takes no `output_schema`/],
    [{ effort: "lots" }, /`effort` must be one of minimal, .*max, not "lots"/],
    [{ format: { type: "text" }, output_schema: SCHEMA }, /Give either `format`/],
  ];
  for (const [asked, message] of WRONG) {
    it(`is refused with ${Object.keys(asked).join(" and ")}`, async (t) => {
      const tree = await startTree(
        t,
        respond(() => reply.text("x")),
      );
      await assert.rejects(tree.run(asked), message);
      assert.equal(tree.upstream.requests.length, 0);
    });
  }
});
