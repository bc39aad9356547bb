/**
 * The files of an unfinished download: the bytes in `PATH.part`, and in `PATH.part.json` the file that they
 * are from. Also turns errors of the disk into failures that say what to do.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";

/** The file that the bytes of a part belong to, as the server described it. */
export interface DownloadMark {
  readonly url: string;
  /** A strong tag. Without one the part cannot be resumed. */
  readonly etag: string | undefined;
  readonly totalBytes: number | undefined;
  readonly sha256: string | undefined;
}

/** The part of an earlier call. Undefined if its file had another URL or its mark cannot be read. */
export async function readPart(
  path: string,
  url: string,
): Promise<{ mark: DownloadMark | undefined; have: number }> {
  const text = await readFile(`${path}.part.json`, "utf8").catch(() => undefined);
  const saved = text === undefined ? undefined : tryParseJson(text);
  if (!isJsonObject(saved) || saved["url"] !== url) return { mark: undefined, have: 0 };
  const { etag, total_bytes, sha256 } = saved;
  const mark: DownloadMark = {
    url,
    etag: typeof etag === "string" ? etag : undefined,
    totalBytes: typeof total_bytes === "number" ? total_bytes : undefined,
    sha256: typeof sha256 === "string" ? sha256 : undefined,
  };
  const found = await stat(`${path}.part`).catch(() => undefined);
  return { mark, have: found?.size ?? 0 };
}

export async function writeMark(path: string, mark: DownloadMark): Promise<void> {
  const { url, etag, totalBytes, sha256 } = mark;
  const text = JSON.stringify({ url, etag, total_bytes: totalBytes, sha256 });
  await writeFile(`${path}.part.json`, text);
}

/**
 * Removes a part, mark first: bytes without a mark are started over, but a mark without bytes would be
 * wrong.
 */
export async function removePart(path: string): Promise<void> {
  await rm(`${path}.part.json`, { force: true });
  await rm(`${path}.part`, { force: true });
}

/** The first bytes of a part, up to `length`. */
export async function readHead(path: string, length: number): Promise<string> {
  const file = await open(`${path}.part`, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Lower-case hex. Reads the file from the disk, so that the checked bytes are those that will be loaded. */
export async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file, { signal, highWaterMark: 1024 * 1024 })) {
      hash.update(chunk);
    }
  } catch (thrown) {
    throw signal.aborted ? toAbortFailure(signal) : thrown;
  }
  return hash.digest("hex");
}

/** Rejects if the disk has less free space than this many bytes. */
export async function checkSpace(path: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  const missing = bytes - bavail * bsize;
  if (missing > 0) throw diskFull(path, `${Math.ceil(missing / 1_000_000)} MB more are needed`);
}

/** Translates errors of the file system that the user can fix; all others pass unchanged. */
export async function onDisk<Out>(path: string, work: () => Promise<Out>): Promise<Out> {
  try {
    return await work();
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw diskFull(path, "the downloaded part is kept", thrown);
    if (code !== undefined && UNWRITABLE.has(code)) {
      const message = `\`${dirname(path)}\` cannot be written to (${code}). Choose another directory.`;
      throw new Failure("invalid_request", message, { cause: thrown });
    }
    throw thrown;
  }
}

const UNWRITABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"]);

function diskFull(path: string, detail: string, cause?: unknown): Failure {
  return new Failure(
    "invalid_request",
    `The disk of \`${dirname(path)}\` is full: ${detail}. Free some space and run it again.`,
    { cause },
  );
}
