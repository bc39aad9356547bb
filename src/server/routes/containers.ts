/** Routes of containers and their files: make, list, show, delete, upload, download. */

import { z } from "zod";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import {
  type ContainerFileObject,
  copyToContainer,
  deleteContainerFile,
  getContainerFile,
  pageContainerFiles,
  readContainerFile,
  toUploadName,
  writeContainerFile,
} from "../../responses/containers/container-files.ts";
import type { ContainerName } from "../../responses/containers/container-name.ts";
import {
  deleteContainer,
  getContainer,
  listContainers,
  touchContainer,
} from "../../responses/containers/containers.ts";
import { createContainer } from "../../responses/containers/create-container.ts";
import { parseNewContainer } from "../../responses/containers/new-container.ts";
import type { ShelfParts } from "../../responses/tenant/shelf-parts.ts";
import { type ReceiveLimits, receiveFile } from "../receive-file.ts";
import { type Route, type RouteAnswer, type RouteCall, toDownload, toJson } from "../route.ts";

export interface ContainerRouteParts extends ShelfParts {
  readonly limits: ReceiveLimits;
}

/** Files that code works on pass the memory of its interpreter. */
export const CONTAINER_FILE_LIMITS: ReceiveLimits = {
  maxBytes: 64 * 1024 * 1024,
  idleMs: 30_000,
};

export function createContainerRoutes(parts: ContainerRouteParts): Route[] {
  return [...createOwnRoutes(parts), ...createFilesRoutes(parts)];
}

function createOwnRoutes(parts: ContainerRouteParts): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/containers",
      summary: "Make a container for code and its files",
      scope: "files",
      async handle({ caller, json }) {
        const asked = parseNewContainer(await json());
        return toJson(await createContainer(parts, caller.tenant, asked, parts.limits.maxBytes));
      },
    },
    {
      method: "GET",
      path: "/v1/containers",
      summary: "List containers, of one name or all",
      scope: "files",
      handle: async ({ caller, query }) =>
        toJson(await listContainers(parts, caller.tenant, query)),
    },
    {
      method: "GET",
      path: "/v1/containers/:id",
      summary: "Show a container",
      scope: "files",
      handle: async ({ caller, params }) =>
        toJson(await getContainer(parts, caller.tenant, params["id"] ?? "")),
    },
    {
      method: "DELETE",
      path: "/v1/containers/:id",
      summary: "Delete a container and its files",
      scope: "files",
      handle: async ({ caller, params }) =>
        toJson(await deleteContainer(parts, caller.tenant, params["id"] ?? "")),
    },
  ];
}

function createFilesRoutes(parts: ContainerRouteParts): Route[] {
  const { shelf } = parts;
  return [
    {
      method: "POST",
      path: "/v1/containers/:id/files",
      summary: "Add a file to a container: upload it, or copy an uploaded one",
      scope: "files",
      handle: (call) => addFile(parts, call),
    },
    {
      method: "GET",
      path: "/v1/containers/:id/files",
      summary: "List a container's files",
      scope: "files",
      handle: async (call) =>
        toJson(await pageContainerFiles(shelf, await find(parts, call), call.query)),
    },
    {
      method: "GET",
      path: "/v1/containers/:id/files/:file",
      summary: "Show a container's file",
      scope: "files",
      handle: async (call) =>
        toJson(await getContainerFile(shelf, await find(parts, call), fileOf(call))),
    },
    {
      method: "DELETE",
      path: "/v1/containers/:id/files/:file",
      summary: "Delete a container's file",
      scope: "files",
      handle: async (call) =>
        toJson(await deleteContainerFile(shelf, await find(parts, call), fileOf(call))),
    },
    {
      method: "GET",
      path: "/v1/containers/:id/files/:file/content",
      summary: "Download a container's file",
      scope: "files",
      handle: (call) => download(parts, call),
    },
  ];
}

/** Each use of a container's files extends its life. */
async function find(
  parts: ContainerRouteParts,
  { caller: { tenant }, params }: RouteCall,
): Promise<ContainerName> {
  const { id: containerId } = await touchContainer(parts, tenant, params["id"] ?? "");
  return { tenant, containerId };
}

function fileOf({ params }: RouteCall): string {
  return params["file"] ?? "";
}

const CopiedFile = open({ file_id: z.string() });

async function addFile(parts: ContainerRouteParts, call: RouteCall): Promise<RouteAnswer> {
  const container = await find(parts, call);
  const { maxBytes } = parts.limits;
  const isForm = call.request.headers["content-type"]?.startsWith("multipart/form-data");
  const copy = (asked: unknown): Promise<ContainerFileObject> => {
    const { file_id } = parseAs(CopiedFile, asked, "request");
    return copyToContainer(parts, container, file_id, maxBytes);
  };
  if (!isForm) return toJson(await copy(await call.json()));
  const keep = ({
    filename,
    bytes,
  }: {
    readonly filename: string;
    readonly bytes: AsyncIterable<Uint8Array>;
  }): Promise<ContainerFileObject> =>
    writeContainerFile(parts, container, {
      path: toUploadName(filename),
      source: "user",
      bytes,
      maxBytes,
    });
  return toJson(await receiveFile(call.request, parts.limits, keep, copy));
}

async function download(parts: ContainerRouteParts, call: RouteCall): Promise<RouteAnswer> {
  const container = await find(parts, call);
  const { bytes, path } = await getContainerFile(parts.shelf, container, fileOf(call));
  const filename = path.slice(path.lastIndexOf("/") + 1);
  const chunks = await readContainerFile(parts.shelf, container, fileOf(call));
  return toDownload(chunks, { filename, bytes, type: "application/octet-stream" });
}
