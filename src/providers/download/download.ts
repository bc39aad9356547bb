/**
 * A large file over HTTP, resumable. Only a whole and checked file gets its name; until then its
 * bytes are in `PATH.part`, and a call that was cut is gone on with by the next.
 *
 * Going on needs the server's strong `ETag`: `If-Range` makes a server whose file has changed send
 * all of it, and a server that knows no ranges does so anyway. Both start the part over.
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
  hashFile,
  type Mark,
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
  /** Lower-case hex; undefined takes the server's word, if it gives one. */
  readonly sha256: string | undefined;
  /** Undefined takes the server's word. */
  readonly bytes: number | undefined;
  /** The text every such file begins with, so that a login page is noticed at its first bytes. */
  readonly magic: string;
  readonly clock: Clock;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called for each read; the caller thins it out. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told before the wait for each retry. */
  readonly onRetry?: ((failure: Failure) => void) | undefined;
}

export interface Progress {
  readonly bytes: number;
  readonly totalBytes: number | undefined;
  /** Mean of this call, without what an earlier one had fetched. */
  readonly bytesPerSecond: number;
}

export interface Downloaded {
  readonly bytes: number;
  readonly sha256: string;
  /** Whether there was a checksum to compare with. */
  readonly isVerified: boolean;
}

/** Five retries; each goes on where the last was cut, and so does the command given again. */
const DOWNLOAD_RETRY: RetryPolicy = {
  attempts: 6,
  baseMs: 500,
  maxMs: 10_000,
  maxRetryAfterMs: 60_000,
};

/** Rejects with a `Failure`. What was fetched stays for the next call unless it is proven wrong. */
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

/** One try: fetches what is missing, and returns what the server said of the file. */
async function fetchRest(download: Download, meter: Meter): Promise<Mark> {
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

/** Where the answer's bytes go: 0, or right behind the part's; undefined when nowhere. */
function placeOf({ offset, etag }: FileAnswer, from: FileRequest["from"]): number | undefined {
  if (offset === 0) return 0;
  // Some servers know `Range` and not `If-Range`: their tag tells of a changed file.
  const isChanged = etag !== undefined && etag !== from?.etag;
  return offset === from?.offset && !isChanged ? offset : undefined;
}

/** For a server that has no such range: its file is another than the part's. */
async function startOver(
  download: Download,
  meter: Meter,
  from: FileRequest["from"],
): Promise<Mark> {
  if (from) {
    await removePart(download.path);
    return fetchRest(download, meter);
  }
  throw new Failure(
    "provider_broke_protocol",
    `\`${new URL(download.url).host}\` sends a part of the file where all of it was asked for.`,
  );
}

function toMark({ url, bytes }: Download, { etag, totalBytes, sha256 }: FileAnswer): Mark {
  return { url, etag, totalBytes: totalBytes ?? bytes, sha256 };
}

/** Rejects what the server promises when it is not what is wanted, before the bytes are paid for. */
function checkPromise({ sha256, bytes, url }: Download, mark: Mark): void {
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

/** The mark is on the disk before the first byte that it describes. */
async function writePart(
  download: Download,
  { chunks, offset }: Pick<FileAnswer, "chunks"> & { readonly offset: number },
  mark: Mark,
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
    `What \`${new URL(url).host}\` sends is no ${magic} file (a login page, perhaps). Check the URL.`,
  );
}

async function finish(download: Download, mark: Mark): Promise<Downloaded> {
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
