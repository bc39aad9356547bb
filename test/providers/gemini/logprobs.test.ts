import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toLogprobs } from "../../../src/providers/gemini/open-text.ts";

describe("gemini token probabilities", () => {
  it("are the chosen tokens, each with the others of its step, and their bytes", () => {
    const chosen = { token: "Ja", logProbability: -0.5 };
    const other = { token: "é", logProbability: -2 };
    const given = { chosenCandidates: [chosen], topCandidates: [{ candidates: [chosen, other] }] };
    assert.deepEqual(toLogprobs(given), [
      {
        token: "Ja",
        logprob: -0.5,
        bytes: [74, 97],
        top_logprobs: [
          { token: "Ja", logprob: -0.5, bytes: [74, 97] },
          { token: "é", logprob: -2, bytes: [195, 169] },
        ],
      },
    ]);
  });

  it("may be missing in part, or entirely", () => {
    assert.deepEqual(toLogprobs({}), []);
    const nothing = { token: "", logprob: 0, bytes: [], top_logprobs: [] };
    const steps = [null, [], [{}], [{ candidates: null }]];
    for (const topCandidates of steps) {
      assert.deepEqual(toLogprobs({ chosenCandidates: [{}], topCandidates }), [nothing]);
    }
  });
});
