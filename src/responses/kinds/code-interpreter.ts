/**
 * `code_interpreter`: Python that the server runs in a container. The model is offered a function that takes the
 * code; the client sees the code as it is written, and its result if it asks for that.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { CodeInterpreterTool } from "../../protocol/hosted-kinds/code-interpreter.ts";
import {
  CODE_INTERPRETER,
  type CodeInterpreterCall,
} from "../../protocol/hosted-kinds/code-interpreter.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readArguments, readText } from "./arguments.ts";
import { toResultText } from "./result-text.ts";
import { type KindRequest, type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

/** A tool of the gate that takes `code`, and the container that it runs in. */
export interface OpenedInterpreter {
  readonly containerId: string;
  readonly tool: GateTool;
}

export interface CodeInterpreterParts {
  /**
   * Rejects with `invalid_request` if the container does not exist. Undefined if the server runs no code: the tool is
   * left out and reported.
   */
  readonly open:
    | ((tool: CodeInterpreterTool, request: KindRequest) => Promise<OpenedInterpreter>)
    | undefined;
}

const KEY = "code_interpreter";

export function createCodeInterpreterKind({ open }: CodeInterpreterParts): ToolKind {
  return {
    ...typesOf(CODE_INTERPRETER),
    async open(tool: Tool, request) {
      if (!open) return { offers: [], ignored: ["tools (code_interpreter)"] };
      return { offers: [toOffer(await open(tool as CodeInterpreterTool, request))] };
    },
    keyOf: (item) => (item.type === "code_interpreter_call" ? KEY : undefined),
    toFunctions: (item, nameOf) =>
      item.type === "code_interpreter_call" ? toCallAndOutput(item, nameOf(KEY)) : [],
  };
}

function toOffer({ containerId: container_id, tool }: OpenedInterpreter): Offer {
  return {
    key: KEY,
    spec: { ...tool.spec, name: KEY },
    isMeantBy: (choice) => choice["type"] === "code_interpreter",
    shows: { field: "code" },
    toItem: ({ arguments: text }, id): Item => {
      const code = readText(readArguments(text)["code"]);
      const begun = { type: "code_interpreter_call", id, status: "in_progress" } as const;
      return { ...begun, container_id, code, outputs: [] };
    },
    run: {
      tool,
      toArguments: (item) => JSON.stringify({ code: codeOf(item) }),
      show: (item, result) => [toRun(item, result)],
    },
  };
}

function codeOf(item: Item): string {
  return item.type === "code_interpreter_call" ? (item.code ?? "") : "";
}

function toRun(item: Item, result: ToolResult): Item {
  const status = result.failed ? "failed" : "completed";
  const files = isJsonObject(result.details) ? result.details["files"] : undefined;
  // Not among the outputs: clients that know only the published kinds of outputs fail at another one. The links of an
  // answer are looked up here too (`bridge/container-links.ts`).
  const written = Array.isArray(files) && files.length > 0 ? { files } : {};
  return { ...item, status, outputs: outputsOf(result), ...written } as Item;
}

/** A tool of an MCP server has no details: its text is the log. */
function outputsOf({ output, details }: ToolResult): readonly JsonObject[] {
  const outputs = isJsonObject(details) ? details["outputs"] : undefined;
  if (Array.isArray(outputs)) return (outputs as readonly Json[]).filter(isJsonObject);
  const logs = toResultText(output);
  return logs === "" ? [] : [{ type: "logs", logs }];
}

/** An image has its address under one of two names, or both. */
function addressOf({ url, image_url }: CodeOutput): string | undefined {
  return url || image_url;
}

type CodeOutput = NonNullable<CodeInterpreterCall["outputs"]>[number];

function toCallAndOutput(item: CodeInterpreterCall, name: string): Item[] {
  const call_id = item.id ?? "";
  const outputs = item.outputs ?? [{ type: "logs", logs: "[What it printed was not kept.]" }];
  const logs = outputs.map((one) => one.logs ?? "").filter((text) => text !== "");
  const images = outputs.flatMap((one) => (one.type === "image" && addressOf(one)) || []);
  const text = logs.join("\n") || "[It printed nothing.]";
  const output =
    images.length === 0
      ? text
      : [
          { type: "input_text" as const, text },
          ...images.map((image_url) => ({ type: "input_image" as const, image_url })),
        ];
  return [
    { type: "function_call", call_id, name, arguments: JSON.stringify({ code: item.code ?? "" }) },
    { type: "function_call_output", call_id, output },
  ];
}
