/** What can be said of a request's images and files before it runs: whether they are there and allowed. */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import { getFile } from "../files/files.ts";
import type { ShelfParts } from "../shelf-parts.ts";
import { findMedia, type MediaPart, urlOf } from "./media-parts.ts";
import { checkMediaUrl, type WebMediaSettings } from "./web-media.ts";

export interface MediaOwner {
  readonly kept: Pick<ShelfParts, "shelf" | "clock">;
  readonly tenant: string;
  readonly web: WebMediaSettings;
}

/** Rejects with `invalid_request` and the place: `input[0].content[1].file_id`. */
export async function checkMedia(items: readonly Item[], owner: MediaOwner): Promise<void> {
  for (const { part, path } of findMedia(items)) {
    try {
      await checkPart(part, owner);
    } catch (thrown) {
      const { code, message } = toFailure(thrown);
      if (code === "internal") throw thrown;
      const param = `${path}.${fieldOf(part)}`;
      throw new Failure("invalid_request", message, { param, cause: thrown });
    }
  }
}

async function checkPart(part: MediaPart, { kept, tenant, web }: MediaOwner): Promise<void> {
  if (part.file_id) await getFile(kept, tenant, part.file_id);
  const url = urlOf(part);
  if (url !== undefined) await checkMediaUrl(url, web);
}

function fieldOf(part: MediaPart): string {
  if (part.file_id) return "file_id";
  return part.type === "input_file" ? "file_url" : "image_url";
}
