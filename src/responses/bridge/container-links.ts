/**
 * Files that code has written into its container, and the places of a text that link to them:
 * `sandbox:/mnt/data/NAME`, which is how models give a file to the user.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ContainerFileCitation } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";

/** By their paths, as code names them. */
export type ContainerLinks = ReadonlyMap<string, ContainerLink>;

interface ContainerLink {
  readonly container_id: string;
  readonly file_id: string;
  readonly filename: string;
}

/** Of two under one path the later one counts. */
export function collectContainerLinks(items: readonly Item[]): ContainerLinks {
  return new Map(items.flatMap(linksOf));
}

function linksOf(item: Item): [string, ContainerLink][] {
  if (item.type !== "code_interpreter_call") return [];
  const { container_id = "", files } = item as { container_id?: string; files?: unknown };
  const written: readonly unknown[] = Array.isArray(files) ? files : [];
  return written.filter(isJsonObject).flatMap(({ file_id, path }: JsonObject) => {
    if (typeof file_id !== "string" || typeof path !== "string") return [];
    const filename = path.slice(path.lastIndexOf("/") + 1);
    return [[path, { container_id, file_id, filename }] as [string, ContainerLink]];
  });
}

/** In the order of the text; the place is that of the address, which clients put another one in for. */
export function findContainerLinks(text: string, links: ContainerLinks): ContainerFileCitation[] {
  if (links.size === 0 || !text.includes(SCHEME)) return [];
  const found = [...links].flatMap(([path, link]) =>
    [...new Set([path, toEncoded(path)])].flatMap((written) =>
      placesOf(text, SCHEME + written).map((start_index): ContainerFileCitation => {
        const end_index = start_index + SCHEME.length + written.length;
        return { type: "container_file_citation", ...link, start_index, end_index };
      }),
    ),
  );
  return found.sort((first, second) => (first.start_index ?? 0) - (second.start_index ?? 0));
}

/** Code may name a file as it likes; what is no text cannot be encoded. */
function toEncoded(path: string): string {
  return /\p{Cs}/u.test(path) ? path : encodeURI(path);
}

const SCHEME = "sandbox:";
/** What makes it another file's name; a full stop may end the sentence. */
const GOES_ON = /^(?:[\p{L}\p{N}_/%-]|\.[\p{L}\p{N}])/u;

function placesOf(text: string, address: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(address); at >= 0; at = text.indexOf(address, at + 1)) {
    const end = at + address.length;
    if (!GOES_ON.test(text.slice(end, end + 3))) places.push(at);
  }
  return places;
}
