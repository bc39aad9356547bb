/** Checks a request's images and files before it runs: do they exist, and are they allowed. */

import { Failure, toFailure } from "../../base/failure.ts";
import { getFile } from "../files/files.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { type MediaPart, type PlacedMedia, urlOf } from "./media-parts.ts";
import { checkMediaUrl, type WebMediaSettings } from "./web-media.ts";

export interface MediaOwner {
  readonly kept: Pick<ShelfParts, "shelf" | "clock">;
  readonly tenant: string;
  readonly web: WebMediaSettings;
}

/**
 * The most bytes of files and fetched pages in one request to a model. Each part is a copy of its own, also of the
 * same file.
 */
export const MAX_MEDIA_BYTES = 64_000_000;

/** The tenant and key of a request, and the model's vendor. */
export interface MediaReader extends MediaOwner, Pick<Caller, "keyId"> {
  /** True if the model's vendor reads this address itself. */
  readonly readsItself: (url: string) => boolean;
}

/** Rejects with `invalid_request` and the place: `input[0].content[1].file_id`. */
export async function checkMedia(media: readonly PlacedMedia[], owner: MediaReader): Promise<void> {
  let bytes = 0;
  for (const { part, path } of media) {
    try {
      bytes += await checkPart(part, owner);
      if (bytes > MAX_MEDIA_BYTES) throw toTooMuchMedia();
    } catch (thrown) {
      const { code, message } = toFailure(thrown);
      if (code === "internal") throw thrown;
      const param = `${path}.${fieldOf(part)}`;
      throw new Failure("invalid_request", message, { param, cause: thrown });
    }
  }
}

/** The number of bytes that it stands for, as far as that is known. */
async function checkPart(part: MediaPart, asking: MediaReader): Promise<number> {
  const { kept, tenant, web, keyId, readsItself } = asking;
  const url = urlOf(part);
  const bucket = url && readsItself(url) ? bucketOf(url) : undefined;
  if (bucket !== undefined) checkBucket(bucket, web, keyId);
  else if (url !== undefined) await checkMediaUrl(url, web);
  return part.file_id ? (await getFile(kept, tenant, part.file_id)).bytes : 0;
}

const BUCKET = /^(?:s3|gs):\/\/([a-z0-9][a-z0-9._-]*)\/./;

/** The bucket of a file in a cloud's storage; undefined for any other address. */
function bucketOf(url: string): string | undefined {
  return BUCKET.exec(url)?.[1];
}

/**
 * The vendor reads it with the operator's rights, and not everyone with a key may read the operator's buckets.
 */
function checkBucket(
  bucket: string,
  { privateHosts = [] }: WebMediaSettings,
  keyId: string | null,
): void {
  if (keyId === null || privateHosts.includes(bucket)) return;
  const message = `The bucket \`${bucket}\` would be read with the rights of this server. Its operator can allow that: name it in \`web_private_hosts\`.`;
  throw new Failure("invalid_request", message);
}

export function toTooMuchMedia(): Failure {
  const message = `The images and files of the conversation have more than ${MAX_MEDIA_BYTES} bytes together.`;
  return new Failure("invalid_request", message, { param: "input" });
}

function fieldOf(part: MediaPart): string {
  if (part.file_id) return "file_id";
  return part.type === "input_file" ? "file_url" : "image_url";
}
