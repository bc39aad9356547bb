import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { BLANK_RESPONSE } from "../../../src/responses/fold/response-object.ts";
import { toTerminalEvents } from "../../../src/responses/fold/terminal-events.ts";

const ended = (fields: Partial<EmittedResponse>): EmittedResponse => ({
  ...BLANK_RESPONSE,
  ...fields,
});
const ERROR = { code: "server_error", message: "Why." } as const;

describe("the end of a stream", () => {
  for (const [status, type] of [
    ["completed", "response.completed"],
    ["incomplete", "response.incomplete"],
    ["cancelled", "response.incomplete"],
  ] as const) {
    it(`is ${type} alone for a response that is ${status}`, () => {
      const response = ended({ status });
      assert.deepEqual(toTerminalEvents(response), [{ type, response }]);
    });
  }

  it("is an error and then response.failed for a failure", () => {
    const response = ended({ status: "failed", error: ERROR });
    const [error, failed] = toTerminalEvents(response);
    const told = { ...ERROR, param: null };
    assert.deepEqual(error, { type: "error", ...told, error: { type: "server_error", ...told } });
    assert.deepEqual(failed, { type: "response.failed", response });
  });

  it("names the exact code in the error, and the published one in the response", () => {
    const response = ended({ status: "failed", error: ERROR });
    const [error] = toTerminalEvents(response, "provider_failed");
    assert.equal(error?.type === "error" && error.code, "provider_failed");
    assert.equal(response.error?.code, "server_error");
  });
});
