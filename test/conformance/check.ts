/**
 * Answers held against both published descriptions, and streams against the order that recorded ones
 * have. `checkResponse` and `checkEvents` are for every test that has an answer in its hand.
 */

import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { findOrderFaults, type StreamHistory } from "./event-order.ts";
import { adapt } from "./known-differences.ts";
import { eventSchemaOf, findFaults, ORACLES, type OracleName } from "./oracles.ts";

/** Fails with what is wrong with a Response object, by either description. */
export function checkResponse(value: unknown): void {
  assert.deepEqual(responseFaults(value), []);
}

/** Fails with what is wrong with a whole stream: its events, by either description, and their order. */
export function checkEvents(events: readonly object[], history: StreamHistory = {}): void {
  assert.deepEqual([...eventFaults(events), ...findOrderFaults(toSent(events), history)], []);
}

/** Fails where a value is not what OpenAI's description calls by this name: `ResponseItemList`. */
export function checkPublished(schema: string, value: unknown): void {
  assert.deepEqual(findFaults("openai", schema, value), []);
}

/** Fails where an answer is no error in the API's form, or another status or code than expected. */
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

/** What one oracle says of one event, after the differences that are known. */
export function faultsOfEvent(oracle: OracleName, event: JsonObject): string[] {
  const adapted = adapt(oracle, "event", event);
  if (!adapted) return [];
  const type = String(adapted["type"]);
  const schema = eventSchemaOf(oracle, type, { beta: oracle === "openai" && isBeta(event) });
  return schema ? findFaults(oracle, schema, adapted) : [`${oracle} has no event \`${type}\``];
}

/** As it goes over the wire: what is undefined is not there. */
function toSent(values: readonly object[]): JsonObject[] {
  return values.map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
}

/** The items of subagents, which are described among what is in beta. */
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
