/**
 * Programs that a model wrote to call tools. No provider but their own runs them: the tool is left out
 * and reported. Other models are shown what such programs left in a conversation as calls.
 *
 * A program's result comes behind the calls it made, over several turns, and many APIs want the result
 * of a call right behind it. So the program and its result are a call each, and each has its answer.
 */

import type { Item } from "../../protocol/items.ts";
import type { ToolKind } from "./tool-kind.ts";

export const PROGRAM_KIND: ToolKind = {
  toolTypes: ["programmatic_tool_calling"],
  itemTypes: ["program", "program_output"],
  open: async () => ({ offers: [], ignored: ["tools (programmatic_tool_calling)"] }),
  keyOf: () => undefined,
  toFunctions(item, nameOf) {
    if (item.type === "program") {
      const { call_id, code } = item;
      return toPair(call_id, { name: nameOf("program"), input: { code }, output: STARTED });
    }
    if (item.type !== "program_output") return [];
    const { call_id: program, result } = item;
    const name = nameOf("program_result");
    return toPair(`${program}_result`, { name, input: { program }, output: result });
  },
};

const STARTED = "The program has started. The calls that it makes follow, and then its result.";

interface Made {
  readonly name: string;
  readonly input: object;
  readonly output: string;
}

function toPair(call_id: string, { name, input, output }: Made): Item[] {
  return [
    { type: "function_call", call_id, name, arguments: JSON.stringify(input) },
    { type: "function_call_output", call_id, output },
  ];
}
