/**
 * Files that code has written into its container, and the places in a text that name them: `sandbox:/mnt/data/NAME`,
 * which is how models give a file to the user, or only the path.
 *
 * A link gets two annotations for one place: `container_file_citation`, as the published API cites it, and
 * `file_path`, for clients that look for that one. A path alone gets only the second: the published API cites links.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ContainerFileCitation, FilePath } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { FILES_FOLDER } from "../containers/container-files.ts";

/** Files by their paths, as code names them. */
export type ContainerLinks = ReadonlyMap<string, ContainerLink>;

interface ContainerLink {
  readonly container_id: string;
  readonly file_id: string;
  readonly filename: string;
}

/** Collects the files of containers by path. If two have one path, the later one counts. */
export function collectContainerLinks(items: readonly Item[]): ContainerLinks {
  return new Map(items.flatMap(linksOf));
}

function linksOf(item: Item): [string, ContainerLink][] {
  if (item.type !== "code_interpreter_call") return [];
  const { container_id = "", files } = item as { container_id?: string; files?: unknown };
  const written: readonly unknown[] = Array.isArray(files) ? files : [];
  return written.filter(isJsonObject).flatMap(({ file_id, path }: JsonObject) => {
    if (typeof file_id !== "string" || typeof path !== "string") return [];
    // Items come from clients too: a shorter path would be found in any text.
    const filename = path.slice(path.lastIndexOf("/") + 1);
    if (!path.startsWith(`${FILES_FOLDER}/`) || filename === "") return [];
    return [[path, { container_id, file_id, filename }] as [string, ContainerLink]];
  });
}

/**
 * In the order of the text. The place is that of the address, which clients replace by another one.
 */
export function findContainerLinks(
  text: string,
  links: ContainerLinks,
): (ContainerFileCitation | FilePath)[] {
  if (links.size === 0 || !text.includes(FILES_FOLDER)) return [];
  const found = [...links].flatMap(([path, link]) =>
    [...new Set([path, toEncoded(path)])].flatMap((written) =>
      placesOf(text, written).map((place) => ({ ...place, link })),
    ),
  );
  return found.sort((first, second) => first.start_index - second.start_index).flatMap(cite);
}

/** Code may name a file in any way; a lone surrogate cannot be encoded. */
function toEncoded(path: string): string {
  return /\p{Cs}/u.test(path) ? path : encodeURI(path);
}

interface Place {
  readonly isLink: boolean;
  readonly start_index: number;
  readonly end_index: number;
}

const SCHEME = "sandbox:";
/** Text after the path that makes it another file's name; a full stop may end the sentence. */
const GOES_ON = /^(?:[\p{L}\p{N}_/%-]|\.[\p{L}\p{N}])/u;
/** Text before the path that makes it the end of another address. */
const BEGAN_BEFORE = /[\p{L}\p{N}_/%.:~-]$/u;

function placesOf(text: string, path: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const end_index = at + path.length;
    if (GOES_ON.test(text.slice(end_index, end_index + 3))) continue;
    const isLink = text.endsWith(SCHEME, at);
    if (!isLink && BEGAN_BEFORE.test(text.slice(Math.max(at - 2, 0), at))) continue;
    places.push({ isLink, start_index: isLink ? at - SCHEME.length : at, end_index });
  }
  return places;
}

/**
 * The published `file_path` has only `index`; clients read it as the position where the path begins.
 */
function cite({
  link,
  isLink,
  start_index,
  end_index,
}: Place & { readonly link: ContainerLink }): (ContainerFileCitation | FilePath)[] {
  const span = { start_index, end_index };
  const { file_id } = link;
  const path: FilePath = { type: "file_path", file_id, index: start_index, ...span };
  return isLink ? [{ type: "container_file_citation", ...link, ...span }, path] : [path];
}
