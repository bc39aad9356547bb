/**
 * Filters that select the files of a search in a vector store: comparisons of their attributes, and `and` and `or` of
 * those.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

export type FileAttributes = Readonly<Record<string, string | number | boolean>>;

export type Filter = (attributes: FileAttributes) => boolean;

/** Rejects with `invalid_request` an invalid filter. `param` is its place in the request. */
export function parseFilter(filter: Json, param = "filters"): Filter {
  if (!isJsonObject(filter)) throw invalid(param, "must be an object");
  const { type } = filter;
  if (type === "and" || type === "or") {
    const { filters } = filter;
    if (!Array.isArray(filters)) throw invalid(`${param}.filters`, "must be an array");
    const inner = filters.map((one: Json, at) => parseFilter(one, `${param}.filters[${at}]`));
    return type === "and"
      ? (attributes) => inner.every((fits) => fits(attributes))
      : (attributes) => inner.some((fits) => fits(attributes));
  }
  return parseComparison(filter, param);
}

function parseComparison({ type, key, value }: JsonObject, param: string): Filter {
  if (typeof key !== "string") throw invalid(`${param}.key`, "must be a string");
  const compare = typeof type === "string" && Object.hasOwn(COMPARISONS, type) && COMPARISONS[type];
  if (!compare) {
    const known = ["and", "or", ...Object.keys(COMPARISONS)].join(", ");
    throw invalid(`${param}.type`, `must be one of ${known}`);
  }
  const isList = type === "in" || type === "nin";
  const isFit = isList ? Array.isArray(value) && value.every(isScalar) : isScalar(value);
  if (!isFit) {
    const wanted = isList ? "a list of strings or numbers" : "a string, a number or a boolean";
    throw invalid(`${param}.value`, `must be ${wanted}`);
  }
  const wanted = value as Scalar | readonly Scalar[];
  return (attributes) =>
    compare(Object.hasOwn(attributes, key) ? attributes[key] : undefined, wanted);
}

type Scalar = string | number | boolean;

type Compare = (have: Scalar | undefined, wanted: Scalar | readonly Scalar[]) => boolean;

/** An attribute that a file does not have is equal to nothing, and neither more nor less. */
const COMPARISONS: Readonly<Record<string, Compare>> = {
  eq: (have, wanted) => have === wanted,
  ne: (have, wanted) => have !== wanted,
  gt: (have, wanted) => order(have, wanted, (difference) => difference > 0),
  gte: (have, wanted) => order(have, wanted, (difference) => difference >= 0),
  lt: (have, wanted) => order(have, wanted, (difference) => difference < 0),
  lte: (have, wanted) => order(have, wanted, (difference) => difference <= 0),
  in: (have, wanted) => have !== undefined && (wanted as readonly Scalar[]).includes(have),
  nin: (have, wanted) => have === undefined || !(wanted as readonly Scalar[]).includes(have),
};

/** Numbers with numbers, texts with texts; other values have no order. */
function order(have: unknown, wanted: unknown, fits: (difference: number) => boolean): boolean {
  if (typeof have === "number" && typeof wanted === "number") return fits(have - wanted);
  if (typeof have !== "string" || typeof wanted !== "string") return false;
  return fits(have < wanted ? -1 : have > wanted ? 1 : 0);
}

function isScalar(value: unknown): value is Scalar {
  return ["string", "number", "boolean"].includes(typeof value);
}

function invalid(param: string, problem: string): Failure {
  return new Failure("invalid_request", `\`${param}\` ${problem}.`, { param });
}
