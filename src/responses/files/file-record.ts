/** How a file of a tenant is stored, found and shown. */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import { clip } from "../../base/text.ts";
import type { Thing, ThingName } from "../../store/shelf.ts";
import { type ShelfParts, toSeconds } from "../tenant/shelf-parts.ts";

export interface FileObject {
  readonly id: string;
  readonly object: "file";
  readonly bytes: number;
  readonly created_at: number;
  readonly expires_at?: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: "processed";
}

export interface KeptFile {
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly media_type: string;
  readonly ready: boolean;
}

export type FileReading = Pick<ShelfParts, "shelf" | "clock">;

export const FILE_KIND = "file";

export function nameFile(tenant: string, id: string): ThingName {
  return { tenant, kind: FILE_KIND, id };
}

export async function findFile(
  { shelf, clock }: FileReading,
  tenant: string,
  id: string,
): Promise<Thing> {
  const thing = await shelf.get(nameFile(tenant, id));
  if (thing && isThere(thing, clock.now())) return thing;
  throw toUnknownFile(id);
}

export function isThere(thing: Thing, nowMs: number): boolean {
  const { expires_at_ms } = thing;
  return readFile(thing).ready && (expires_at_ms === null || expires_at_ms > nowMs);
}

export function toFile(
  thing: Pick<Thing, "id" | "body" | "created_at_ms" | "expires_at_ms">,
): FileObject {
  const { filename, purpose, bytes } = readFile(thing);
  const { id, expires_at_ms } = thing;
  return {
    id,
    object: "file",
    bytes,
    created_at: toSeconds(thing.created_at_ms),
    ...(expires_at_ms === null ? {} : { expires_at: toSeconds(expires_at_ms) }),
    filename,
    purpose,
    status: "processed",
  };
}

const STORED = storedObject<KeptFile>("a file", ["filename", "bytes"]);

export function encodeFile(file: KeptFile): Json {
  return STORED.write(file);
}

export function readFile({ body }: Pick<Thing, "body">): KeptFile {
  return STORED.read(body);
}

export function toUnknownFile(id: string): Failure {
  const message = `There is no file \`${clip(id, 80)}\`.`;
  return new Failure("not_found", message, { param: "file_id" });
}
