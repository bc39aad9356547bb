/**
 * Files by their ids alone: uploaded ones, and those that code wrote into a container. A `file_path` annotation names
 * no container, and its file can be read like any other.
 */

import type { FileObject } from "../files/file-record.ts";
import {
  type DeletedFile,
  deleteFile,
  type FileContent,
  getFile,
  readFileContent,
} from "../files/files.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import {
  type ContainerFileObject,
  deleteContainerFile,
  findContainerOf,
  getContainerFile,
  readContainerFile,
} from "./container-files.ts";
import type { ContainerName } from "./container-name.ts";
import { touchContainer } from "./containers.ts";

type Reading = Pick<ShelfParts, "shelf" | "clock">;

/** Rejects with `not_found` if the file does not exist or it has expired, as all of these do. */
export async function getNamedFile(
  parts: Reading,
  tenant: string,
  id: string,
): Promise<FileObject> {
  const container = await findUsed(parts, tenant, id);
  if (!container) return await getFile(parts, tenant, id);
  return toFile(await getContainerFile(parts.shelf, container, id));
}

export async function readNamedFile(
  parts: Reading,
  tenant: string,
  id: string,
): Promise<FileContent> {
  const container = await findUsed(parts, tenant, id);
  if (!container) return await readFileContent(parts, tenant, id);
  const file = toFile(await getContainerFile(parts.shelf, container, id));
  const bytes = await readContainerFile(parts.shelf, container, id);
  return { file, mediaType: "application/octet-stream", bytes };
}

/**
 * `forget` removes an uploaded file from everything that was made of it. It is called before the file is deleted, so
 * that a crash leaves a file that can be deleted again, and after: a vector store may be given a file, and read it,
 * while it is being deleted. A file that is gone is forgotten too, because a crash may have come between the two.
 */
export async function deleteNamedFile(
  parts: Reading,
  tenant: string,
  id: string,
  forget: (tenant: string, id: string) => Promise<void>,
): Promise<DeletedFile> {
  const container = await findUsed(parts, tenant, id);
  if (container) {
    await deleteContainerFile(parts.shelf, container, id);
    return { id, object: "file", deleted: true };
  }
  await forget(tenant, id);
  const deleted = await deleteFile(parts, tenant, id);
  await forget(tenant, id);
  return deleted;
}

/** Each use of a container's files extends its life. */
async function findUsed(
  parts: Reading,
  tenant: string,
  id: string,
): Promise<ContainerName | undefined> {
  const container = await findContainerOf(parts.shelf, tenant, id);
  if (container) await touchContainer(parts, tenant, container.containerId);
  return container;
}

/** Files that code wrote have the published purpose `assistants_output`. */
function toFile({ id, bytes, created_at, path, source }: ContainerFileObject): FileObject {
  return {
    id,
    object: "file",
    bytes,
    created_at,
    filename: path.slice(path.lastIndexOf("/") + 1),
    purpose: source === "user" ? "user_data" : "assistants_output",
    status: "processed",
  };
}
