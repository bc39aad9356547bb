/** Reads the body of a request as JSON: bounded in size, depth and time, and strictly UTF-8. */

import type { IncomingMessage } from "node:http";
import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import { isLargeJson, parseJsonBytes, parseLargeBytes } from "./json-text.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** The longest time until the whole body has arrived. */
  readonly timeoutMs: number;
}

/**
 * Each piece costs hundreds of bytes besides its own, and a client may send pieces of one byte: small pieces are
 * joined.
 */
const MAX_PIECES = 1024;

/** `owner` is the tenant: tenants take turns with large bodies. */
export async function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  owner: string,
): Promise<unknown> {
  checkEncoding(request);
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > limits.maxBytes) throw toTooLarge(limits.maxBytes);
  const bytes = readBuffered(request, length) ?? (await readBytes(request, limits));
  if (isLargeJson(bytes)) return await parseLargeBytes(bytes, { what: "The body", owner });
  return parseJsonBytes(bytes, "The body");
}

/** Bodies are not unpacked here: a small compressed body may have any size. */
export function checkEncoding({ headers }: Pick<IncomingMessage, "headers">): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  const message = `The body has the content encoding \`${clip(encoding, 40)}\`. Send it unencoded.`;
  throw new Failure("unsupported_encoding", message);
}

/** Most bodies come in one packet with their head and need no wait. Undefined for other bodies. */
function readBuffered(request: IncomingMessage, length: number): Buffer | undefined {
  if (length === 0 || request.readableLength !== length) return undefined;
  const bytes = request.read() as Buffer | null;
  request.resume();
  return bytes ?? undefined;
}

function readBytes(request: IncomingMessage, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client left while its key was looked up: no event tells of it any more.
    if (request.destroyed) return reject(toGone());
    const blocks: Buffer[] = [];
    let pieces: Buffer[] = [];
    let size = 0;
    const onData = (piece: Buffer): void => {
      size += piece.length;
      pieces.push(piece);
      if (size > maxBytes) fail(toTooLarge(maxBytes));
      if (pieces.length < MAX_PIECES) return;
      blocks.push(Buffer.concat(pieces));
      pieces = [];
    };
    const onEnd = (): void => {
      stop();
      const [first, ...rest] = [...blocks, ...pieces];
      resolve(first && rest.length === 0 ? first : Buffer.concat([...blocks, ...pieces]));
    };
    const onClose = (): void => fail(toGone());
    const onError = (cause: Error): void => fail(cause instanceof Failure ? cause : toGone());
    const timer = setTimeout(() => {
      fail(new Failure("slow_request", `The body did not arrive in ${timeoutMs / 1000} s.`));
    }, timeoutMs);
    /**
     * Also keeps the close of an answered request from making a failure, whose stack would cost time.
     */
    const stop = (): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
    };
    const fail = (failure: Failure): void => {
      stop();
      reject(failure);
    };
    request.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}

function toGone(): Failure {
  return new Failure("cancelled", "The client has gone away.");
}

function toTooLarge(maxBytes: number): Failure {
  return new Failure(
    "too_large",
    `The body is larger than ${maxBytes} bytes (\`server.max_body_bytes\`). Upload large content with \`POST /v1/files\`.`,
  );
}
