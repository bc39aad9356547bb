/**
 * Opens a request's image tool: its settings, and the pictures of the conversation that it may change.
 */

import { countJsonChars } from "../../base/json-size.ts";
import type { ImageGenerationTool } from "../../protocol/hosted-kinds/image-generation.ts";
import type { ImageRef } from "../../protocol/images.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readFileParts } from "../files/files.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import { MAX_CONTEXT_CHARS } from "../request/context-size.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { createImageTool, type ImagesApi, MAX_IMAGES } from "./image-tool.ts";

export interface ImageParts extends ShelfParts {
  readonly api: ImagesApi;
}

export async function openImages(
  parts: ImageParts,
  tool: ImageGenerationTool,
  request: KindRequest,
): Promise<GateTool> {
  const { items = [] } = request;
  const { tenant } = request;
  return createImageTool(parts.api, tool, {
    readImages: () => readLatest(items.flatMap(picturesOf), (one) => toRef(parts, tenant, one)),
    payerOf: request.payerOf,
    readMask: () => toRef(parts, tenant, tool.input_image_mask ?? {}),
  });
}

/**
 * The latest last, as many as the API accepts and a request may hold: a conversation may have any number.
 */
async function readLatest(
  pictures: readonly Picture[],
  read: (picture: Picture) => Promise<ImageRef | undefined>,
): Promise<ImageRef[]> {
  const found: ImageRef[] = [];
  let chars = 0;
  for (const picture of pictures.slice(-MAX_IMAGES).reverse()) {
    const ref = await read(picture);
    chars += countJsonChars(ref);
    if (chars > MAX_CONTEXT_CHARS) break;
    if (ref) found.unshift(ref);
  }
  return found;
}

interface Picture {
  readonly image_url?: string | null | undefined;
  readonly file_id?: string | null | undefined;
}

function picturesOf(item: Item): Picture[] {
  if (item.type === "image_generation_call") {
    return item.result ? [{ image_url: `data:image/png;base64,${item.result}` }] : [];
  }
  if (item.type !== "message" || typeof item.content === "string") return [];
  return item.content.flatMap((part) => (part.type === "input_image" ? [part as Picture] : []));
}

async function toRef(
  parts: ShelfParts,
  tenant: string,
  { image_url, file_id }: Picture,
): Promise<ImageRef | undefined> {
  if (image_url) return { image_url };
  if (!file_id) return undefined;
  const { mediaType, bytes } = await readFileParts(parts, tenant, file_id);
  return { image_url: `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}` };
}
