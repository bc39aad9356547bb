/**
 * Checks answers against both published descriptions, and streams against the order of recorded ones.
 * `checkResponse` and `checkEvents` are for every test that has an answer.
 */

import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { findOrderFaults, type StreamHistory } from "./event-order.ts";
import { adapt } from "./known-differences.ts";
import { eventSchemaOf, findFaults, ORACLES, type OracleName } from "./oracles.ts";

/** Fails with the errors of a Response object, by either description. */
export function checkResponse(value: unknown): void {
  assert.deepEqual(responseFaults(value), []);
}

/** Fails with the errors of a whole stream: its events, by either description, and their order. */
export function checkEvents(events: readonly object[], history: StreamHistory = {}): void {
  assert.deepEqual([...eventFaults(events), ...findOrderFaults(toSent(events), history)], []);
}

/** Fails if a value does not fit the schema of this name in OpenAI's description: `ResponseItemList`. */
export function checkPublished(schema: string, value: unknown): void {
  assert.deepEqual(findFaults("openai", schema, value), []);
}

/** Fails if an answer is not an error in the API's form, or has another status or code than expected. */
export function checkError(
  answer: { readonly status: number; readonly body: unknown },
  expected: { readonly status: number; readonly code?: string; readonly param?: string | null },
): void {
  checkPublished("ErrorResponse", answer.body);
  const { error } = answer.body as { error: { code: string; param: string | null } };
  const { code = error.code, param = error.param } = expected;
  assert.deepEqual(
    { status: answer.status, code: error.code, param: error.param },
    { status: expected.status, code, param },
  );
}

export function responseFaults(value: unknown): string[] {
  const [response] = toSent([value as object]);
  if (!response) return ["there is no response"];
  const names = { openai: isBeta(response) ? "BetaResponse" : "Response" } as const;
  return ORACLES.flatMap((oracle) => {
    const schema = oracle === "openai" ? names.openai : "ResponseResource";
    return findFaults(oracle, schema, adapt(oracle, "response", response));
  });
}

export function eventFaults(events: readonly object[]): string[] {
  const faults = toSent(events).flatMap((event) =>
    ORACLES.flatMap((oracle) => faultsOfEvent(oracle, event)),
  );
  return [...new Set(faults)];
}

/** The errors of one event by one oracle, after the known differences. */
export function faultsOfEvent(oracle: OracleName, event: JsonObject): string[] {
  const adapted = adapt(oracle, "event", event);
  if (!adapted) return [];
  const type = String(adapted["type"]);
  const schema = eventSchemaOf(oracle, type, { beta: oracle === "openai" && isBeta(event) });
  return schema ? findFaults(oracle, schema, adapted) : [`${oracle} has no event \`${type}\``];
}

/** The values in the form of the wire, without undefined fields. */
function toSent(values: readonly object[]): JsonObject[] {
  return values.map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
}

/** The items of subagents, which are described among the beta features. */
const BETA_ITEMS: ReadonlySet<string> = new Set([
  "multi_agent_call",
  "multi_agent_call_output",
  "agent_message",
]);

function isBeta(value: JsonObject): boolean {
  const { response, item, output } = value;
  if (isJsonObject(response)) return isBeta(response);
  const items = isJsonObject(item) ? [item] : Array.isArray(output) ? output : [];
  return items.some((one) => isJsonObject(one) && BETA_ITEMS.has(String(one["type"])));
}
