/** Files: upload, list, show, delete, download. */

import {
  deleteNamedFile,
  getNamedFile,
  readNamedFile,
} from "../../responses/containers/named-file.ts";
import { createFile, listFiles } from "../../responses/files/files.ts";
import { parseNewFile } from "../../responses/files/new-file.ts";
import type { ShelfParts } from "../../responses/shelf-parts.ts";
import { type ReceiveLimits, receiveFile } from "../receive-file.ts";
import { type Answer, type Route, type RouteCall, toDownload, toJson } from "../route.ts";

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
        toJson(await getNamedFile(parts, caller.tenant, params["id"] ?? "")),
    },
    {
      method: "DELETE",
      path: "/v1/files/:id",
      summary: "Delete a file, and take it out of every vector store",
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

async function upload(parts: FileRouteParts, { request, caller }: RouteCall): Promise<Answer> {
  const { limits } = parts;
  const file = await receiveFile(request, limits, async ({ filename, bytes, fields }) => {
    const asked = async () => parseNewFile(filename, await fields());
    return createFile(parts, caller.tenant, asked, { bytes, maxBytes: limits.maxBytes });
  });
  return toJson(file);
}

async function download(parts: FileRouteParts, { caller, params }: RouteCall): Promise<Answer> {
  const { tenant } = caller;
  const { file, mediaType, bytes } = await readNamedFile(parts, tenant, params["id"] ?? "");
  return toDownload(bytes, { filename: file.filename, bytes: file.bytes, type: mediaType });
}
