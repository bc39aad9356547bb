/**
 * A picture that the model drew, as the item that clients of the Responses API know. What the vendor wants
 * back of its part beside the bytes stands in a field of its own.
 */

import { isJsonObject } from "../../base/json.ts";
import type { ImageGenerationCall } from "../../protocol/hosted-items.ts";
import type { Item } from "../../protocol/items.ts";
import type { GeminiAnswerPart, GeminiPart } from "./schema.ts";

/** The picture in a part; none where it is a draft that the model thought of, or another kind of bytes. */
export function pictureIn({ thought, inlineData }: GeminiAnswerPart): string | undefined {
  const { mimeType, data } = inlineData ?? {};
  return !thought && mimeType?.startsWith("image/") && data ? data : undefined;
}

/** As it starts: `result` comes with the end. */
export function toPictureStart(id: string): Item {
  return { type: "image_generation_call", id, status: "in_progress", result: null };
}

export function toPicture(id: string, { inlineData, thoughtSignature }: GeminiAnswerPart): Item {
  const mimeType = inlineData?.mimeType ?? "";
  return {
    type: "image_generation_call",
    id,
    status: "completed",
    result: inlineData?.data ?? "",
    output_format: mimeType.slice(mimeType.indexOf("/") + 1),
    google: { mimeType, ...(thoughtSignature && { thoughtSignature }) },
  } as Item;
}

/** The part as it came; a picture that somebody else drew is one without a signature. */
export function toPicturePart(item: ImageGenerationCall): GeminiPart | undefined {
  if (!item.result) return undefined;
  const own: unknown = "google" in item ? item.google : undefined;
  const { mimeType, thoughtSignature } = isJsonObject(own) ? own : {};
  const type = typeof mimeType === "string" ? mimeType : "image/png";
  return {
    inlineData: { mimeType: type, data: item.result },
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}
