/**
 * Converts a server's answer to a tool's result: texts joined, images as parts, the rest described.
 *
 * Read leniently: an unknown kind of content is named, not refused.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import { ToolOutput } from "../tool.ts";

/** The types that models accept. */
const IMAGE_TYPES = /^image\/(png|jpeg|gif|webp)$/;

const MAX_IMAGES = 10;

/** Five megabytes of image, the smallest limit of a vendor. */
const MAX_IMAGE_CHARS = 6_700_000;

/** Rejects with the server's own words if it says that the call failed. */
export function toToolResult(result: JsonObject): Json | ToolOutput {
  const content = Array.isArray(result["content"]) ? (result["content"] as Json[]) : [];
  const { text, parts } = readContents(content);
  if (result["isError"] === true) {
    throw new Failure("tool_failed", text === "" ? "The tool failed and did not say why." : text);
  }
  const structured = result["structuredContent"];
  const value = text === "" && structured !== undefined ? structured : text;
  return parts.length > 0 ? new ToolOutput(value, parts) : value;
}

/** The messages of a prompt, each under its role. */
export function toPromptResult(result: JsonObject): Json | ToolOutput {
  const messages = Array.isArray(result["messages"]) ? (result["messages"] as Json[]) : [];
  const read = messages.filter(isJsonObject).map(({ role, content }) => {
    const { text, parts } = readContents(content === undefined ? [] : ([content].flat() as Json[]));
    return { text: `[${role === "assistant" ? "assistant" : "user"}]\n${text}`, parts };
  });
  const value = read.map(({ text }) => text).join("\n\n");
  const parts = read.flatMap((one) => one.parts).slice(0, MAX_IMAGES);
  return parts.length > 0 ? new ToolOutput(value, parts) : value;
}

export function toResourceResult(result: JsonObject): Json | ToolOutput {
  const contents = Array.isArray(result["contents"]) ? (result["contents"] as Json[]) : [];
  const { text, parts } = readContents(
    contents.map((resource) => ({ type: "resource", resource }) as JsonObject),
  );
  return parts.length > 0 ? new ToolOutput(text, parts) : text;
}

interface Read {
  readonly text: string;
  readonly parts: readonly ContentPart[];
}

function readContents(content: readonly Json[]): Read {
  const texts: string[] = [];
  const parts: ContentPart[] = [];
  for (const one of content) {
    const read = isJsonObject(one) ? readContent(one) : "[content that is not an object]";
    if (typeof read === "string") texts.push(read);
    else if (parts.length < MAX_IMAGES) parts.push(read);
    else texts.push("[one more image was left out]");
  }
  return { text: texts.join("\n"), parts };
}

function readContent(content: JsonObject): string | ContentPart {
  switch (content["type"]) {
    case "text":
      return toText(content["text"]);
    case "image":
      return readImage(content["data"], content["mimeType"]);
    case "audio":
      return describe("audio", content["mimeType"], content["data"]);
    case "resource":
      return isJsonObject(content["resource"]) ? readResource(content["resource"]) : "[resource]";
    case "resource_link": {
      const { uri, name, description } = content;
      const about = [name, description].filter((text) => typeof text === "string").join(": ");
      return `[resource ${toText(uri)}${about === "" ? "" : ` (${about})`}]`;
    }
    default:
      return `[content of the kind ${toText(content["type"])}]`;
  }
}

function readResource({ uri, text, blob, mimeType }: JsonObject): string | ContentPart {
  if (typeof text === "string") return `[resource ${toText(uri)}]\n${text}`;
  if (IMAGE_TYPES.test(toText(mimeType))) return readImage(blob, mimeType);
  return describe(`resource ${toText(uri)}`, mimeType, blob);
}

function readImage(data: Json | undefined, mimeType: Json | undefined): string | ContentPart {
  const isFit = typeof data === "string" && data !== "" && data.length <= MAX_IMAGE_CHARS;
  if (!isFit || !IMAGE_TYPES.test(toText(mimeType)) || !/^[\w+/=\s-]+$/.test(data)) {
    return describe("image", mimeType, data);
  }
  return { type: "input_image", image_url: `data:${toText(mimeType)};base64,${data}` };
}

function describe(what: string, mimeType: Json | undefined, data: Json | undefined): string {
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  return `[${what}, ${toText(mimeType) || "of an unknown type"}, ${bytes} bytes]`;
}

function toText(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
