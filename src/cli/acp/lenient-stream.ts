/** Messages of editors that leave out what the schema calls required and we can do without. */

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { isJsonObject } from "../../base/json.ts";

/** Some editors send no list of MCP servers. */
const OPENING: ReadonlySet<string> = new Set(["session/new", "session/load", "session/resume"]);

export function lenient({ readable, writable }: Stream): Stream {
  const filled = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      controller.enqueue(fill(message));
    },
  });
  return { readable: readable.pipeThrough(filled), writable };
}

function fill(message: AnyMessage): AnyMessage {
  if (!("method" in message) || !OPENING.has(message.method)) return message;
  const { params } = message;
  if (!isJsonObject(params) || (params["mcpServers"] ?? null) !== null) return message;
  return { ...message, params: { ...params, mcpServers: [] } };
}
