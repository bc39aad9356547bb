/**
 * Files and images in a message. Text is read; what only a model with eyes could read is named, so
 * that nobody takes an answer for one that has seen it.
 */

import type { ContentPart, InputFile } from "../../protocol/content.ts";

export interface Attachment {
  readonly name: string;
  /** Media type, or the part's kind where it does not say. */
  readonly kind: string;
  readonly bytes: number | undefined;
  /** Undefined when it is no text. */
  readonly text: string | undefined;
}

export function readAttachment(part: ContentPart): Attachment | undefined {
  switch (part.type) {
    case "input_image":
      return describe("image", part.image_url ?? part.file_id ?? "");
    case "input_file":
      return readFilePart(part);
    case "input_audio":
      return { name: "audio", kind: "audio", bytes: undefined, text: undefined };
    default:
      return undefined;
  }
}

/** One sentence on what could not be looked at; `undefined` when everything was text. */
export function describeUnseen(attachments: readonly Attachment[]): string | undefined {
  const unseen = attachments.filter(({ text }) => text === undefined);
  if (unseen.length === 0) return undefined;
  const names = unseen.map(({ name, kind, bytes }) => {
    const size = bytes === undefined ? "" : `, ${bytes} bytes`;
    return `\`${name}\` (${kind}${size})`;
  });
  return `I cannot look at images, sounds or PDF files, so I have not seen ${names.join(", ")}.`;
}

function readFilePart({ filename, file_data, file_url, file_id }: InputFile): Attachment {
  const data = file_data ?? "";
  const attachment = describe(filename ?? "file", data || (file_url ?? file_id ?? ""));
  if (!data.startsWith("data:") && data !== "") {
    return { ...attachment, kind: "file", bytes: byteLength(data) };
  }
  return attachment;
}

function describe(name: string, source: string): Attachment {
  const data = /^data:([^;,]*)((?:;[^;,]*)*),(.*)$/s.exec(source);
  if (!data) {
    const shown = source === "" ? name : (source.split(/[?#]/)[0]?.split("/").at(-1) ?? name);
    return {
      name: name === "image" ? shown || name : name,
      kind: name === "image" ? "image" : "file",
      bytes: undefined,
      text: undefined,
    };
  }
  const [, kind = "", flags = "", body = ""] = data;
  const base64 = flags.includes("base64");
  const bytes = base64 ? byteLength(body) : Buffer.byteLength(body);
  const isText = /^text\/|json|xml|yaml|csv/.test(kind);
  const text = isText ? decodeBody(body, base64 ? "base64" : "percent") : undefined;
  return { name, kind: kind || "text/plain", bytes, text };
}

function decodeBody(body: string, encoding: "base64" | "percent"): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  try {
    return decodeURIComponent(body);
  } catch {
    // A stray percent sign: the text is better than nothing.
    return body;
  }
}

function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
