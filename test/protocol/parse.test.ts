import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { parseAs } from "../../src/protocol/parse.ts";

const Request = z.object({ effort: z.enum(["low", "high"]) });

describe("a complaint about a value", () => {
  it("shows the value that was given", () => {
    assert.throws(() => parseAs(Request, { effort: "lo" }, "request"), {
      message: '`effort` must be "low" or "high", not "lo".',
    });
  });

  it("formats no more of a large value than it shows", () => {
    const unwritten = {
      toJSON(): never {
        throw new Error("written");
      },
    };
    const effort = ["x".repeat(100_000), unwritten];
    assert.throws(() => parseAs(Request, { effort }, "request"), {
      message: /^`effort` must be "low" or "high", not \["xxx+…\.$/,
    });
  });
});
