import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCosts } from "../../src/delegation/ledger/costs.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

describe("costs by user", () => {
  it("are those of stored responses, by what their requests say of whom they are for", async (t) => {
    const usage = { input: 100, output: 10 };
    const server = await startServer(
      t,
      respond(() => reply.text("Yes.", { usage })),
    );
    const requests = [
      { user: "ann" },
      { user: "old name", safety_identifier: "ann" },
      { safety_identifier: "bob" },
      {},
    ];
    const ids: string[] = [];
    for (const one of requests) {
      ids.push(toRunId((await server.create({ input: "Hi", ...one })).id));
    }
    const rows = await readCosts(server.responses.durable.record, ids, "user");
    assert.deepEqual(
      rows.map(({ key, calls, input_tokens }) => [key, calls, input_tokens]),
      [
        ["ann", 2, 200],
        ["bob", 1, 100],
        ["none", 1, 100],
      ],
    );
  });
});
