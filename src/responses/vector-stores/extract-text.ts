/**
 * Reads the text of any file: text as it is, pages as Markdown, PDFs and office documents as their words.
 */

import { Failure } from "../../base/failure.ts";
import type { FileParts } from "../files/files.ts";

/** More pages than a book has; the time to read them is limited too. */
const MAX_PDF_PAGES = 2000;
/**
 * Large PDFs take a while; the process that reads them ends by itself at its limit of processor time.
 */
const PDF_LIMIT_MS = 60_000;

const TEXT_TYPES =
  /^text\/|[/+](json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|javascript|x-javascript|typescript|x-sh|sql|graphql|x-tex)$/;
const OFFICE =
  /^application\/vnd\.openxmlformats-officedocument\.(wordprocessingml|presentationml)\./;

/**
 * Rejects with `invalid_request` a file without text, and with `tool_failed` one that cannot be read.
 */
export async function extractText(
  { filename, mediaType, bytes }: FileParts,
  signal: AbortSignal,
): Promise<string> {
  const text = await read({ filename, mediaType, bytes }, signal);
  const clean = toStorable(text);
  if (clean.trim() !== "") return clean;
  throw new Failure("tool_failed", `There is no text in \`${filename}\`.`);
}

async function read(
  { filename, mediaType, bytes }: FileParts,
  signal: AbortSignal,
): Promise<string> {
  if (mediaType === "text/html" || mediaType === "application/xhtml+xml") {
    const [{ readHtml }, html] = await Promise.all([
      import("../../tools/web/content/page-process.ts"),
      decode(bytes),
    ]);
    return (
      await readHtml(html, `https://file.invalid/${encodeURIComponent(filename)}`, { signal })
    ).markdown;
  }
  if (mediaType === "application/pdf") {
    const { readPdf } = await import("../../tools/web/content/page-process.ts");
    return (await readPdf(bytes, MAX_PDF_PAGES, { signal, limitMs: PDF_LIMIT_MS })).text;
  }
  if (OFFICE.test(mediaType)) {
    const { readOfficeText } = await import("./office-text.ts");
    return readOfficeText(bytes);
  }
  if (TEXT_TYPES.test(mediaType)) return await decode(bytes);
  const message = `\`${filename}\` is ${mediaType}, which has no text that can be searched.`;
  throw new Failure("invalid_request", message);
}

async function decode(bytes: Uint8Array): Promise<string> {
  const { decodeHtml } = await import("../../tools/web/content/decode-html.ts");
  return decodeHtml(bytes, undefined);
}

/** The store's texts end at a NUL, and cannot contain half of a surrogate pair. */
function toStorable(text: string): string {
  return text
    .replaceAll("\0", " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replaceAll("\r\n", "\n");
}
