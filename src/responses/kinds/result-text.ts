/** A tool's result as one text, for items that hold nothing else; and the picture in it. */

import type { ToolResult } from "../../tools/gate/call.ts";

export function toResultText(output: ToolResult["output"]): string {
  if (typeof output === "string") return output;
  return output.map((part) => ("text" in part ? String(part.text) : `[${part.type}]`)).join("\n");
}

/** A tool of somebody else gives pictures as parts: the address of the first that holds its data. */
export function findPicture({ output }: ToolResult): string | undefined {
  if (typeof output === "string") return undefined;
  const urls = output.flatMap((part) =>
    part.type === "input_image" && typeof part.image_url === "string" ? [part.image_url] : [],
  );
  return urls.find((url) => url.startsWith("data:"));
}
