/** The intent that calls any offered tool with the given arguments: tools of MCP servers, or the user's own. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../../base/json.ts";
import { unquote, withoutFence } from "../slots.ts";
import { isRefusal } from "../tool-results.ts";
import { callTool, refusal } from "./file-steps.ts";
import { defineIntent, type Intent } from "./intent.ts";

const callAnything = defineIntent<"name" | "json" | "block">({
  name: "call-tool",
  summary: "call a tool with the arguments you write",
  tools: [],
  acts: true,
  hints: /\{/,
  phrasings: [
    'call mcp__files__read_text with {"path": "notes.txt"}',
    'use get_weather with {"city": "Oslo", "days": 2}',
    'invoke the tool `lint` with the arguments {"fix": false}',
    'use the deploy tool with {"target": "staging"}',
    'call ping {"times": 1}',
  ],
  templates: [
    "(call|use|invoke|run|try) [the] [(tool|function)] {name=tool} [(tool|function)] [(with|on|for)] [the] [(arguments?|input|parameters|json)] ({json}|{block})",
  ],
  accept: (slots) => readArguments(slots) !== undefined,
  *plan({ name = "", ...slots }) {
    const tool = unquote(name);
    const output = yield* callTool(tool, readArguments(slots) ?? {});
    if (isRefusal(output)) return refusal(tool, output);
    const value = tryParseJson(output);
    const data = isJsonObject(value) ? value : { result: value ?? output };
    if (output.trim() === "") return { text: `The tool \`${tool}\` gave no output.`, data };
    const isFailed = isJsonObject(value) && value["success"] === false;
    const text = `The tool \`${tool}\` says: ${output}`;
    return { text, data, ...(isFailed && { failed: true, declined: true }) };
  },
});

function readArguments(slots: { json?: string; block?: string }): JsonObject | undefined {
  const { json, block = "" } = slots;
  const value = tryParseJson(json ?? withoutFence(block));
  return isJsonObject(value) ? value : undefined;
}

export const CALLING: readonly Intent[] = [callAnything];
