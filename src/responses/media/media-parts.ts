/** Finds every image and file in a conversation, with its place, and can replace each. */

import type {
  ComputerScreenshot,
  ContentPart,
  InputFile,
  InputImage,
} from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";

export type MediaPart = InputImage | InputFile | ComputerScreenshot;

export interface PlacedMedia {
  readonly part: MediaPart;
  /** For example `input[2].content[0]`. */
  readonly path: string;
}

export function findMedia(items: readonly Item[]): PlacedMedia[] {
  return items.flatMap((item, at) => {
    const field = toPartsField(item);
    if (!field) return [];
    const value = (item as unknown as Fields)[field];
    const path = `input[${at}].${field}`;
    if (isMedia(value)) return [{ part: value, path }];
    if (!Array.isArray(value)) return [];
    return (value as ContentPart[]).flatMap((part, place) =>
      isMedia(part) ? [{ part, path: `${path}[${place}]` }] : [],
    );
  });
}

/** The pictures that tools name: the mask of a picture to be changed. */
export function findMasks(tools: readonly Tool[]): PlacedMedia[] {
  return tools.flatMap((tool, at) => {
    if (tool.type !== "image_generation" || !tool.input_image_mask) return [];
    const part = { type: "input_image" as const, ...tool.input_image_mask };
    return [{ part, path: `tools[${at}].input_image_mask` }];
  });
}

type Fields = Readonly<Record<string, unknown>>;
export type ChangeMedia = (part: MediaPart) => Promise<MediaPart>;

/** Items without media are passed on unchanged. */
export async function changeMedia(items: readonly Item[], change: ChangeMedia): Promise<Item[]> {
  return await Promise.all(items.map((item) => changeItem(item, change)));
}

async function changeItem(item: Item, change: ChangeMedia): Promise<Item> {
  const field = toPartsField(item);
  const value = field && (item as unknown as Fields)[field];
  if (isMedia(value)) return { ...item, [field as string]: await change(value) } as Item;
  if (!Array.isArray(value) || !value.some(isMedia)) return item;
  const parts = await Promise.all(
    value.map((part: ContentPart) => (isMedia(part) ? change(part) : part)),
  );
  return { ...item, [field as string]: parts } as Item;
}

/** The field that may contain parts. */
function toPartsField({ type }: Item): "content" | "output" | undefined {
  if (type === "message" || type === "agent_message") return "content";
  return type.endsWith("_output") ? "output" : undefined;
}

const MEDIA: ReadonlySet<string> = new Set(["input_image", "input_file", "computer_screenshot"]);

function isMedia(part: unknown): part is MediaPart {
  const type = (part as { readonly type?: unknown } | null | undefined)?.type;
  return typeof type === "string" && MEDIA.has(type);
}

/**
 * The address of what the part does not contain itself; undefined if it contains it, or names a file.
 */
export function urlOf(part: MediaPart): string | undefined {
  const url = part.type === "input_file" ? part.file_url : part.image_url;
  return url && !url.startsWith("data:") ? url : undefined;
}
