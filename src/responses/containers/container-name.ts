/** How a container is named, on the shelf and where there is none of that name. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { ThingName } from "../../store/shelf.ts";

export const CONTAINER_KIND = "container";

/** A container of a tenant. */
export interface ContainerName {
  readonly tenant: string;
  readonly containerId: string;
}

export function nameContainer({ tenant, containerId: id }: ContainerName): ThingName {
  return { tenant, kind: CONTAINER_KIND, id };
}

export function toUnknownContainer(id: string): Failure {
  const message = `There is no container \`${clip(id, 80)}\`, or it has expired.`;
  return new Failure("not_found", message, { param: "container_id" });
}
