/**
 * Reads the text of a PDF, page by page. Its scripts and attachments are ignored, nothing is fetched, and
 * no code is made from its fonts.
 */

import { Failure } from "../../../base/failure.ts";
import { cleanText } from "./plain-text.ts";

export interface PdfText {
  /** Pages are separated by an empty line. Empty for a scan, whose pages are pictures. */
  readonly text: string;
  /** The number of pages, including those that were not read. */
  readonly pages: number;
}

/** Reads at most `maxPages` pages. Rejects with `tool_failed` for a locked file, or one that is not a PDF. */
export async function pdfToText(bytes: Uint8Array, maxPages: number): Promise<PdfText> {
  const { getDocumentProxy } = await import("unpdf");
  // A copy, because the library takes the bytes away from their owner.
  const opening = getDocumentProxy(Uint8Array.from(bytes), {
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
    // Only errors: warnings would go to standard error.
    verbosity: 0,
  });
  const document = await opening.catch((cause: unknown) => {
    throw toPdfFailure(cause);
  });
  try {
    const texts: string[] = [];
    for (let page = 1; page <= Math.min(document.numPages, maxPages); page++) {
      texts.push(await readPage(document, page));
    }
    const text = texts.filter((one) => one !== "").join("\n\n");
    return { text, pages: document.numPages };
  } catch (cause) {
    throw toPdfFailure(cause);
  } finally {
    await document.destroy();
  }
}

interface Pages {
  getPage(page: number): Promise<{
    getTextContent(): Promise<{ items: readonly object[] }>;
    cleanup(): boolean;
  }>;
}

async function readPage(document: Pages, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  const pieces = items.map((item) => {
    const { str = "", hasEOL = false } = item as { str?: string; hasEOL?: boolean };
    return hasEOL ? `${str}\n` : str;
  });
  return cleanText(pieces.join(""))
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .trim();
}

function toPdfFailure(cause: unknown): Failure {
  const name = cause instanceof Error ? cause.name : "";
  const message =
    name === "PasswordException"
      ? "The PDF is locked with a password."
      : "The file is not a PDF that can be read: it is damaged or cut short.";
  return new Failure("tool_failed", message, { cause });
}
