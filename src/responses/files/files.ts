/**
 * Files in the API's form, over a shelf. A file exists once all its bytes are stored: before that its thing has
 * `ready: false`, is shown to no client, and expires by itself if the process dies.
 */

import { Failure } from "../../base/failure.ts";
import type { Shelf, Thing } from "../../store/shelf.ts";
import { type ListPage, type Paging, parsePaging, toWholePage } from "../tenant/paging.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import {
  encodeFile,
  FILE_KIND,
  type FileObject,
  type FileReading,
  findFile,
  isThere,
  type KeptFile,
  nameFile,
  readFile,
  toFile,
  toUnknownFile,
} from "./file-record.ts";
import { toMediaType } from "./media-type.ts";
import type { NewFile } from "./new-file.ts";

/** An upload that has not ended by then has been interrupted. */
const MAX_UPLOAD_MS = 24 * 60 * 60 * 1000;

/** The API's own limit, for lists and for the files of a request. */
const MAX_LISTED = 10_000;
const MAX_INPUT_BYTES = 50 * 1024 * 1024;

/** Rows that are read at a time for a list that leaves some out. */
const READ_FILES = 500;

export interface DeletedFile {
  readonly id: string;
  readonly object: "file";
  readonly deleted: true;
}

/** The bytes of an upload; they are read to their end, or to the limit. */
export interface FileBytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly maxBytes: number;
}

/**
 * Removes everything when it rejects: with `invalid_request` over the limit, or with the stream's error. `asked`
 * may only be known after the bytes: a form's fields may stand after its file.
 */
export async function createFile(
  { shelf, clock, makeId }: ShelfParts,
  tenant: string,
  asked: NewFile | (() => Promise<NewFile>),
  { bytes, maxBytes }: FileBytes,
): Promise<FileObject> {
  const name = nameFile(tenant, makeId("file").replace("_", "-"));
  const created_at_ms = clock.now();
  const unready: KeptFile = { filename: "", purpose: "", bytes: 0, media_type: "", ready: false };
  const upload = {
    ...name,
    parent: null,
    created_at_ms,
    expires_at_ms: created_at_ms + MAX_UPLOAD_MS,
  };
  await shelf.put({ ...upload, body: encodeFile(unready) });
  try {
    const seen = { head: new Uint8Array(0) };
    const written = await shelf.writeContent(name, watch(bytes, maxBytes, seen));
    const { filename, purpose, expiresAfterMs } =
      typeof asked === "function" ? await asked() : asked;
    const media_type = toMediaType(filename, seen.head);
    const kept: KeptFile = { filename, purpose, bytes: written, media_type, ready: true };
    const expires_at_ms = expiresAfterMs === undefined ? null : created_at_ms + expiresAfterMs;
    const body = encodeFile(kept);
    const changed = await shelf.change(
      name,
      () => body,
      () => expires_at_ms,
    );
    if (changed === undefined) throw toUnknownFile(name.id);
    return toFile({ ...upload, expires_at_ms, body });
  } catch (thrown) {
    await shelf.delete(name);
    throw thrown;
  }
}

/** Passes the bytes on, remembers their beginning, and stops at the limit. */
async function* watch(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  seen: { head: Uint8Array },
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.byteLength;
    if (count > maxBytes) throw toTooLarge(maxBytes, "file");
    if (seen.head.length < HEAD_BYTES) {
      seen.head = Buffer.concat([seen.head, chunk]).subarray(0, HEAD_BYTES);
    }
    yield chunk;
  }
}

/** The bytes that `toMediaType` examines. */
const HEAD_BYTES = 4096;

/**
 * Rejects with `not_found` if the file does not exist or it has expired, as all functions here do.
 */
export async function getFile(parts: FileReading, tenant: string, id: string): Promise<FileObject> {
  return toFile(await findFile(parts, tenant, id));
}

/** `query` is that of the address: `purpose`, `limit`, `order`, `after`. */
export async function listFiles(
  { shelf, clock }: FileReading,
  tenant: string,
  query: URLSearchParams,
): Promise<ListPage<FileObject>> {
  const limits = { defaultLimit: MAX_LISTED, maxLimit: MAX_LISTED };
  const paging = parsePaging(query, { defaultOrder: "desc", ...limits });
  const purpose = query.get("purpose") || undefined;
  const nowMs = clock.now();
  const isWanted = (thing: Thing): boolean =>
    isThere(thing, nowMs) && (purpose === undefined || readFile(thing).purpose === purpose);
  const found = await collect(shelf, tenant, { paging, isWanted });
  return toWholePage(found.slice(0, paging.limit).map(toFile), found.length > paging.limit);
}

interface Wanted {
  readonly paging: Paging;
  readonly isWanted: (thing: Thing) => boolean;
}

/** One more than the page if there are more. Files of other purposes take no place. */
async function collect(
  shelf: Shelf,
  tenant: string,
  { paging, isWanted }: Wanted,
): Promise<Thing[]> {
  const found: Thing[] = [];
  const order = paging.order === "asc" ? "oldest" : "newest";
  let { after } = paging;
  for (;;) {
    const among = { tenant, kind: FILE_KIND, order, limit: READ_FILES } as const;
    const things = await shelf.list({ ...among, after });
    found.push(...things.filter(isWanted));
    after = things.at(-1)?.id;
    if (things.length < READ_FILES || found.length > paging.limit) return found;
  }
}

export async function deleteFile(
  parts: FileReading,
  tenant: string,
  id: string,
): Promise<DeletedFile> {
  await findFile(parts, tenant, id);
  await parts.shelf.delete(nameFile(tenant, id));
  return { id, object: "file", deleted: true };
}

export interface FileContent {
  readonly file: FileObject;
  readonly mediaType: string;
  readonly bytes: AsyncGenerator<Uint8Array>;
}

export async function readFileContent(
  parts: FileReading,
  tenant: string,
  id: string,
): Promise<FileContent> {
  const thing = await findFile(parts, tenant, id);
  const bytes = parts.shelf.readContent(nameFile(tenant, id));
  return { file: toFile(thing), mediaType: readFile(thing).media_type, bytes };
}

export interface FileParts {
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/**
 * A complete file, as a part of a request needs it. Rejects with `invalid_request` above `maxBytes`.
 */
export async function readFileParts(
  parts: FileReading,
  tenant: string,
  id: string,
  maxBytes = MAX_INPUT_BYTES,
): Promise<FileParts> {
  const { file, mediaType, bytes } = await readFileContent(parts, tenant, id);
  if (file.bytes > maxBytes) throw toTooLarge(maxBytes, "file_id");
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return { filename: file.filename, mediaType, bytes: Buffer.concat(pieces) };
}

function toTooLarge(maxBytes: number, param: string): Failure {
  const message = `The file is larger than ${maxBytes} bytes, which is the limit. Give a smaller one.`;
  return new Failure("invalid_request", message, { param });
}
