/**
 * A conversation with tools and reasoning that moves from one provider to another in the middle, and
 * continues: every pair, each with upstreams that refuse what their real service refuses.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { FunctionCall, Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { reply, script, type Upstream } from "../../src/testing/index.ts";
import { CONTRACT_WIRES, type ContractWire, providerOver } from "./contract-wires.ts";
import { eventsOf, request, textOf } from "./provider-contract.ts";
import { endOf, itemsOf } from "./streams.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const READ = {
  type: "function" as const,
  name: "read",
  description: "Read a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  strict: false,
};

async function open(row: ContractWire, name: string): Promise<Provider> {
  const calls = reply.calls([
    { name: "read", arguments: { path: "a" } },
    { name: "read", arguments: { path: "b" } },
  ]);
  const engine = script(reply.reasoning("Which file?", calls), reply.text(`${name} is done.`));
  const upstream = await row.start({ engine });
  upstreams.push(upstream);
  return providerOver(row, upstream, { transport });
}

/** Two turns of a loop: reasoning with two calls, then a text. Returns all items with the new ones. */
async function goOn(provider: Provider, history: readonly Item[], text: string): Promise<Item[]> {
  const items: Item[] = [...history, { type: "message", role: "user", content: "Look again." }];
  const first = ask(items);
  const asked = await eventsOf(provider, first);
  items.push(...itemsOf(asked));
  const covered = items.length;
  items.push(...callsIn(asked).map(toResult));
  const { continuation } = endOf(asked);
  const previous = continuation ? { at: continuation, covered } : undefined;
  const answered = await eventsOf(provider, { ...ask(items), previous });
  assert.equal(textOf(answered), text);
  return [...items, ...itemsOf(answered)];
}

function ask(items: readonly Item[]): ModelRequest {
  const reasoning = { effort: "high", summary: "detailed", sealed: true } as const;
  return request({ items: [...items], tools: [READ], reasoning });
}

function callsIn(events: readonly ModelEvent[]): FunctionCall[] {
  return itemsOf(events).filter((item): item is FunctionCall => item.type === "function_call");
}

function toResult({ call_id }: FunctionCall): Item {
  return { type: "function_call_output", call_id, output: "the file's text" };
}

// The older vocabulary accepts no history, so no conversation can move to it.
const rows = CONTRACT_WIRES.filter(({ name }) => !name.includes("older"));

for (const from of rows) {
  describe(`a conversation begun with ${from.name}`, { concurrency: 4 }, () => {
    for (const to of rows) {
      it(`continues with ${to.name}, and comes back`, async () => {
        const first = await open(from, "First");
        const second = await open(to, "Second");
        const again = await open(from, "Again");
        const begun = await goOn(first, [], "First is done.");
        const moved = await goOn(second, begun, "Second is done.");
        await goOn(again, moved, "Again is done.");
      });
    }
  });
}
