/** The intent that calculates. It needs no tool. */

import { toFailure } from "../../../base/failure.ts";
import { calculate, isExpression } from "../arithmetic.ts";
import { defineIntent, type Intent } from "./intent.ts";

const compute = defineIntent<"text">({
  name: "compute",
  summary: "work out an arithmetic expression exactly",
  tools: [],
  phrasings: [
    "compute 2**64 % 97",
    "what is 12 * (3 + 4)?",
    "calculate 0.1 + 0.2",
    "how much is 15% of 80",
    "evaluate -2^3 + 1",
    "2 + 2 = ?",
    "what is 7 times 6",
    "please work out (1 + 2) / 4.",
  ],
  templates: [
    "(compute|calculate|evaluate|work out|solve|eval) [the] [(expression|value of|result of|sum)] {text}",
    "(what is|what's|what does|how much is|tell me) [the (value|result) of] {text} [equal]",
    "{text}",
  ],
  accept: ({ text = "" }) => isExpression(withoutEquals(text)),
  plan({ text = "" }) {
    const expression = withoutEquals(text);
    try {
      const result = calculate(expression) ?? "";
      return {
        text: `${expression} = ${result}`,
        data: { result: toNumberIfExact(result), value: toNumberIfExact(result), expression },
      };
    } catch (thrown) {
      // A division by zero is an answer for the user, not a failed run.
      return { text: `${expression} has no result: ${toFailure(thrown).message}`, data: {} };
    }
  },
});

function withoutEquals(text: string): string {
  return text
    .replace(/\s*=?\s*\??$/, "")
    .replace(/[.!]$/, "")
    .trim();
}

/** The result as a number, or as text if a JSON number (53 bits) would lose digits. */
export function toNumberIfExact(result: string): number | string {
  const value = Number(result);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? result : value;
}

export const COMPUTING: readonly Intent[] = [compute];
