/**
 * Reads a file part: its type and its bytes. If an API takes no files, or not of this type, a text file is
 * sent as text. `toFileText` writes it with its name, so that the model can tell it from the user's words.
 */

import { Failure } from "../base/failure.ts";
import type { InputFile } from "../protocol/content.ts";

export interface EncodedFile {
  /** Lower case, without parameters; empty if neither the data nor the name says it. */
  readonly mediaType: string;
  readonly base64: string;
}

type FilePart = Pick<InputFile, "file_data" | "filename">;

/** The file, if the part has its data. */
export function readFileContent({ file_data, filename }: FilePart): EncodedFile | undefined {
  if (!file_data) return undefined;
  const named = typeOfName(filename ?? "") ?? "";
  const inline = readDataUrl(file_data);
  if (!inline) return { mediaType: named, base64: file_data };
  const isUntold = inline.mediaType === "" || inline.mediaType === "application/octet-stream";
  return isUntold && named !== "" ? { ...inline, mediaType: named } : inline;
}

/** The content of a `data:` URL; undefined for any other text. */
export function readDataUrl(url: string): EncodedFile | undefined {
  // Not split by a pattern, which would go through megabytes of base64 twice.
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  if (comma === -1) return undefined;
  const [type = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  const isBase64 = parameters.includes("base64");
  return { mediaType: type.toLowerCase(), base64: isBase64 ? data : toBase64(data) };
}

function toBase64(escaped: string): string {
  try {
    return Buffer.from(decodeURIComponent(escaped)).toString("base64");
  } catch (cause) {
    const message = "A `data:` URL has invalid escapes. Give its data in base64.";
    throw new Failure("invalid_request", message, { cause, param: "input" });
  }
}

/** True if the bytes are text, such as source code or JSON. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPES.test(mediaType);
}

const TEXT_TYPES =
  /^text\/|^application\/(json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|graphql)$|\+(json|xml)$/;

/**
 * The text of a text file, under its name; undefined if it is not text, or if the part does not have its
 * data.
 */
export function toFileText(part: FilePart): string | undefined {
  const file = readFileContent(part);
  if (!file || !isTextType(file.mediaType)) return undefined;
  const name = part.filename ? ` name=${JSON.stringify(part.filename)}` : "";
  return `<file${name}>\n${decodeText(file.base64)}\n</file>`;
}

export function decodeText(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}

/** The type by the extension of a name or of an address's path. */
export function typeOfName(name: string): string | undefined {
  const [path = ""] = name.split(/[?#]/);
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return TYPES[ending] ?? (SOURCE_ENDINGS.has(ending) ? "text/plain" : undefined);
}

const TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  htm: "text/html",
  xml: "text/xml",
  json: "application/json",
  jsonl: "application/jsonl",
  yaml: "application/yaml",
  yml: "application/yaml",
  toml: "application/toml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  gif: "image/gif",
  mp3: "audio/mp3",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/** Extensions of source code and notes, which have no common media types. */
const SOURCE_ENDINGS: ReadonlySet<string> = new Set(
  "log rst tex ini cfg conf env sql sh bash py js mjs cjs ts tsx jsx css java kt c h cpp hpp cs go rs rb php swift scala lua r pl diff patch".split(
    " ",
  ),
);
