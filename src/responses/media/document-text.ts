/** Turns documents into text files, for models that do not read that kind of document. */

import { Failure } from "../../base/failure.ts";
import type { InputFile } from "../../protocol/content.ts";
import { toMediaType } from "../files/media-type.ts";
import type { MediaPart } from "./media-parts.ts";

/** True if a model reads documents of this media type itself. */
export type ReadsDocuments = (mediaType: string) => boolean;

/** Documents whose text can be read: PDFs and office files. */
const DOCUMENTS =
  /^application\/(pdf|vnd\.openxmlformats-officedocument\.(wordprocessingml|presentationml)\.)/;

/** The part, if it is a document that the model does not read; undefined for any other. */
export function findUnread(part: MediaPart, reads: ReadsDocuments): Document | undefined {
  if (part.type !== "input_file" || !part.file_data) return undefined;
  const { file_data: data, filename } = part;
  const comma = data.startsWith("data:") ? data.indexOf(",") : -1;
  const bytes = Buffer.from(data.slice(comma + 1), "base64");
  const name = filename ?? "document";
  const mediaType = toMediaType(name, bytes);
  if (!DOCUMENTS.test(mediaType) || reads(mediaType)) return undefined;
  return { part, filename: name, mediaType, bytes };
}

export interface Document {
  readonly part: InputFile;
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Rejects a document that cannot be read, as a fault of the request. */
export async function toTextPart(document: Document, signal: AbortSignal): Promise<InputFile> {
  const { part, filename } = document;
  const { extractText } = await import("../vector-stores/extract-text.ts");
  try {
    const text = await extractText(document, signal);
    const data = Buffer.from(text).toString("base64");
    return { ...part, filename, file_data: `data:text/plain;base64,${data}` };
  } catch (cause) {
    if (signal.aborted) throw cause;
    const message = `The model does not read such files, and the text of \`${filename}\` cannot be extracted. Send its text.`;
    throw new Failure("invalid_request", message, { param: "input", cause });
  }
}
