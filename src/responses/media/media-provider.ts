/**
 * Wraps a provider so that its requests contain their images and files: uploaded ones are read, those at an address
 * are fetched if the vendor does not do that itself, and a document that the model does not read becomes its text.
 * The record keeps what the client wrote; only the model gets the bytes.
 */

import type { Clock } from "../../base/clock.ts";
import { countJsonChars } from "../../base/json-size.ts";
import { createTurnstile } from "../../base/turnstile.ts";
import type { Provider } from "../../providers/provider.ts";
import { readFileParts } from "../files/files.ts";
import { MAX_MEDIA_BYTES, type MediaOwner, toTooMuchMedia } from "./check-media.ts";
import { findUnread, type ReadsDocuments, toTextPart } from "./document-text.ts";
import { changeMedia, findMedia, type MediaPart, urlOf } from "./media-parts.ts";
import { createWebMedia, type FetchedMedia } from "./web-media.ts";

/** The kinds of addresses that a vendor fetches itself. */
export interface TakesUrls {
  readonly images: boolean;
  readonly files: boolean;
}

/** The media that the vendor of a model reads itself. */
export interface VendorMedia {
  readonly takes: TakesUrls;
  /** True if the vendor reads this address itself, whatever else it fetches. */
  readonly readsItself: (url: string) => boolean;
  readonly reads: ReadsDocuments;
}

export interface MediaParts extends MediaOwner, VendorMedia {
  readonly clock: Clock;
}

export function provideMedia(provider: Provider, parts: MediaParts): Provider {
  const load = createLoader(parts);
  return {
    name: provider.name,
    stream(request, call) {
      const needed = findMedia(request.items).some(({ part }) => isNeeded(part, parts));
      // Most requests have none, and each generator in between costs time for every event of the answer.
      return needed ? streamWhole(provider, load, [request, call]) : provider.stream(request, call);
    },
  };
}

type Asked = Parameters<Provider["stream"]>;

async function* streamWhole(
  provider: Provider,
  load: Load,
  [request, call]: Asked,
): ReturnType<Provider["stream"]> {
  const take = limitLoad(load);
  const items = await changeMedia(request.items, (part) => take(part, call.signal));
  yield* provider.stream({ ...request, items }, call);
}

/** The most reads at once: what does not fit is not even requested. */
const MAX_AT_ONCE = 4;
/** The size of a byte in base64. */
const CHARS_A_BYTE = 4 / 3;

/** For one request, which holds each part whole. Rejects if all together are too large. */
function limitLoad(load: Load): Load {
  const turnstile = createTurnstile(MAX_AT_ONCE);
  let left = MAX_MEDIA_BYTES * CHARS_A_BYTE;
  return async (part, signal) => {
    const leave = await turnstile.enter(signal);
    try {
      if (left < 0) throw toTooMuchMedia();
      const whole = await load(part, signal);
      left -= countJsonChars(whole) - countJsonChars(part);
      if (left < 0) throw toTooMuchMedia();
      return whole;
    } finally {
      leave();
    }
  };
}

type Taking = Pick<MediaParts, "takes" | "readsItself" | "reads">;

function isNeeded(part: MediaPart, taking: Taking): boolean {
  return isElsewhere(part, taking) || findUnread(part, taking.reads) !== undefined;
}

/** True if its bytes must be read first. */
function isElsewhere(part: MediaPart, { takes, readsItself }: Taking): boolean {
  if (part.file_id) return true;
  const url = urlOf(part);
  if (url === undefined || readsItself(url)) return false;
  return !(part.type === "input_file" ? takes.files : takes.images);
}

type Load = (part: MediaPart, signal: AbortSignal) => Promise<MediaPart>;

/** Each part is read once for a run, although every turn sends the whole conversation. */
function createLoader(parts: MediaParts): Load {
  const read = createReader(parts);
  const known = new WeakMap<MediaPart, Promise<MediaPart>>();
  const load: Load = async (part, signal) => {
    const whole = isElsewhere(part, parts) ? await read(part, signal) : part;
    const document = findUnread(whole, parts.reads);
    return document ? await toTextPart(document, signal) : whole;
  };
  return (part, signal) => {
    const loading = known.get(part) ?? load(part, signal);
    known.set(part, loading);
    return loading;
  };
}

/** Each file and address once, however many parts name it. */
function createReader({ kept, tenant, web, clock }: MediaParts): Load {
  const media = createWebMedia(web, clock);
  const known = new Map<string, Promise<FetchedMedia>>();
  const once = (key: string, read: () => Promise<FetchedMedia>): Promise<FetchedMedia> => {
    const found = known.get(key) ?? read();
    known.set(key, found);
    return found;
  };
  return async (part, signal) => {
    const { file_id } = part;
    if (file_id) {
      return toWhole(part, await once(file_id, () => readFileParts(kept, tenant, file_id)));
    }
    const url = urlOf(part) ?? "";
    const kind = part.type === "input_file" ? "file" : "image";
    return toWhole(part, await once(`${kind} ${url}`, () => media.get(url, kind, signal)));
  };
}

function toWhole(part: MediaPart, { filename, mediaType, bytes }: FetchedMedia): MediaPart {
  const { file_id: _, ...rest } = part;
  const data = `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
  if (rest.type !== "input_file") return { ...rest, image_url: data };
  const { file_url: __, ...file } = rest;
  return { ...file, filename: rest.filename ?? filename, file_data: data };
}
