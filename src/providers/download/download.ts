/**
 * Downloads a large file over HTTP, resumable. Only a complete and checked file gets its name; until then
 * its bytes are in `PATH.part`, and the next call resumes an interrupted one.
 *
 * Resuming needs the server's strong `ETag`: `If-Range` makes a server whose file has changed send all of
 * it, and a server without ranges does so anyway. In both cases the part is started over.
 */

import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { type RetryPolicy, retry } from "../../base/retry.ts";
import type { Transport } from "../http/transport.ts";
import { discard, type FileAnswer, type FileRequest, requestFile } from "./file-request.ts";
import {
  checkSpace,
  type DownloadMark,
  hashFile,
  onDisk,
  readHead,
  readPart,
  removePart,
  writeMark,
} from "./part-file.ts";

export interface Download {
  readonly transport: Transport;
  readonly url: string;
  readonly path: string;
  /** Lower-case hex. If undefined, the server's checksum is used, if it sends one. */
  readonly sha256: string | undefined;
  /** If undefined, the server's size is used. */
  readonly bytes: number | undefined;
  /** The text with which every such file begins, so that a login page is noticed at its first bytes. */
  readonly magic: string;
  readonly clock: Clock;
  /** Between 0 and 1, for the jitter of retries. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called for each read. The caller decides how often to show it. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Called before the wait for each retry. */
  readonly onRetry?: ((failure: Failure) => void) | undefined;
}

export interface DownloadProgress {
  readonly bytes: number;
  readonly totalBytes: number | undefined;
  /** Mean speed of this call, without bytes that an earlier call had fetched. */
  readonly bytesPerSecond: number;
}

export interface Downloaded {
  readonly bytes: number;
  readonly sha256: string;
  /** True if there was a checksum to compare with. */
  readonly isVerified: boolean;
}

/**
 * Five retries. Each resumes where the last one was interrupted, and so does the same command when it is
 * run again.
 */
const DOWNLOAD_RETRY: RetryPolicy = {
  attempts: 6,
  baseMs: 500,
  maxMs: 10_000,
  maxRetryAfterMs: 60_000,
};

/** Rejects with a `Failure`. Fetched bytes stay for the next call, unless they are known to be wrong. */
export async function runDownload(download: Download): Promise<Downloaded> {
  const { path, clock, random, signal, onRetry } = download;
  const meter = createMeter(download);
  const mark = await retry(
    () => onDisk(path, () => fetchRest(download, meter)),
    () => ({
      policy: DOWNLOAD_RETRY,
      clock,
      random,
      signal,
      onRetry: (failure) => onRetry?.(failure),
    }),
  );
  return onDisk(path, () => finish(download, mark));
}

type Meter = (chunkBytes: number, bytes: number, totalBytes: number | undefined) => void;

function createMeter({ clock, onProgress }: Download): Meter {
  const startedAt = clock.now();
  let received = 0;
  return (chunkBytes, bytes, totalBytes) => {
    received += chunkBytes;
    const seconds = (clock.now() - startedAt) / 1000;
    onProgress?.({ bytes, totalBytes, bytesPerSecond: seconds > 0 ? received / seconds : 0 });
  };
}

/** One attempt: fetches the missing bytes, and returns the file's size and checksum by the server. */
async function fetchRest(download: Download, meter: Meter): Promise<DownloadMark> {
  const { transport, url, path, signal } = download;
  await mkdir(dirname(path), { recursive: true });
  const { mark, have } = await readPart(path, url);
  if (mark && have > 0 && have === mark.totalBytes) return mark;
  const from = mark?.etag !== undefined && have > 0 ? { offset: have, etag: mark.etag } : undefined;
  const answer = await requestFile({ transport, url, signal, from });
  const offset = placeOf(answer, from);
  if (offset === undefined) {
    await discard(answer.chunks);
    return startOver(download, meter, from);
  }
  const next = toMark(download, answer);
  try {
    checkPromise(download, next);
    if (next.totalBytes !== undefined) await checkSpace(path, next.totalBytes - offset);
  } catch (thrown) {
    await discard(answer.chunks);
    throw thrown;
  }
  await writePart(download, { chunks: answer.chunks, offset }, next, meter);
  return next;
}

/**
 * The offset at which the answer's bytes are written: 0, or the end of the part; undefined if they belong
 * nowhere.
 */
function placeOf({ offset, etag }: FileAnswer, from: FileRequest["from"]): number | undefined {
  if (offset === 0) return 0;
  // Some servers support `Range` and not `If-Range`: their tag shows that the file has changed.
  const isChanged = etag !== undefined && etag !== from?.etag;
  return offset === from?.offset && !isChanged ? offset : undefined;
}

/** Used if the server does not have the range: its file is not the one that the part is from. */
async function startOver(
  download: Download,
  meter: Meter,
  from: FileRequest["from"],
): Promise<DownloadMark> {
  if (from) {
    await removePart(download.path);
    return fetchRest(download, meter);
  }
  throw new Failure(
    "provider_broke_protocol",
    `\`${new URL(download.url).host}\` sends a part of the file where all of it was asked for.`,
  );
}

function toMark({ url, bytes }: Download, { etag, totalBytes, sha256 }: FileAnswer): DownloadMark {
  return { url, etag, totalBytes: totalBytes ?? bytes, sha256 };
}

/** Rejects if the server's size or checksum is not the expected one, before the bytes are fetched. */
function checkPromise({ sha256, bytes, url }: Download, mark: DownloadMark): void {
  const { host } = new URL(url);
  const other = `\`${host}\` has another file than the one expected:`;
  if (sha256 !== undefined && mark.sha256 !== undefined && sha256 !== mark.sha256) {
    throw new Failure(
      "provider_broke_protocol",
      `${other} its SHA-256 is ${mark.sha256}, not ${sha256}.`,
    );
  }
  if (bytes !== undefined && bytes !== mark.totalBytes) {
    throw new Failure(
      "provider_broke_protocol",
      `${other} ${mark.totalBytes} bytes, not ${bytes}.`,
    );
  }
}

/** Writes the mark to the disk before the first byte that it describes. */
async function writePart(
  download: Download,
  { chunks, offset }: Pick<FileAnswer, "chunks"> & { readonly offset: number },
  mark: DownloadMark,
  meter: Meter,
): Promise<void> {
  const { url, magic, path } = download;
  const file = await open(`${path}.part`, offset === 0 ? "w" : "a");
  try {
    await writeMark(path, mark);
    let bytes = offset;
    for await (const chunk of chunks) {
      await file.appendFile(chunk);
      const isHead = bytes < magic.length;
      bytes += chunk.length;
      if (isHead && bytes >= magic.length) await checkMagic(download);
      meter(chunk.length, bytes, mark.totalBytes);
    }
    await file.sync();
    if (mark.totalBytes === undefined || bytes >= mark.totalBytes) return;
  } finally {
    await file.close();
  }
  throw new Failure(
    "provider_unreachable",
    `The connection to \`${new URL(url).host}\` was lost before the file's end.`,
  );
}

async function checkMagic({ path, magic, url }: Download): Promise<void> {
  if ((await readHead(path, magic.length)) === magic) return;
  await removePart(path);
  throw new Failure(
    "provider_broke_protocol",
    `\`${new URL(url).host}\` does not send a ${magic} file (perhaps a login page). Check the URL.`,
  );
}

async function finish(download: Download, mark: DownloadMark): Promise<Downloaded> {
  const { path, signal } = download;
  const part = `${path}.part`;
  await checkMagic(download);
  const { size } = await stat(part);
  const sha256 = await hashFile(part, signal);
  const expected = download.sha256 ?? mark.sha256;
  const isWrongSize = mark.totalBytes !== undefined && size !== mark.totalBytes;
  if (isWrongSize || (expected !== undefined && sha256 !== expected)) {
    await removePart(path);
    const what = isWrongSize
      ? `${size} bytes came instead of ${mark.totalBytes}`
      : `its SHA-256 is ${sha256}, not ${expected}`;
    throw new Failure(
      "provider_broke_protocol",
      `The downloaded file is wrong: ${what}. It was removed; try again, or check the source.`,
    );
  }
  await rename(part, path);
  await rm(`${part}.json`, { force: true });
  return { bytes: size, sha256, isVerified: expected !== undefined };
}
