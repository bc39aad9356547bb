/**
 * `apply_patch`: a change to one file. The client makes it, unless the server is set to change files of its own
 * workspace.
 */

import { APPLY_PATCH, type ApplyPatchCall } from "../../protocol/hosted-kinds/apply-patch.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import { applyPatchTool, PATCH_TYPES } from "../../tools/patch/apply-patch.ts";
import type { PatchType } from "../../tools/patch/run-patch.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readArguments, readText, statusOf } from "./arguments.ts";
import { toResultText } from "./result-text.ts";
import { type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

export interface ApplyPatchParts {
  /** Takes `type`, `path` and `diff`; undefined if the client changes the files. */
  readonly tool: GateTool | undefined;
}

const KEY = "apply_patch";

export function createApplyPatchKind({ tool }: ApplyPatchParts): ToolKind {
  return {
    ...typesOf(APPLY_PATCH),
    open: async (_tool, _request, backing) => ({ offers: [toOffer(backing ?? tool)] }),
    keyOf: (item) => (item.type === "apply_patch_call" ? KEY : undefined),
    toFunctions,
  };
}

function toOffer(tool: GateTool | undefined): Offer {
  const offer: Offer = {
    key: KEY,
    spec: { ...applyPatchTool.spec, name: KEY },
    isMeantBy: (choice) => choice["type"] === "apply_patch",
    shows: "nothing",
    late: { begins: (item) => ({ ...item, ...toBegun(item) }) as Item },
    toItem: (call, id): Item => {
      const status = tool ? "in_progress" : statusOf(call);
      const { call_id } = call;
      return { type: "apply_patch_call", id, call_id, status, operation: toOperation(call) };
    },
  };
  if (!tool) return offer;
  const toArguments = (item: Item): string => JSON.stringify(operationOf(item));
  return { ...offer, run: { tool, toArguments, show: showRun } };
}

/** Clients get the file before its diff. */
function toBegun(item: Item): object {
  const { operation } = item as ApplyPatchCall;
  const isDeleted = operation.type === "delete_file";
  return { status: "in_progress", operation: isDeleted ? operation : { ...operation, diff: "" } };
}

/** A file is deleted without a diff. */
function toOperation({ arguments: text }: FunctionCall): ApplyPatchCall["operation"] {
  const given = readArguments(text);
  const type: PatchType = PATCH_TYPES.find((one) => one === given["type"]) ?? "update_file";
  const path = readText(given["path"]);
  return type === "delete_file" ? { type, path } : { type, path, diff: readText(given["diff"]) };
}

function operationOf(item: Item): object {
  return item.type === "apply_patch_call" ? item.operation : {};
}

function showRun(item: Item, { output, failed }: ToolResult): Item[] {
  const { call_id } = item as ApplyPatchCall;
  const status = failed ? "failed" : "completed";
  return [
    { ...item, status: "completed" } as Item,
    { type: "apply_patch_call_output", call_id, status, output: toResultText(output) },
  ];
}

function toFunctions(item: Item, nameOf: (key: string) => string): readonly Item[] {
  if (item.type === "apply_patch_call") {
    const { call_id, operation } = item;
    const text = JSON.stringify(operation);
    return [{ type: "function_call", call_id, name: nameOf(KEY), arguments: text }];
  }
  if (item.type !== "apply_patch_call_output") return [];
  const { call_id, status } = item;
  const output = item.output || (status === "failed" ? "Error: It failed." : "Done.");
  return [{ type: "function_call_output", call_id, output }];
}
