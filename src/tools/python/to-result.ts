/** An interpreter's reply in the form for the model: streams cut to their limit, images as parts. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import { ToolOutput } from "../tool.ts";
import type { RunReply, WrittenFile } from "./messages.ts";

const MAX_CHARS = 10_000;

/** A longer text is listed with its size only: the code can print the parts that are needed. */
const MAX_TEXT_CHARS = 2000;

export function toResult(reply: RunReply & { readonly note?: string }): ToolOutput {
  const { files, moreFiles, note } = reply;
  const parts = files.flatMap(toImagePart);
  const more = moreFiles > 0 ? { more_files: moreFiles } : {};
  const listed = files.length > 0 ? { files: files.map(toListed), ...more } : {};
  const value: JsonObject = {
    stdout: truncate(reply.stdout),
    stderr: truncate(reply.stderr),
    result: reply.result === null ? null : truncate(reply.result),
    ...listed,
    ...(note !== undefined && { note }),
  };
  return new ToolOutput(value, parts);
}

export function truncate(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  // If the cut splits a character of two units, the whole character is removed.
  return `${text.slice(0, MAX_CHARS).replace(/[\ud800-\udbff]$/, "")}... (truncated)`;
}

function toListed(file: WrittenFile): Json {
  const { path, size, data } = file;
  const type = data && imageType(data);
  if (type !== undefined) return { path, size, type };
  const text = data && toShortText(data);
  return text === undefined ? { path, size } : { path, size, text };
}

function toImagePart({ data }: WrittenFile): ContentPart[] {
  const type = data && imageType(data);
  if (data === undefined || type === undefined) return [];
  return [
    {
      type: "input_image",
      image_url: `data:${type};base64,${data.toString("base64")}`,
      detail: "auto",
    },
  ];
}

/** The type by the first bytes, because the code chooses the name. */
function imageType(data: Buffer): string | undefined {
  const head = data.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF....WEBP$/s.test(head) ? "image/webp" : undefined;
}

function toShortText(data: Buffer): string | undefined {
  const text = data.toString("utf8");
  const isText = text.length <= MAX_TEXT_CHARS && !text.includes("\ufffd") && !text.includes("\0");
  return isText ? text : undefined;
}
