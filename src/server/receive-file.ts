/**
 * Receives a file of a form (`multipart/form-data`) and passes it on while it arrives. Form fields may stand before
 * or after the file, so they are only complete when the form has ended.
 */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Failure, toFailure } from "../base/failure.ts";
import { checkEncoding } from "./read-body.ts";

export interface ReceiveLimits {
  /** The largest size of the file. */
  readonly maxBytes: number;
  /** The longest time without a byte. */
  readonly idleMs: number;
}

export interface ReceivedFile {
  readonly filename: string;
  /** The reader must read it to its end, or leave with an error. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /**
   * The form's fields by name. Resolves when the form has ended, which is after the bytes of the file.
   */
  fields(): Promise<Readonly<Record<string, string>>>;
}

/** The most other fields of a form: names, purposes, dates. */
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 64 * 1024;
/** Room for boundaries and for the headers of the parts. */
const FORM_BYTES = 1024 * 1024;

/**
 * `keep` is called once, when the file begins; `keepFields` for a form without a file. Rejects with their errors, and
 * for a form without a `file` if there is no `keepFields`.
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
    // A form that breaks breaks its file, too. Its reader gets the error then; without a listener the process would
    // end if the reading has not begun, because a store on another machine is asked first.
    bytes.on("error", () => {});
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
    // The code that stores the file finishes first, because it may know better what went wrong.
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

/** Ends the form if the client goes away or sends nothing for too long: nothing else would. */
function watchRequest(request: IncomingMessage, form: Form, idleMs: number): { stop(): void } {
  const silent = setTimeout(() => {
    form.destroy(new Failure("slow_request", `Nothing came for ${idleMs / 1000} s.`));
  }, idleMs);
  const onData = (): void => void silent.refresh();
  const onClose = (): void => {
    if (!request.complete) form.destroy(new Failure("cancelled", "The client has gone away."));
  };
  request.on("data", onData);
  // Other errors are followed by the close.
  const onError = (cause: Error): void => {
    if (cause instanceof Failure) form.destroy(cause);
  };
  request.on("close", onClose);
  request.on("error", onError);
  // The client left while its key was looked up: no event tells of it any more.
  if (request.destroyed) onClose();
  return {
    stop() {
      clearTimeout(silent);
      request.off("data", onData);
      request.off("close", onClose);
      request.off("error", onError);
    },
  };
}

function toBrokenForm(cause: Error): Failure {
  if (cause instanceof Failure) return cause;
  return new Failure("invalid_request", `The form is broken: ${cause.message}.`, { cause });
}
