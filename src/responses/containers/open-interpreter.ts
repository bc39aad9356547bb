/** A request's code interpreter: its container, and Python in it. */

import type { CodeInterpreterTool } from "../../protocol/tools.ts";
import type { OpenedInterpreter } from "../kinds/code-interpreter.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import { chooseContainer } from "./auto-container.ts";
import { createInterpreterTool, type InterpreterParts } from "./interpreter-tool.ts";

export async function openInterpreter(
  parts: InterpreterParts,
  { container }: CodeInterpreterTool,
  request: KindRequest,
): Promise<OpenedInterpreter> {
  const wish =
    typeof container === "string"
      ? { id: container }
      : { fileIds: container?.file_ids, memoryLimit: container?.memory_limit };
  const chosen = await chooseContainer(parts, request, wish);
  return { containerId: chosen.containerId, tool: createInterpreterTool(parts, chosen) };
}
