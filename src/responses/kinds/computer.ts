/**
 * `computer` and `computer_use_preview`: a screen that the client, or a tool of the settings, shows and controls. The
 * model says what to do, one action at a time in the older tool and several in the newer; the result is a picture.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ComputerUsePreviewTool } from "../../protocol/hosted-kinds/computer.ts";
import { COMPUTER, type ComputerCall } from "../../protocol/hosted-kinds/computer.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readArguments, readText, readTexts, statusOf } from "./arguments.ts";
import { findPicture } from "./result-text.ts";
import { type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

const KEY = "computer";

export const COMPUTER_KIND: ToolKind = {
  ...typesOf(COMPUTER),
  open: async (tool: Tool, _request, backing) => {
    const offer = toOffer(tool);
    return { offers: [backing ? toBacked(offer, backing) : offer] };
  },
  keyOf: (item) => (item.type === "computer_call" ? KEY : undefined),
  toFunctions(item, nameOf) {
    if (item.type === "computer_call") {
      const text = JSON.stringify({ actions: actionsOf(item) });
      return [{ type: "function_call", call_id: item.call_id, name: nameOf(KEY), arguments: text }];
    }
    if (item.type !== "computer_call_output") return [];
    const { call_id, output } = item;
    return [{ type: "function_call_output", call_id, output: toPicture(output) }];
  },
};

function toOffer(tool: Tool): Offer {
  const isOlder = tool.type === "computer_use_preview";
  return {
    key: KEY,
    spec: {
      type: "function",
      name: KEY,
      description: describe(tool),
      strict: false,
      parameters: isOlder ? toParameters(1) : toParameters(MAX_ACTIONS),
    },
    isMeantBy: ({ type }) => COMPUTER_TYPES.has(String(type)),
    shows: "nothing",
    toItem: (call, id): Item => {
      const actions = readActions(call);
      const done = isOlder ? { action: actions[0] ?? SCREENSHOT } : { actions };
      const status = statusOf(call);
      return {
        type: "computer_call",
        id,
        call_id: call.call_id,
        pending_safety_checks: [],
        status,
        ...(status === "completed" ? done : {}),
      };
    },
  };
}

/** A screen of an MCP server, which returns a picture too. */
function toBacked(offer: Offer, tool: GateTool): Offer {
  const toItem = (call: FunctionCall, id: string): Item =>
    ({ ...offer.toItem(call, id), status: "in_progress" }) as Item;
  const toArguments = (item: Item): string => JSON.stringify({ actions: actionsOf(item) });
  return { ...offer, toItem, run: { tool, toArguments, show: showScreen } };
}

/**
 * Without a picture there is nothing to show: the call stays unanswered, and the model reads that.
 */
function showScreen(item: Item, result: ToolResult): Item[] {
  const image_url = findPicture(result);
  if (result.failed || image_url === undefined) return [{ ...item, status: "incomplete" } as Item];
  const { call_id } = item as ComputerCall;
  const output = { type: "computer_screenshot", image_url } as const;
  return [
    { ...item, status: "completed" } as Item,
    { type: "computer_call_output", call_id, output, status: "completed" } as Item,
  ];
}

function actionsOf(item: Item): readonly Action[] {
  const { actions, action } = item as ComputerCall;
  return actions ?? (action ? [action] : []);
}

/** A choice may use either name, and a third one. */
const COMPUTER_TYPES: ReadonlySet<string> = new Set([
  "computer",
  "computer_use",
  "computer_use_preview",
]);

const MAX_ACTIONS = 10;
const SCREENSHOT: Action = { type: "screenshot" };

type Action = NonNullable<ComputerCall["action"]>;

function describe(tool: Tool): string {
  const { display_width, display_height, environment } = tool as Partial<ComputerUsePreviewTool>;
  const size = display_width && display_height ? ` of ${display_width} by ${display_height}` : "";
  const where = environment ? ` (${environment})` : "";
  return `Works the user's screen${size}${where} and gives back a picture of it. Places are in pixels from the upper left. Begin with a screenshot.`;
}

function toParameters(maxItems: number): JsonObject {
  const number = { type: "integer" };
  const place = { type: "object", properties: { x: number, y: number }, required: ["x", "y"] };
  const action = {
    type: "object",
    properties: {
      type: { type: "string", enum: Object.keys(ACTIONS) },
      x: number,
      y: number,
      button: { type: "string", enum: BUTTONS },
      scroll_x: number,
      scroll_y: number,
      keys: { type: "array", items: { type: "string" } },
      text: { type: "string" },
      path: { type: "array", items: place },
    },
    required: ["type"],
  };
  const actions = { type: "array", items: action, minItems: 1, maxItems };
  const properties = { actions };
  return { type: "object", properties, required: ["actions"], additionalProperties: false };
}

const BUTTONS = ["left", "right", "wheel", "back", "forward"] as const;

/** Each action with the fields that clients rely on, whatever the model left out. */
const ACTIONS: Readonly<Record<string, (given: JsonObject) => object>> = {
  screenshot: () => ({}),
  click: (given) => ({
    ...toPoint(given),
    button: BUTTONS.find((button) => button === given["button"]) ?? "left",
    ...toKeys(given),
  }),
  double_click: (given) => ({ ...toPoint(given), keys: null, ...toKeys(given) }),
  move: (given) => ({ ...toPoint(given), ...toKeys(given) }),
  scroll: (given) => ({
    ...toPoint(given),
    scroll_x: toNumber(given["scroll_x"]),
    scroll_y: toNumber(given["scroll_y"]),
    ...toKeys(given),
  }),
  drag: (given) => ({ path: toPath(given["path"]), ...toKeys(given) }),
  keypress: (given) => ({ keys: readTexts(given["keys"]) }),
  type: (given) => ({ text: readText(given["text"]) }),
  wait: () => ({}),
};

/** Models put the single action of the older tool in different places. */
function readActions({ arguments: text }: FunctionCall): Action[] {
  const given = readArguments(text);
  const listed = given["actions"] ?? given["action"] ?? given;
  const all = Array.isArray(listed) ? (listed as readonly Json[]) : [listed];
  return all.filter(isJsonObject).flatMap((one) => {
    const type = readText(one["type"]);
    const fields = Object.hasOwn(ACTIONS, type) ? ACTIONS[type]?.(one) : undefined;
    return fields ? [{ type, ...fields } as Action] : [];
  });
}

function toPoint(given: JsonObject): { x: number; y: number } {
  return { x: toNumber(given["x"]), y: toNumber(given["y"]) };
}

function toNumber(value: Json | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value) : 0;
}

function toKeys({ keys }: JsonObject): { keys?: string[] } {
  const texts = readTexts(keys);
  return texts.length > 0 ? { keys: texts } : {};
}

function toPath(value: Json | undefined): { x: number; y: number }[] {
  const points = Array.isArray(value) ? (value as readonly Json[]) : [];
  return points.filter(isJsonObject).map(toPoint);
}

function toPicture({
  image_url,
  file_id,
}: {
  readonly image_url?: string | null | undefined;
  readonly file_id?: string | null | undefined;
}): { type: "input_image"; image_url?: string; file_id?: string }[] | string {
  if (image_url) return [{ type: "input_image", image_url }];
  return file_id ? [{ type: "input_image", file_id }] : "There is no picture.";
}
