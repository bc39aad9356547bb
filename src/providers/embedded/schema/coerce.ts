/** Converts a value to another type if its text can be read as that type. */

import type { Json } from "../../../base/json.ts";

/** No value or one: "30 years" is the number 30, "yes" is `true`, a number is also its text. */
export function coerce(type: string, value: Json): readonly Json[] {
  switch (type) {
    case "string":
      return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
    case "number":
    case "integer":
      return typeof value === "number" ? [value] : toNumbers(value);
    case "boolean":
      return typeof value === "boolean" ? [value] : toBooleans(value);
    case "null":
      return value === null ? [null] : [];
    default:
      return [value];
  }
}

function toNumbers(value: Json): number[] {
  if (typeof value !== "string") return [];
  const [first] = /-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?/i.exec(value) ?? [];
  return first === undefined ? [] : [Number(first.replace(/,/g, ""))];
}

function toBooleans(value: Json): boolean[] {
  if (/^(true|yes|on|1)\b/i.test(String(value))) return [true];
  return /^(false|no|off|0)\b/i.test(String(value)) ? [false] : [];
}
