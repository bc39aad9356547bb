/** A tool's result as one text, for items that hold nothing else; and the picture in it. */

import { isJsonObject } from "../../base/json.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { ToolResult } from "../../tools/gate/call.ts";

export function toResultText(output: ToolResult["output"]): string {
  if (typeof output === "string") return output;
  return output.map((part) => textOfPart(part) ?? `[${part.type}]`).join("\n");
}

/**
 * The reason of a failed call, for which most published items have no field: this server's own field has it as a
 * text.
 */
export function findError(item: object): string | undefined {
  const error = "error" in item && isJsonObject(item.error) ? item.error : {};
  return typeof error["message"] === "string" ? error["message"] : undefined;
}

/**
 * Tools of MCP servers return pictures as parts: the address of the first that contains its data.
 */
export function findPicture({ output }: ToolResult): string | undefined {
  if (typeof output === "string") return undefined;
  const urls = output.flatMap((part) =>
    part.type === "input_image" && typeof part.image_url === "string" ? [part.image_url] : [],
  );
  return urls.find((url) => url.startsWith("data:"));
}
