/**
 * Finds the container that a tool of a request names, or makes a new one. A new one has an id made from the run's, so
 * that a resumed run finds it again. It is stored by the first call that needs it.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import { getFile } from "../files/files.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { copyToContainer } from "./container-files.ts";
import { getContainer, isAlive, putContainer, touchContainer } from "./containers.ts";
import { IDLE_MINUTES, MEMORY_LIMITS, type MemoryLimit } from "./new-container.ts";

/** The container of a request: an id, or the properties of a new one. */
export interface ContainerWish {
  readonly id?: string | undefined;
  readonly fileIds?: readonly string[] | undefined;
  readonly memoryLimit?: string | null | undefined;
}

export interface ChosenContainer {
  readonly tenant: string;
  readonly containerId: string;
  readonly memoryLimit: MemoryLimit;
  /** Creates it if it is new, and marks it as used. Called before each call. */
  use(): Promise<void>;
}

/** The limit on all files that are copied in with one request. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Rejects with `invalid_request` if a container or a file does not exist. */
export async function chooseContainer(
  parts: ShelfParts,
  request: KindRequest,
  wish: ContainerWish,
): Promise<ChosenContainer> {
  const { tenant } = request;
  const { fileIds = [] } = wish;
  try {
    for (const fileId of fileIds) await getFile(parts, tenant, fileId);
    const containerId = wish.id ?? (await findUsed(parts, request)) ?? toContainerId(request);
    if (wish.id !== undefined) await getContainer(parts, tenant, containerId);
    const isOwn = containerId === toContainerId(request);
    const memoryLimit = isOwn
      ? toMemoryLimit(wish.memoryLimit)
      : (await getContainer(parts, tenant, containerId)).memory_limit;
    const made = { name: "auto", minutes: IDLE_MINUTES, memoryLimit };
    return {
      tenant,
      containerId,
      memoryLimit,
      async use() {
        if (isOwn) await putContainer(parts, tenant, containerId, made);
        await touchContainer(parts, tenant, containerId);
        for (const fileId of fileIds) {
          await copyToContainer(parts, { tenant, containerId }, fileId, MAX_FILE_BYTES);
        }
      },
    };
  } catch (thrown) {
    const { message } = toFailure(thrown);
    throw new Failure("invalid_request", message, { param: "tools", cause: thrown });
  }
}

/** The conversation's last container, if it still exists: computation continues there. */
async function findUsed(parts: ShelfParts, request: KindRequest): Promise<string | undefined> {
  const { items = [] } = request;
  const id = items.map(containerOf).findLast((one) => one !== undefined);
  if (id === undefined || !(await isAlive(parts, request.tenant, id))) return undefined;
  return id;
}

function containerOf(item: Item): string | undefined {
  if (item.type === "code_interpreter_call") return item.container_id;
  const id = item.type === "shell_call" ? item.environment?.["container_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

function toContainerId({ runId }: KindRequest): string {
  return `cntr_${runId.replace(/^run_/, "").replace(/[^a-zA-Z0-9]/g, "_")}`;
}

function toMemoryLimit(wish: string | null | undefined): MemoryLimit {
  return MEMORY_LIMITS.find((limit) => limit === wish) ?? "1g";
}
