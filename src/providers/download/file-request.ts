/**
 * One request for a file or the rest of it, and the reading of the answer.
 *
 * Redirects are followed here because a model hub sends the file's checksum in the answer that redirects;
 * the server that has the bytes does not know it.
 */

import { Failure } from "../../base/failure.ts";
import type { HttpAnswer } from "../http/http-answer.ts";
import type { Transport } from "../http/transport.ts";
import { toHttpFailure } from "../provider-failure.ts";

export interface FileRequest {
  readonly transport: Transport;
  readonly url: string;
  readonly signal: AbortSignal;
  /**
   * The offset to resume at, and the tag of the file that the bytes before it are from; undefined for the
   * whole file.
   */
  readonly from: { readonly offset: number; readonly etag: string } | undefined;
}

export interface FileAnswer {
  readonly status: number;
  readonly chunks: HttpAnswer["chunks"];
  /** The offset of the bytes that follow; undefined if the answer does not say. */
  readonly offset: number | undefined;
  readonly totalBytes: number | undefined;
  /** Only a strong tag: a weak one may stay the same when the file changes. */
  readonly etag: string | undefined;
  readonly sha256: string | undefined;
}

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000 };
const MAX_REDIRECTS = 5;

/** Resolves with 200, 206 or 416; rejects with a `Failure` for any other status. */
export async function requestFile({
  transport,
  url,
  signal,
  from,
}: FileRequest): Promise<FileAnswer> {
  const headers = {
    // The checksum is of the original bytes, so they must not be compressed on the way.
    "accept-encoding": "identity",
    "user-agent": "offshoot",
    ...(from ? { range: `bytes=${from.offset}-`, "if-range": from.etag } : {}),
  };
  let at = url;
  let sha256: string | undefined;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const request = { method: "GET", url: at, headers, body: undefined, signal } as const;
    const answer = await transport.send({
      ...request,
      timeouts: TIMEOUTS,
      maxBytes: Number.POSITIVE_INFINITY,
    });
    sha256 ??= readSha256(answer);
    const location = isRedirect(answer) ? answer.headers["location"] : undefined;
    if (location === undefined) return await toFileAnswer(answer, url, sha256);
    await discard(answer.chunks);
    at = resolveRedirect(location, at);
  }
  throw new Failure(
    "provider_broke_protocol",
    `\`${new URL(url).host}\` redirects in a circle. Check the URL.`,
  );
}

/** Drops an answer that will not be read. A generator can be closed only after it has begun. */
export async function discard(chunks: HttpAnswer["chunks"]): Promise<void> {
  try {
    await chunks.next();
    await chunks.return();
  } catch {
    // The connection is closed, as intended.
  }
}

/**
 * The SHA-256 of the stored file, from a header of the hub. A plain `ETag` of 64 digits does not count: the
 * same hub's storage servers put another kind of hash there.
 */
function readSha256({ headers }: HttpAnswer): string | undefined {
  return /^"?([0-9a-f]{64})"?$/.exec(headers["x-linked-etag"] ?? "")?.[1];
}

function isRedirect({ status }: HttpAnswer): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function resolveRedirect(location: string, from: string): string {
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined;
  const isPlain = target?.protocol === "http:" && !from.startsWith("https:");
  if (target?.protocol === "https:" || (target && isPlain)) return target.href;
  throw new Failure(
    "provider_broke_protocol",
    `\`${new URL(from).host}\` redirects to a URL that is not https, so the download was stopped.`,
  );
}

async function toFileAnswer(
  answer: HttpAnswer,
  url: string,
  sha256: string | undefined,
): Promise<FileAnswer> {
  const { status, headers, chunks } = answer;
  if (status !== 200 && status !== 206 && status !== 416) {
    await discard(chunks);
    throw toStatusFailure(url, answer);
  }
  const [, start, size] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "") ?? ([] as string[]);
  const { etag } = headers;
  return {
    status,
    chunks,
    offset: status === 200 ? 0 : toCount(start),
    totalBytes: toCount(status === 200 ? headers["content-length"] : size),
    etag: etag?.startsWith('"') ? etag : undefined,
    sha256,
  };
}

function toStatusFailure(url: string, { status, headers }: HttpAnswer): Failure {
  const { host } = new URL(url);
  if (status === 404 || status === 410) {
    return new Failure("not_found", `\`${host}\` has no such file (${status}). Check the URL.`);
  }
  if (status === 401 || status === 403) {
    return new Failure(
      "provider_unauthorized",
      `\`${host}\` does not give this file without a login (${status}). Fetch it with your browser.`,
    );
  }
  return toHttpFailure(host, { status, headers, body: "" });
}

function toCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
