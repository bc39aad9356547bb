/**
 * Tools that Anthropic publishes and its clients carry out: a shell, an editor, a screen and a memory. Claude knows
 * them by their type. Any other model is offered them as functions with the documented inputs, so that the client
 * finds the expected fields in a call.
 */

import type { JsonObject } from "../../base/json.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import type { ToolParam } from "./messages-request.ts";

interface ClientTool {
  readonly type: RegExp;
  /** The name of the function if the tool has none: the published one. */
  readonly name: string;
  readonly description: (tool: JsonObject) => string;
  readonly properties: (type: string) => JsonObject;
  readonly required: readonly string[];
}

const text = (description: string): JsonObject => ({ type: "string", description });
const whole = (description: string): JsonObject => ({ type: "integer", description });
const oneOf = (words: readonly string[], description: string): JsonObject => ({
  type: "string",
  enum: words,
  description,
});
const pair = (description: string): JsonObject => ({
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description,
});

const PATH = text("The whole path of the file or folder");
const EDITING = {
  path: PATH,
  file_text: text("For `create`: the whole text of the new file"),
  old_str: text("For `str_replace`: the text to replace, exactly as it stands in the file, once"),
  new_str: text("For `str_replace`: the text in its place; nothing to delete it"),
  insert_line: whole("For `insert`: the line after which the text is put; 0 for the beginning"),
  view_range: pair("For `view` of a file: the first and the last line, from 1; -1 for the end"),
};

const OLD_ACTIONS = [
  ...["key", "type", "mouse_move", "left_click", "left_click_drag", "right_click"],
  ...["middle_click", "double_click", "screenshot", "cursor_position"],
];
const ACTIONS = [
  ...OLD_ACTIONS,
  ...["left_mouse_down", "left_mouse_up", "scroll", "hold_key", "wait", "triple_click"],
];

const CLIENT_TOOLS: readonly ClientTool[] = [
  {
    type: /^bash_\d+$/,
    name: "bash",
    description: () =>
      "Runs a command in a shell of the user's machine that stays open between calls. What it writes comes back.",
    properties: () => ({
      command: text("The command to run"),
      restart: { type: "boolean", description: "True to start the shell again, without a command" },
    }),
    required: [],
  },
  {
    type: /^text_editor_2025(0124|0212|0218)$|^text_editor_20241022$/,
    name: "str_replace_editor",
    description: () => "Shows, makes and changes text files on the user's machine.",
    properties: () => ({
      command: oneOf(["view", "create", "str_replace", "insert", "undo_edit"], "What to do"),
      ...EDITING,
    }),
    required: ["command", "path"],
  },
  {
    type: /^text_editor_\d+$/,
    name: "str_replace_based_edit_tool",
    description: () => "Shows, makes and changes text files on the user's machine.",
    properties: () => ({
      command: oneOf(["view", "create", "str_replace", "insert"], "What to do"),
      ...EDITING,
      insert_text: text("For `insert`: the text to put in"),
    }),
    required: ["command", "path"],
  },
  {
    type: /^computer_\d+$/,
    name: "computer",
    description: ({ display_width_px, display_height_px }) =>
      `Works the user's screen of ${display_width_px ?? "?"} by ${display_height_px ?? "?"} pixels. Places are in pixels from the upper left. Begin with a screenshot.`,
    properties: (type) => ({
      action: oneOf(
        type === "computer_20241022"
          ? OLD_ACTIONS
          : type === "computer_20250124"
            ? ACTIONS
            : [...ACTIONS, "zoom"],
        "What to do",
      ),
      coordinate: pair("The place on the screen: x, y"),
      start_coordinate: pair("For `left_click_drag`: where it begins"),
      text: text("For `type` the text, for `key` and `hold_key` the keys, such as ctrl+s"),
      scroll_direction: oneOf(["up", "down", "left", "right"], "For `scroll`"),
      scroll_amount: whole("For `scroll`: how many clicks of the wheel"),
      duration: { type: "number", description: "For `wait` and `hold_key`: seconds" },
      ...(/^computer_20(24|250124)/.test(type)
        ? {}
        : {
            region: {
              type: "array",
              items: { type: "integer" },
              description: "For `zoom`: x1, y1, x2, y2",
            },
          }),
    }),
    required: ["action"],
  },
  {
    type: /^memory_\d+$/,
    name: "memory",
    description: () =>
      "Reads and changes notes that outlast this conversation, as files below /memories. Look at /memories first; write down what later work needs.",
    properties: () => ({
      command: oneOf(["view", "create", "str_replace", "insert", "delete", "rename"], "What to do"),
      ...EDITING,
      insert_text: text("For `insert`: the text to put in"),
      old_path: text("For `rename`: the path it has"),
      new_path: text("For `rename`: the path it gets"),
    }),
    required: ["command"],
  },
];

/** Undefined for any other kind of tool. */
export function toClientFunction(tool: ToolParam): FunctionTool | undefined {
  const type = tool.type ?? "";
  const known = CLIENT_TOOLS.find((row) => row.type.test(type));
  if (!known) return undefined;
  const { name, description, properties, required } = known;
  return {
    type: "function",
    name: tool.name ?? name,
    description: description(tool as unknown as JsonObject),
    parameters: { type: "object", properties: properties(type), required: [...required] },
    strict: false,
  };
}
