/** Reads the files that go with a prompt: text, pictures, PDF. The first bytes decide the type. */

import { type FileHandle, open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Failure } from "../base/failure.ts";
import type { ContentPart } from "../protocol/content.ts";

/** Four million tokens: more than any model's window. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** The largest image or document a vendor takes. */
const MAX_MEDIA_BYTES = 32 * 1024 * 1024;

/** Reads one file as the part it is: text, an image, or a PDF. */
export async function readFilePart(file: string, cwd: string): Promise<ContentPart> {
  const bytes = await readWhole(file, cwd);
  const name = basename(file);
  const image = imageTypeOf(bytes);
  if (image) {
    const image_url = `data:${image};base64,${bytes.toString("base64")}`;
    return { type: "input_image", image_url, detail: "auto" };
  }
  if (bytes.subarray(0, 5).toString("latin1") === "%PDF-") {
    const file_data = `data:application/pdf;base64,${bytes.toString("base64")}`;
    return { type: "input_file", filename: name, file_data };
  }
  if (bytes.length > MAX_TEXT_BYTES) throw tooLarge(file, MAX_TEXT_BYTES);
  return { type: "input_text", text: `--- ${file} ---\n${toText(bytes, `\`${file}\``).trimEnd()}` };
}

/** The text of a file such as a schema or instructions. */
export async function readTextFile(file: string, cwd: string): Promise<string> {
  return toText(await readWhole(file, cwd), `\`${file}\``);
}

async function readWhole(file: string, cwd: string): Promise<Buffer> {
  try {
    const handle = await open(resolve(cwd, file), "r");
    try {
      if ((await handle.stat()).isDirectory())
        throw invalid(`\`${file}\` is a directory. Name a file.`);
      return await readLimited(handle, file);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw toReadFailure(thrown, file);
  }
}

/** Counted while reading: a pipe (`<(command)`) and a device have no size, and some no end. */
async function readLimited(handle: FileHandle, file: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of handle.createReadStream({ autoClose: false })) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_MEDIA_BYTES) throw tooLarge(file, MAX_MEDIA_BYTES);
  }
  return Buffer.concat(pieces);
}

function toReadFailure(thrown: unknown, file: string): Failure {
  if (thrown instanceof Failure) return thrown;
  const { code = "", message = "" } = thrown as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new Failure("invalid_request", `There is no file \`${file}\`. Check the name.`);
  }
  if (code === "EISDIR") return invalid(`\`${file}\` is a directory. Name a file.`);
  if (code === "EACCES") return invalid(`\`${file}\` may not be read: permission denied.`);
  return new Failure("invalid_request", `\`${file}\` cannot be read: ${message}.`, {
    cause: thrown,
  });
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function toText(bytes: Buffer, what: string): string {
  try {
    const text = utf8.decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8: the message below says so.
  }
  throw invalid(`${what} is neither text (UTF-8), nor an image, nor a PDF.`);
}

function imageTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}

function tooLarge(file: string, maxBytes: number): Failure {
  return invalid(`\`${file}\` is larger than ${maxBytes / 1024 / 1024} MB. Give a part of it.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
