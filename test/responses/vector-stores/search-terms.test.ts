import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scoreText, toTerms } from "../../../src/responses/vector-stores/search-terms.ts";

const words = (question: string): string[] => toTerms(question).map(({ text }) => text);

function score(question: string, text: string, total = 10): number {
  const terms = toTerms(question);
  return scoreText(text, terms, { total, counts: terms.map(() => 1) });
}

describe("search terms", () => {
  it("are the words that tell something, without their endings, each once", () => {
    assert.deepEqual(words("What is the refund policy for returned orders? Refunds!"), [
      "refund",
      "policy",
      "return",
      "order",
    ]);
  });

  it("are all words if no others are left", () => {
    assert.deepEqual(words("who is it"), ["who", "is", "it"]);
    assert.deepEqual(words("  ?! "), []);
  });

  it("keep letters of other scripts, and take pairs of those without spaces", () => {
    assert.deepEqual(words("Füße naïve"), ["fuße", "naive"]);
    assert.deepEqual(words("退货政策 refund"), ["refund", "退货", "货政", "政策"]);
    assert.deepEqual(words("한국어 문서"), ["한국어", "문서"]);
  });

  it("the number of search terms is bounded", () => {
    const many = Array.from({ length: 500 }, (_, at) => `word${at}x`).join(" ");
    assert.equal(toTerms(many).length, 24);
  });
});

describe("the score of a text", () => {
  it("is between 0 and 1, and grows with what fits", () => {
    const none = score("refund policy", "Nothing of it here");
    const half = score("refund policy", "The policy of the house");
    const whole = score("refund policy", "Our refund policy");
    const often = score("refund policy", "Refund policy: a refund by policy, refund, policy");
    assert.equal(none, 0);
    assert.ok(0 < half && half < whole && whole < often && often < 1, `${[half, whole, often]}`);
  });

  it("counts a word with another ending less, and one that only begins so not at all", () => {
    assert.ok(score("cats", "one cat") > 0.6);
    const inflected = score("return", "it was returned");
    assert.ok(inflected > 0.3 && inflected < score("return", "a return"));
    assert.equal(score("cat", "a category"), 0);
  });

  it("weighs rare words more than words that are everywhere", () => {
    const terms = toTerms("company warranty");
    const counts = { total: 100, counts: [90, 2] };
    assert.ok(
      scoreText("the warranty", terms, counts) > 3 * scoreText("the company", terms, counts),
    );
  });

  it("finds pieces of scripts without spaces", () => {
    assert.ok(score("退货政策", "我们的退货政策是三十天") > 0.6);
    assert.equal(score("退货政策", "你好"), 0);
  });
});
