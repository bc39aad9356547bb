/** Arguments of a call, checked by hand: what is wrong is one line for the model that wrote them. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { MAX_WAIT_S } from "./agent-tools.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** Refuses fields that nobody reads: a misspelt one would be left out in silence. */
export function refuseOthers(given: Arguments, known: readonly string[]): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const near = nearest(other, known);
  const hint = near === undefined ? `It takes ${known.join(", ")}.` : `Did you mean \`${near}\`?`;
  throw new Failure("invalid_request", `There is no argument \`${clip(other, 60)}\`. ${hint}`);
}

export function readText(given: Arguments, name: string): string {
  const value = given[name];
  if (typeof value === "string" && value.trim() !== "") return value;
  const what = value === undefined ? "is missing" : "must be a text that is not empty";
  throw new Failure("invalid_request", `\`${name}\` ${what}.`);
}

/** Undefined where there is none. */
export function readInput(given: Arguments): JsonObject | undefined {
  const value = given["input"];
  if (value === undefined || isJsonObject(value)) return value;
  throw new Failure("invalid_request", "`input` must be an object.");
}

export function readWaitMs(given: Arguments): number {
  const value = given["wait_s"] ?? 0;
  if (typeof value === "number" && value >= 0 && value <= MAX_WAIT_S) return value * 1000;
  const message = `\`wait_s\` must be a number from 0 to ${MAX_WAIT_S}, not ${clip(JSON.stringify(value), 40)}.`;
  throw new Failure("invalid_request", message);
}
