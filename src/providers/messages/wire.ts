/**
 * The Messages wire: Anthropic's own API, and compatible servers. Some of its features need a beta header;
 * this file says which ones a request needs.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { createSseReader } from "../../base/sse.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { FOREIGN, placeOf } from "../../protocol/messages-blocks.ts";
import type { ModelRequest } from "../provider.ts";
import type { Quirks, Wire } from "../wire.ts";
import { claudeModelOf } from "./claude-models.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, omitsOf } from "./encode.ts";
import { OPTIONS } from "./options.ts";
import { relaxTools } from "./tools.ts";

/**
 * The version that every server of this API knows. Its successor (2026-10-21) no longer accepts
 * `temperature` for any model and adds nothing that we use.
 */
const VERSION = "2023-06-01";

export const messagesWire: Wire = {
  name: "anthropic",
  options: OPTIONS,
  limits: { toolNameChars: 128 },
  omits: omitsOf,
  path: () => "/messages",
  headers(request, quirks) {
    const betas = betasFor(request, quirks);
    return {
      "anthropic-version": VERSION,
      ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
    };
  },
  createReader: createSseReader,
  encode: encodeRequest,
  decoder: ({ tools }) => createDecoder(tools),
  recover: relaxTools,
};

/** The beta features of this request, in the order of the table; none for most. */
export function betasFor(request: ModelRequest, quirks: Quirks): string[] {
  const words = new Set<string>([
    ...request.tools.map(({ type }) => type),
    ...request.items.map(({ type }) => type),
  ]);
  const named = Object.entries(BETAS).filter(([, kinds]) => kinds.some((kind) => words.has(kind)));
  const isInstructed = request.items.some((item) => placeOf(item).in_place);
  return [
    ...(interleaves(request, quirks) ? ["interleaved-thinking-2025-05-14"] : []),
    ...(request.items.some(namesFile) ? ["files-api-2025-04-14"] : []),
    ...(isInstructed ? ["mid-conversation-system-2026-04-07"] : []),
    ...named.map(([beta]) => beta),
    ...betasOfFields({ ...request.extras, ...request.own }),
  ];
}

/** The beta features of fields that the client has sent. */
function betasOfFields({ container, speed, fallbacks }: JsonObject): string[] {
  return [
    ...(isJsonObject(container) && container["skills"] ? ["skills-2025-10-02"] : []),
    ...(speed ? ["fast-mode-2026-02-01"] : []),
    ...(fallbacks ? ["server-side-fallback-2026-07-01"] : []),
  ];
}

/** Kinds of tools and blocks, and the beta that each needs. */
const BETAS: Readonly<Record<string, readonly string[]>> = {
  "compact-2026-01-12": [`${FOREIGN}compaction`],
  "mcp-client-2025-11-20": [
    "mcp_toolset",
    `${FOREIGN}mcp_tool_use`,
    `${FOREIGN}mcp_tool_result`,
    `${FOREIGN}mcp_tool_listing`,
  ],
  "advisor-tool-2026-03-01": ["advisor_20260301", `${FOREIGN}advisor_tool_result`],
  "code-execution-2025-05-22": ["code_execution_20250522"],
  "computer-use-2025-01-24": ["computer_20250124"],
  "computer-use-2025-11-24": ["computer_20251124"],
};

function interleaves({ model, tools, reasoning }: ModelRequest, quirks: Quirks): boolean {
  const isThinking = reasoning.effort !== undefined && reasoning.effort !== "none";
  const { thinking, needsInterleaving } = claudeModelOf(model, quirks);
  return isThinking && tools.length > 0 && thinking === "budget" && needsInterleaving;
}

function namesFile(item: Item): boolean {
  if (item.type === "message") return partsOf(item.content).some(isFileId);
  return item.type === "function_call_output" && partsOf(item.output).some(isFileId);
}

function partsOf(content: string | readonly ContentPart[]): readonly ContentPart[] {
  return typeof content === "string" ? [] : content;
}

function isFileId(part: ContentPart): boolean {
  return "file_id" in part && Boolean(part.file_id);
}
