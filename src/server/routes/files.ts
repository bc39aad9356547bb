/** Files: upload, list, show, delete, download. */

import {
  createFile,
  deleteFile,
  getFile,
  listFiles,
  readFileContent,
} from "../../responses/files/files.ts";
import { parseNewFile } from "../../responses/files/new-file.ts";
import type { ShelfParts } from "../../responses/shelf-parts.ts";
import { type ReceiveLimits, receiveFile } from "../receive-file.ts";
import { type Answer, type Route, type RouteCall, toJson } from "../route.ts";

export interface FileRouteParts extends ShelfParts {
  readonly limits: ReceiveLimits;
  /** Called before a file is deleted: takes it out of whatever was made of it. */
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
        toJson(await getFile(parts, caller.tenant, params["id"] ?? "")),
    },
    {
      method: "DELETE",
      path: "/v1/files/:id",
      summary: "Delete a file, and take it out of every vector store",
      scope: "files",
      async handle({ caller: { tenant }, params }) {
        const id = params["id"] ?? "";
        await getFile(parts, tenant, id);
        await parts.forget(tenant, id);
        return toJson(await deleteFile(parts, tenant, id));
      },
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

async function upload(parts: FileRouteParts, { request, caller }: RouteCall): Promise<Answer> {
  const { limits } = parts;
  const file = await receiveFile(request, limits, async ({ filename, bytes, fields }) => {
    const asked = async () => parseNewFile(filename, await fields());
    return createFile(parts, caller.tenant, asked, { bytes, maxBytes: limits.maxBytes });
  });
  return toJson(file);
}

/** Always as something to save: a page that somebody uploaded must not run as one of this server. */
async function download(parts: FileRouteParts, { caller, params }: RouteCall): Promise<Answer> {
  const { tenant } = caller;
  const { file, mediaType, bytes } = await readFileContent(parts, tenant, params["id"] ?? "");
  return {
    kind: "bytes",
    type: mediaType,
    chunks: bytes,
    headers: {
      "content-length": String(file.bytes),
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
      "x-content-type-options": "nosniff",
    },
  };
}
