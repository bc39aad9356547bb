import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { pairResults } from "../../../src/providers/pair-results.ts";
import { answerCalls } from "../../../src/responses/bridge/bridge.ts";
import { createMcpKind, NO_SERVERS } from "../../../src/responses/kinds/mcp.ts";

const kind = createMcpKind({ connect: NO_SERVERS });
/** In the form that a provider reads. */
const pair = (items: readonly Item[]): readonly Item[] =>
  pairResults(
    answerCalls(items, (item) =>
      kind.itemTypes.includes(item.type) ? kind.toFunctions(item, (key) => key) : undefined,
    ),
  );

const request = (id: string): Item => ({
  type: "mcp_approval_request",
  id,
  server_label: "files",
  name: "read",
  arguments: "{}",
});
const answer = (id: string, approve: boolean, reason?: string): Item => ({
  type: "mcp_approval_response",
  approval_request_id: id,
  approve,
  ...(reason === undefined ? {} : { reason }),
});
const said: Item = { type: "message", role: "user", content: "Go on." };
const shown = (items: readonly Item[]): string[] =>
  pair(items).map((item) => {
    if (item.type === "function_call") return `call ${item.call_id}`;
    if (item.type === "function_call_output") return `${item.call_id}: ${item.output}`;
    return item.type;
  });

describe("calls and their results", () => {
  it("answers an approval that was never given", () => {
    assert.deepEqual(shown([request("a"), said]), [
      "call a",
      "a: Error: This call was not answered.",
      "message",
    ]);
  });

  it("puts a late result after its call", () => {
    const made: Item = {
      type: "mcp_call",
      id: "m",
      server_label: "files",
      name: "read",
      arguments: "{}",
      approval_request_id: "a",
      output: "text",
      error: null,
      status: "completed",
    };
    assert.deepEqual(shown([request("a"), said, answer("a", true), made]), [
      "call a",
      "a: text",
      "message",
    ]);
  });

  it("tells the model about a refusal, with its reason", () => {
    assert.deepEqual(shown([request("a"), answer("a", false, "Not today.")]), [
      "call a",
      "a: Error: The user did not approve this call. Not today.",
    ]);
  });

  it("leaves calls of one turn together, and a client's unanswered call alone", () => {
    const items = [request("a"), request("b"), answer("a", false), answer("b", false)];
    assert.deepEqual(
      pair(items).map(({ type }) => type),
      ["function_call", "function_call", "function_call_output", "function_call_output"],
    );
    const own: Item = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    assert.deepEqual(pair([own, said]), [own, said]);
    const result: Item = { type: "function_call_output", call_id: "c", output: "done" };
    assert.deepEqual(pair([own, said, result]), [own, result, said]);
  });
});
