/** For tests of background subagents: models that wait until the test lets them continue. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { RuntimeOptions } from "../../src/runtime/runtime.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createGate, playing, type Roles, toCalls } from "./family.ts";
import { startTree, type Tree } from "./tree-fixture.ts";

export interface BackgroundTree extends Tree {
  /** Lets the calls of `hold` with this name continue, now or later. */
  release(name: string): void;
  /** Resolves when `hold` was called with this name. */
  held(name: string): Promise<void>;
}

export async function startBackground(
  t: TestContext,
  roles: Roles,
  options: RuntimeOptions = {},
): Promise<BackgroundTree> {
  const gates = new Map<string, ReturnType<typeof createGate>>();
  const gateOf = (name: string): ReturnType<typeof createGate> => {
    const gate = gates.get(name) ?? createGate();
    gates.set(name, gate);
    return gate;
  };
  const hold: Tool = {
    spec: {
      type: "function",
      name: "hold",
      description: "Waits.",
      strict: false,
      parameters: { type: "object", properties: { name: { type: "string" } } },
    },
    readOnly: true,
    effect: "own",
    parse: (input) => input,
    async run(input, { signal }) {
      const { name } = input as { name: string };
      gateOf(`held ${name}`).open();
      await Promise.race([
        gateOf(name).opened,
        new Promise((resolve) => signal.addEventListener("abort", resolve)),
      ]);
      return "held";
    },
  };
  const tree = await startTree(t, playing(roles), { tools: [hold], ...options });
  return {
    ...tree,
    release: (name) => gateOf(name).open(),
    held: (name) => gateOf(`held ${name}`).opened,
  };
}

export const holding = (name: string) => toCalls(["hold", { name }]);

export const TOOLS = ["subagent", "hold"];

/** The messages to the run about its background children, in order. */
export function newsIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "child_news" ? event.news.map(({ kind, label }) => `${kind} ${label}`) : [],
  );
}

/** The outputs of the calls of a tool, parsed. */
export function outputsOf(events: readonly RunEvent[], name: string): Record<string, unknown>[] {
  return events.flatMap((event) => {
    if (event.type !== "tool_end" || event.name !== name) return [];
    assert.ok(event.item.type === "function_call_output");
    const { output } = event.item;
    return [JSON.parse(String(output).replace(/^Error: .*$/s, "{}")) as Record<string, unknown>];
  });
}
