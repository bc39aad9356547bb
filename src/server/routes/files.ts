/** Routes of files: upload, list, show, delete, download. */

import { createHash, type Hash } from "node:crypto";
import {
  deleteNamedFile,
  getNamedFile,
  readNamedFile,
} from "../../responses/containers/named-file.ts";
import type { FileObject } from "../../responses/files/file-record.ts";
import { createFile, deleteFile, getFile, listFiles } from "../../responses/files/files.ts";
import { parseNewFile } from "../../responses/files/new-file.ts";
import { keepFirst, type Once, readOnce, toOnceKey } from "../../responses/tenant/idempotency.ts";
import type { ShelfParts } from "../../responses/tenant/shelf-parts.ts";
import { type ReceiveLimits, receiveFile } from "../receive-file.ts";
import { type Route, type RouteAnswer, type RouteCall, toDownload, toJson } from "../route.ts";

export interface FileRouteParts extends ShelfParts {
  /** The server's own secret. */
  readonly sealKey: Uint8Array;
  readonly limits: ReceiveLimits;
  /**
   * Called before a file is deleted: removes it from everything that was made of it, such as vector stores.
   */
  readonly forget: (tenant: string, id: string) => Promise<void>;
}

/** The API's own limit for one file. */
export const FILE_LIMITS: ReceiveLimits = { maxBytes: 512 * 1024 * 1024, idleMs: 30_000 };

export function createFileRoutes(parts: FileRouteParts): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/files",
      summary: "Upload a file",
      scope: "files",
      handle: (call) => upload(parts, call),
    },
    {
      method: "GET",
      path: "/v1/files",
      summary: "List files, of one purpose or all",
      scope: "files",
      handle: async ({ caller, query }) => toJson(await listFiles(parts, caller.tenant, query)),
    },
    {
      method: "GET",
      path: "/v1/files/:id",
      summary: "Show a file's name, size and purpose",
      scope: "files",
      handle: async ({ caller, params }) =>
        toJson(await getNamedFile(parts, caller.tenant, params["id"] ?? "")),
    },
    {
      method: "DELETE",
      path: "/v1/files/:id",
      summary: "Delete a file, and remove it from every vector store",
      scope: "files",
      handle: async ({ caller: { tenant }, params }) =>
        toJson(await deleteNamedFile(parts, tenant, params["id"] ?? "", parts.forget)),
    },
    {
      method: "GET",
      path: "/v1/files/:id/content",
      summary: "Download a file",
      scope: "files",
      handle: (call) => download(parts, call),
    },
  ];
}

async function upload(parts: FileRouteParts, call: RouteCall): Promise<RouteAnswer> {
  const { limits } = parts;
  const { maxBytes } = limits;
  const { tenant } = call.caller;
  const sent = readOnce(call.request.headers, "POST /v1/files", undefined);
  const file = await receiveFile(call.request, limits, async ({ filename, bytes, fields }) => {
    const asked = async () => parseNewFile(filename, await fields());
    if (!sent) return await createFile(parts, tenant, asked, { bytes, maxBytes });
    const digest = createHash("sha256");
    const made = await createFile(parts, tenant, asked, { bytes: watch(bytes, digest), maxBytes });
    // The form is only known when all of it has arrived.
    const body = { filename, fields: await fields(), sha256: digest.digest("hex") };
    return await keepOnce(parts, tenant, made, { ...sent, body });
  });
  return toJson(file);
}

async function* watch(bytes: AsyncIterable<Uint8Array>, digest: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    digest.update(chunk);
    yield chunk;
  }
}

/** Keeps the first file that was sent with the idempotency key. A later one is deleted again. */
async function keepOnce(
  parts: FileRouteParts,
  tenant: string,
  made: FileObject,
  once: Once,
): Promise<FileObject> {
  const { shelf, clock, sealKey } = parts;
  const undo = (): Promise<unknown> => deleteFile(parts, tenant, made.id);
  const key = await toOnceKey(once, tenant, sealKey);
  const first = await keepFirst(shelf, key, { made: made.id, undo }, clock.now());
  return first === made.id ? made : await getFile(parts, tenant, first);
}

async function download(
  parts: FileRouteParts,
  { caller, params }: RouteCall,
): Promise<RouteAnswer> {
  const { tenant } = caller;
  const { file, mediaType, bytes } = await readNamedFile(parts, tenant, params["id"] ?? "");
  return toDownload(bytes, { filename: file.filename, bytes: file.bytes, type: mediaType });
}
