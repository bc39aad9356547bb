/** Creates a container for a client, with copies of the tenant's files in it. */

import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { copyToContainer } from "./container-files.ts";
import { type ContainerObject, deleteContainer, getContainer, putContainer } from "./containers.ts";
import type { NewContainer } from "./new-container.ts";

/** Removes everything when it rejects: with `not_found` if a file does not exist. */
export async function createContainer(
  parts: ShelfParts,
  tenant: string,
  asked: NewContainer,
  maxFileBytes: number,
): Promise<ContainerObject> {
  const containerId = parts.makeId("cntr");
  await putContainer(parts, tenant, containerId, asked);
  try {
    for (const fileId of asked.fileIds) {
      await copyToContainer(parts, { tenant, containerId }, fileId, maxFileBytes);
    }
    return await getContainer(parts, tenant, containerId);
  } catch (thrown) {
    await deleteContainer(parts, tenant, containerId);
    throw thrown;
  }
}
