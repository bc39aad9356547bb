/** A response that an older version has written down, and that was not answered yet. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { RESPONSE_BODY } from "../../src/responses/kept/kept-response.ts";
import { reply, script } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

describe("a task of an older version", () => {
  it("asks the model what it was written down for", async (t) => {
    const engine = script(reply.text("One."), reply.text("Two."));
    const { create, responses, upstream } = await startServer(t, engine);
    const { durable } = responses;
    const { id } = await create({
      input: "Hi",
      top_p: 0.5,
      service_tier: "flex",
      user: "u",
      frequency_penalty: 0.5,
    });
    const task = await durable.input(toRunId(id));
    assert.ok(isJsonObject(task) && isJsonObject(task["response"]));
    const response: JsonObject = {
      ...task["response"],
      parallel_tool_calls: null,
      extras: null,
      options: { serviceTier: "flex", user: "u", frequencyPenalty: 0.5 },
    };
    await durable.submit(RESPONSE_BODY, { ...task, response }, { id: "run_old", title: "Hi" });
    const outcome = await durable.result("run_old");
    assert.equal(outcome.ending, "completed");
    const [now, old] = upstream.requests.map(({ body }) => body);
    assert.equal(now?.["frequency_penalty"], 0.5);
    assert.deepEqual(old, now);
  });
});
