/**
 * Files and images in a message. Text is read. Images, sounds and PDFs are named in the answer, so that it
 * does not look as if the model had seen them.
 */

import type { ContentPart, InputFile } from "../../protocol/content.ts";
import { isTextType, typeOfName } from "../file-content.ts";
import { MAX_READ } from "./prompt.ts";

export interface Attachment {
  readonly name: string;
  /** Media type, or the part's kind if it has no media type. */
  readonly kind: string;
  readonly bytes: number | undefined;
  /** Undefined if it is not text. */
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

/** True if the part contains something that is not text. */
export function isUnseen(part: ContentPart): boolean {
  const attachment = readAttachment(part);
  return attachment !== undefined && attachment.text === undefined;
}

/** One sentence that names what could not be read; `undefined` if everything was text. */
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
  if (data.startsWith("data:") || data === "") return attachment;
  const kind = typeOfName(filename ?? "") ?? "file";
  const text = isTextType(kind) ? decodeBody(data, "base64") : undefined;
  return { ...attachment, kind, bytes: byteLength(data), text };
}

function describe(name: string, source: string): Attachment {
  const comma = source.indexOf(",");
  const head = comma < 0 ? undefined : /^data:([^;]*)(.*)$/s.exec(source.slice(0, comma));
  if (!head) return describeElsewhere(name, source);
  const [, type = "", flags = ""] = head;
  const body = source.slice(comma + 1);
  const base64 = flags.includes("base64");
  const bytes = base64 ? byteLength(body) : Buffer.byteLength(body);
  const kind = UNTOLD.has(type) ? (typeOfName(name) ?? type) : type;
  const text = isTextType(kind) ? decodeBody(body, base64 ? "base64" : "percent") : undefined;
  return { name, kind: kind || "text/plain", bytes, text };
}

/** Describes an image by its address, a file by its name. */
function describeElsewhere(name: string, source: string): Attachment {
  const unread = { bytes: undefined, text: undefined };
  if (name !== "image") return { name, kind: "file", ...unread };
  const place = source.split(/[?#]/)[0]?.split("/").at(-1);
  return { name: place || name, kind: "image", ...unread };
}

/** Types that do not say what a file is. Its name may. */
const UNTOLD: ReadonlySet<string> = new Set(["", "application/octet-stream"]);

/** Decodes the beginning of a body, because text further on is never used. */
function decodeBody(body: string, encoding: "base64" | "percent"): string {
  const head = body.slice(0, MAX_READ);
  if (encoding === "base64") return Buffer.from(head, "base64").toString("utf8");
  try {
    return decodeURIComponent(head);
  } catch {
    // A stray percent sign, or one that was split: the undecoded text is better than nothing.
    return head;
  }
}

function byteLength(base64: string): number {
  const padding = /=*$/.exec(base64.slice(-2))?.[0].length ?? 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
