import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { calculate, isExpression } from "../../../src/providers/embedded/arithmetic.ts";

const RESULTS: readonly (readonly [string, string])[] = [
  ["2**64 % 97", String(2n ** 64n % 97n)],
  ["2**64", "18446744073709551616"],
  ["2**3**2", "512"],
  ["-2**2", "-4"],
  ["(-2)**2", "4"],
  ["2**-2", "0.25"],
  ["1 + 2 * 3", "7"],
  ["(1 + 2) * 3", "9"],
  ["10 - 4 - 3", "3"],
  ["100 / 10 / 5", "2"],
  ["7 / 2", "3.5"],
  ["1/3", "0.3333333333333333"],
  ["2/3", "0.6666666666666667"],
  ["0.1 + 0.2", "0.3"],
  ["-7 % 3", "2"],
  ["7 % -3", "-2"],
  ["7.5 % 2", "1.5"],
  ["1,000,000 * 2", "2000000"],
  ["15% of 80", "12"],
  ["7 times 6", "42"],
  ["10 divided by 4", "2.5"],
  ["2 to the power of 10", "1024"],
  ["5 squared", "25"],
  ["2^10", "1024"],
  ["3 × 4 ÷ 6 − 1", "1"],
  ["2 ** 0.5", "1.4142135623730951"],
  ["1e3 + 1", "1001"],
  [".5 * 2", "1"],
  ["--5", "5"],
  ["(-1) ** 1000000001", "-1"],
  ["1 / 3000", "0.0003333333333333333"],
  ["0 ** 0", "1"],
];

describe("calculate", () => {
  for (const [expression, result] of RESULTS) {
    it(`gives ${result.slice(0, 24)} for ${expression}`, () =>
      assert.equal(calculate(expression), result));
  }

  for (const text of [
    "",
    "hello",
    "1 +",
    "(1",
    "1)",
    "1 2",
    "2 ** ",
    "* 3",
    "a + b",
    "1 + + ",
    "()",
  ]) {
    it(`does not take "${text}" for an expression`, () => assert.equal(calculate(text), undefined));
  }

  it("gives up on more brackets than people write", () => {
    const deep = `${"(".repeat(50_000)}1${")".repeat(50_000)}`;
    assert.equal(isExpression(`${deep} + 1`), false);
    assert.equal(isExpression(`${"(".repeat(50)}1${")".repeat(50)} + 1`), true);
  });

  it("does not take a single number for an expression", () => {
    assert.equal(isExpression("42"), false);
    assert.equal(isExpression("4*2"), true);
  });

  for (const text of ["1/0", "5 % 0", "0 ** -1", "9**9**9", "(-1) ** 0.5"]) {
    it(`refuses ${text} with a reason`, () =>
      assert.throws(() => calculate(text), { code: "invalid_request" }));
  }

  it("agrees with big integers on random expressions", () => {
    fc.assert(
      fc.property(expression(), ({ text, value }) => assert.equal(calculate(text), String(value))),
    );
  });

  it("undoes a division by a multiplication", () => {
    const numbers = fc.tuple(fc.bigInt(), fc.bigInt({ min: 1n }));
    fc.assert(
      fc.property(numbers, ([a, b]) => assert.equal(calculate(`(${a}) / ${b} * ${b}`), String(a))),
    );
  });
});

interface Sample {
  readonly text: string;
  readonly value: bigint;
}

/** A random expression with all brackets, and its value, calculated by `BigInt`. */
function expression(): fc.Arbitrary<Sample> {
  const { tree } = fc.letrec<{ tree: Sample }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc
        .bigInt({ min: 0n, max: 10n ** 20n })
        .map((value): Sample => ({ text: String(value), value })),
      fc.tuple(tie("tree"), fc.constantFrom("+", "-", "*", "%"), tie("tree")).map(combine),
      tie("tree").map(({ text, value }): Sample => ({ text: `-(${text})`, value: -value })),
      fc.tuple(tie("tree"), fc.bigInt({ min: 0n, max: 4n })).map(
        ([{ text, value }, power]): Sample => ({
          text: `(${text})**${power}`,
          value: value ** power,
        }),
      ),
    ),
  }));
  return tree;
}

function combine([a, operator, b]: [Sample, string, Sample]): Sample {
  const safe = operator === "%" && b.value === 0n ? { text: "7", value: 7n } : b;
  return {
    text: `(${a.text}) ${operator} (${safe.text})`,
    value: apply(operator, a.value, safe.value),
  };
}

function apply(operator: string, a: bigint, b: bigint): bigint {
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  return ((a % b) + b) % b;
}
