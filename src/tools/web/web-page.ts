/** Converts a server's answer to text for a model: pages as Markdown, PDFs as their text, text unchanged. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { decodeHtml } from "./content/decode-html.ts";
import type { WebAnswer } from "./network/web-answer.ts";

export interface WebPage {
  /** Empty if there is none. */
  readonly title: string;
  readonly content: string;
  /** True if there is more than was read. */
  readonly isCut: boolean;
}

/** `source` keeps a page's markup. */
export type PageForm = "markdown" | "source";

/** More than a model reads of a book; each page takes some ten milliseconds. */
const MAX_PDF_PAGES = 200;

/** Rejects with `Failure("tool_failed")` for anything but text: pictures, archives, programs. */
export async function readPage(
  answer: WebAnswer,
  form: PageForm,
  signal: AbortSignal,
): Promise<WebPage> {
  const { body, contentType, url, isCut } = answer;
  const kind = kindOf(answer);
  switch (kind) {
    case "page": {
      const html = decodeHtml(body, contentType);
      if (form === "source") return { title: "", content: html, isCut };
      const { readHtml } = await import("./content/page-process.ts");
      const { title, markdown } = await readHtml(html, url, { signal });
      return { title, content: markdown, isCut };
    }
    case "pdf":
      return await readPdfOf(answer, signal);
    case "text":
      return { title: "", content: decodeHtml(body, contentType), isCut };
    case "other": {
      const type = mediaTypeOf(contentType) || "binary data";
      throw new Failure("tool_failed", `\`${clip(url, 200)}\` is ${clip(type, 60)}, not text.`);
    }
  }
}

type Kind = "page" | "pdf" | "text" | "other";

const TEXT_TYPES =
  /^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|x-sh|sql|graphql|rtf)$/;

/** The kind by the server's type, or by the first bytes without a type. */
function kindOf({ contentType, body }: WebAnswer): Kind {
  const type = mediaTypeOf(contentType);
  if (type === "text/html" || type === "application/xhtml+xml") return "page";
  const isUnnamed = type === "" || type === "application/octet-stream";
  const top = body.toString("latin1", 0, 1024);
  if (type === "application/pdf" || (isUnnamed && top.startsWith("%PDF-"))) return "pdf";
  if (TEXT_TYPES.test(type) || body.length === 0) return "text";
  if (!isUnnamed || top.includes("\0")) return "other";
  return /^\s*<(!doctype html|html|head|body)\b/i.test(top) ? "page" : "text";
}

function mediaTypeOf(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

async function readPdfOf({ body, isCut, url }: WebAnswer, signal: AbortSignal): Promise<WebPage> {
  if (isCut) {
    throw new Failure("tool_failed", `The PDF at \`${clip(url, 200)}\` is too large to be read.`);
  }
  const { readPdf } = await import("./content/page-process.ts");
  const { text, pages } = await readPdf(body, MAX_PDF_PAGES, { signal });
  return { title: "", content: text, isCut: pages > MAX_PDF_PAGES };
}
