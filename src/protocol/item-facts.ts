/** The facts of every type of item that the server numbers, reports and shows: those of hosted kinds, and the others. */

import { type ItemFacts, toWriting } from "./hosted-kinds/hosted-kind.ts";
import { HOSTED_KINDS } from "./hosted-kinds/hosted-kinds.ts";

/** For an item of which nothing more is to be said than the beginning of its ids. */
const PLAIN: Omit<ItemFacts, "idPrefix"> = {
  cut: "incomplete",
  always: {},
  answeredBy: undefined,
  optional: {},
  progress: undefined,
  writes: undefined,
};

const always = { status: "completed" };

const OTHERS: Readonly<Record<string, ItemFacts>> = {
  message: { ...PLAIN, idPrefix: "msg", always },
  function_call: {
    ...PLAIN,
    idPrefix: "fc",
    always,
    answeredBy: "function_call_output",
    writes: toWriting("function_call_arguments", "arguments"),
  },
  function_call_output: { ...PLAIN, idPrefix: "fco", always },
  custom_tool_call: {
    ...PLAIN,
    idPrefix: "ctc",
    always,
    answeredBy: "custom_tool_call_output",
    writes: toWriting("custom_tool_call_input", "input"),
  },
  custom_tool_call_output: { ...PLAIN, idPrefix: "item", always },
  reasoning: { ...PLAIN, idPrefix: "rs" },
  compaction: { ...PLAIN, idPrefix: "cmp" },
  multi_agent_call: { ...PLAIN, idPrefix: "mac" },
  multi_agent_call_output: { ...PLAIN, idPrefix: "maco" },
  agent_message: { ...PLAIN, idPrefix: "amsg" },
};

/** By the `type` of the item. Types come from clients: a map has no `constructor` that none has put in. */
export const ITEM_FACTS: ReadonlyMap<string, ItemFacts> = new Map([
  ...Object.entries(OTHERS),
  ...HOSTED_KINDS.flatMap(({ items }) => Object.entries<ItemFacts>(items)),
]);

/** One fact of each type of item that has it, without the properties that every object has. */
export function tableOf<Fact>(
  pick: (facts: ItemFacts) => Fact | undefined,
): Readonly<Record<string, Fact>> {
  const table = Object.create(null) as Record<string, Fact>;
  for (const [type, facts] of ITEM_FACTS) {
    const fact = pick(facts);
    if (fact !== undefined) table[type] = fact;
  }
  return table;
}
