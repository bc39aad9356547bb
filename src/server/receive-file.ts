/**
 * A file that comes as a form (`multipart/form-data`), handed on while it arrives. Its fields may stand
 * before it or behind it, so that they are known for certain when the form has ended.
 */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Failure, toFailure } from "../base/failure.ts";
import { checkEncoding } from "./read-body.ts";

export interface ReceiveLimits {
  /** Of the file. */
  readonly maxBytes: number;
  /** Most time without a byte. */
  readonly idleMs: number;
}

export interface ReceivedFile {
  readonly filename: string;
  /** Read to its end, or left with an error. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The form's fields by name; resolves when the form has ended, which is behind the file's bytes. */
  fields(): Promise<Readonly<Record<string, string>>>;
}

/** What else a form has: names, purposes, dates. */
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 64 * 1024;
/** Boundaries and headers of the parts. */
const FORM_BYTES = 1024 * 1024;

/**
 * `keep` is called once, when the file begins; `keepFields` for a form without one. Rejects as they do,
 * and for a form without a `file` where there is no `keepFields`.
 */
export async function receiveFile<Kept>(
  request: IncomingMessage,
  { maxBytes, idleMs }: ReceiveLimits,
  keep: (file: ReceivedFile) => Promise<Kept>,
  keepFields?: (fields: Readonly<Record<string, string>>) => Promise<Kept>,
): Promise<Kept> {
  checkEncoding(request);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes + FORM_BYTES) {
    const message = `The file is larger than ${maxBytes} bytes, which is the limit. Give a smaller one.`;
    throw new Failure("too_large", message, { param: "file" });
  }
  const form = await openForm(request);
  const fields: Record<string, string> = {};
  const keeping: Promise<Kept>[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    form.once("close", resolve);
    form.once("error", (cause: Error) => reject(toBrokenForm(cause)));
  });
  ended.catch(() => {});
  form.on("field", (name: string, value: string) => {
    fields[name] = value;
  });
  form.on("file", (name: string, bytes: Readable, { filename }: { filename?: string }) => {
    if (name !== "file" || keeping.length > 0) {
      bytes.resume();
      return;
    }
    const whenAll = (): Promise<Record<string, string>> => ended.then(() => fields);
    const kept = keep({ filename: filename ?? "", bytes, fields: whenAll });
    keeping.push(kept);
    kept.catch((thrown: unknown) => form.destroy(toFailure(thrown)));
  });
  const watch = watchRequest(request, form, idleMs);
  request.pipe(form);
  try {
    await ended;
  } catch (thrown) {
    // Whoever keeps the file is done with it before anybody hears, and may know better what went wrong.
    const [kept] = await Promise.allSettled(keeping);
    throw kept?.status === "rejected" && kept.reason instanceof Failure ? kept.reason : thrown;
  } finally {
    watch.stop();
    request.unpipe(form);
  }
  const [kept] = keeping;
  if (kept !== undefined) return await kept;
  if (keepFields) return await keepFields(fields);
  throw new Failure("invalid_request", "The form has no part `file`.", { param: "file" });
}

type Form = Awaited<ReturnType<typeof openForm>>;

async function openForm(request: IncomingMessage) {
  const { default: busboy } = await import("busboy");
  const limits = {
    files: 1,
    fields: MAX_FIELDS,
    fieldSize: MAX_FIELD_BYTES,
    parts: MAX_FIELDS + 1,
  };
  try {
    return busboy({ headers: request.headers, limits, defParamCharset: "utf8" });
  } catch (cause) {
    const message = "The body must be a form: `multipart/form-data` with a part `file`.";
    throw new Failure("invalid_request", message, { cause });
  }
}

/** Ends the form where the client goes away or falls silent: nothing else would. */
function watchRequest(request: IncomingMessage, form: Form, idleMs: number): { stop(): void } {
  const silent = setTimeout(() => {
    form.destroy(new Failure("slow_request", `Nothing came for ${idleMs / 1000} s.`));
  }, idleMs);
  const onData = (): void => void silent.refresh();
  const onClose = (): void => {
    if (!request.complete) form.destroy(new Failure("cancelled", "The client has gone away."));
  };
  request.on("data", onData);
  request.on("close", onClose);
  return {
    stop() {
      clearTimeout(silent);
      request.off("data", onData);
      request.off("close", onClose);
    },
  };
}

function toBrokenForm(cause: Error): Failure {
  if (cause instanceof Failure) return cause;
  return new Failure("invalid_request", `The form is broken: ${cause.message}.`, { cause });
}
