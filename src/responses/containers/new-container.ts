/** Parses the request for a new container. */

import { z } from "zod";
import { cutToChars } from "../../base/text.ts";
import { JsonObject, open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";

export const MEMORY_LIMITS = ["1g", "4g", "16g", "64g"] as const;
export type MemoryLimit = (typeof MEMORY_LIMITS)[number];

/** The size of each in bytes. */
export function toBytes(limit: MemoryLimit): number {
  return Number.parseInt(limit, 10) * 1024 ** 3;
}

export interface NewContainer {
  readonly name: string;
  /** Files of the tenant that are copied into it. */
  readonly fileIds: readonly string[];
  /** How long it lives after its last use. */
  readonly minutes: number;
  readonly memoryLimit: MemoryLimit;
}

/** The API's own default. */
export const IDLE_MINUTES = 20;
/** A week: data that lives longer should be a file. */
const MAX_MINUTES = 7 * 24 * 60;
const MAX_NAME_CHARS = 256;
/** The API's own limit. */
const MAX_FILES = 50;

export const NewContainerBody = open({
  name: z.string().min(1),
  file_ids: z.array(z.string()).max(MAX_FILES).nullable().optional(),
  expires_after: open({
    anchor: z.enum(["last_active_at"]),
    minutes: z.int().min(1).max(MAX_MINUTES),
  })
    .nullable()
    .optional(),
  memory_limit: z.enum(MEMORY_LIMITS).nullable().optional(),
  network_policy: JsonObject.nullable().optional(),
});

/** Rejects an invalid field by its name. */
export function parseNewContainer(body: unknown): NewContainer {
  const asked = parseAs(NewContainerBody, body, "request");
  return {
    name: cutToChars(asked.name, MAX_NAME_CHARS),
    fileIds: asked.file_ids ?? [],
    minutes: asked.expires_after?.minutes ?? IDLE_MINUTES,
    memoryLimit: asked.memory_limit ?? "1g",
  };
}
