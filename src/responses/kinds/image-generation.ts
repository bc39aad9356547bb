/**
 * `image_generation`: a picture that another server draws. Without such a server, the tool is left out and reported.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ImageGenerationTool } from "../../protocol/hosted-kinds/image-generation.ts";
import {
  IMAGE_GENERATION,
  type ImageGenerationCall,
} from "../../protocol/hosted-kinds/image-generation.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readArguments, readText } from "./arguments.ts";
import { findError, findPicture, toResultText } from "./result-text.ts";
import { type KindRequest, type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

export interface ImageKindParts {
  /** A tool of the gate that takes `prompt` and `action`; undefined if no server draws. */
  readonly open:
    | ((tool: ImageGenerationTool, request: KindRequest) => Promise<GateTool>)
    | undefined;
  /** Another tool that draws, used if there is none to open. */
  readonly find?: (() => Promise<GateTool | undefined>) | undefined;
}

const KEY = "image_generation";

export function createImageKind({ open, find }: ImageKindParts): ToolKind {
  return {
    ...typesOf(IMAGE_GENERATION),
    async open(tool: Tool, request) {
      const opened = open ? await open(tool as ImageGenerationTool, request) : await find?.();
      if (opened) return { offers: [toOffer(opened)] };
      return { offers: [], ignored: ["tools (image_generation: no image model is set)"] };
    },
    keyOf: (item) => (item.type === "image_generation_call" ? KEY : undefined),
    toFunctions: (item, nameOf) => {
      if (item.type !== "image_generation_call") return [];
      return isOfModel(item) ? [item] : toCallAndOutput(item, nameOf(KEY));
    },
  };
}

/** The published item has no other field for the prompt. */
interface DrawnCall extends ImageGenerationCall {
  readonly action?: string | undefined;
}

function toOffer(tool: GateTool): Offer {
  return {
    key: KEY,
    spec: { ...tool.spec, name: KEY },
    isMeantBy: (choice) => choice["type"] === "image_generation",
    shows: "nothing",
    toItem: ({ arguments: text }, id): Item => {
      const given = readArguments(text);
      const begun = { type: "image_generation_call", id, status: "in_progress" } as const;
      const action = given["action"] === "edit" ? "edit" : "generate";
      const asked = text === "" ? {} : { revised_prompt: readText(given["prompt"]), action };
      return { ...begun, result: null, ...asked } as Item;
    },
    run: { tool, toArguments: argumentsOf, show: (item, result) => [toDrawn(item, result)] },
  };
}

function argumentsOf(item: Item): string {
  const { revised_prompt, action } = item as DrawnCall;
  return JSON.stringify({ prompt: revised_prompt ?? "", action });
}

function toDrawn(item: Item, result: ToolResult): Item {
  const about: JsonObject = isJsonObject(result.details) ? result.details : {};
  const picture = about["result"] ?? pictureIn(result);
  if (!result.failed && typeof picture === "string") {
    return { ...item, ...about, status: "completed", result: picture } as Item;
  }
  // The published item does not have the reason; the model must know it.
  const error = { message: toResultText(result.output) };
  return { ...item, status: "failed", result: null, error } as unknown as Item;
}

function pictureIn(result: ToolResult): string | undefined {
  return /^data:[^,]*;base64,(.*)$/s.exec(findPicture(result) ?? "")?.[1];
}

/** True if a model drew it itself, with data that its vendor wants back: no function was called. */
function isOfModel(item: DrawnCall): boolean {
  return "google" in item;
}

function toCallAndOutput(item: DrawnCall, name: string): Item[] {
  const call_id = item.id ?? "";
  const prompt = item.revised_prompt ?? "";
  const output = findError(item) ?? "The picture was drawn and is shown to the user.";
  return [
    { type: "function_call", call_id, name, arguments: JSON.stringify({ prompt }) },
    { type: "function_call_output", call_id, output },
  ];
}
