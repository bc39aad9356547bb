/**
 * Programs that a model wrote to call tools. Only their own provider runs them: the tool is left out and reported.
 * Other models see the programs in a conversation as calls.
 *
 * A program's result comes after the calls it made, over several turns, and many APIs want the result of a call
 * directly after it. So the program and its result are one call each, and each has its answer.
 */

import { PROGRAM } from "../../protocol/hosted-kinds/program.ts";
import type { Item } from "../../protocol/items.ts";
import { type ToolKind, typesOf } from "./tool-kind.ts";

export const PROGRAM_KIND: ToolKind = {
  ...typesOf(PROGRAM),
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
