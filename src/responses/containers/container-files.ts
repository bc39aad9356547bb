/**
 * The files of a container, over a shelf. A path names one file: a new file with the same path replaces the old one,
 * under the same id. A file exists once all its bytes are stored.
 */

import { createHash } from "node:crypto";
import { undoAfter } from "../../base/busy.ts";
import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import { clip } from "../../base/text.ts";
import type { Shelf, Thing, ThingName } from "../../store/shelf.ts";
import { readFileContent } from "../files/files.ts";
import { parseNewFile } from "../files/new-file.ts";
import { type ListPage, parsePaging } from "../tenant/paging.ts";
import { type ShelfParts, toSeconds } from "../tenant/shelf-parts.ts";
import { collectPage } from "./collect-page.ts";
import { type ContainerName, nameContainer, toUnknownContainer } from "./container-name.ts";

/** The folder in which code finds the files, and which their paths show. */
export const FILES_FOLDER = "/mnt/data";

/** More is a mistake of a program: every use of the container reads them all. */
const MAX_FILES = 1000;

export interface ContainerFileObject {
  readonly id: string;
  readonly object: "container.file";
  readonly container_id: string;
  readonly created_at: number;
  readonly bytes: number;
  readonly path: string;
  readonly source: "user" | "assistant";
}

export interface DeletedContainerFile {
  readonly id: string;
  readonly object: "container.file.deleted";
  readonly deleted: true;
}

/** A file as the tools that work on the container see it. */
export interface ContainerFile {
  readonly id: string;
  /** Relative to the folder, with `/` between names. */
  readonly path: string;
  readonly bytes: number;
  /** Changes with the bytes. */
  readonly version: string;
  /** The tenant's file that it is a copy of. */
  readonly fileId: string | null;
}

interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  readonly source: "user" | "assistant";
  readonly version: string;
  readonly file_id: string | null;
  readonly ready: boolean;
}

export interface NewContainerFile {
  readonly path: string;
  readonly source: "user" | "assistant";
  readonly fileId?: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly maxBytes: number;
}

/**
 * If it rejects (with `invalid_request` over the limit), the old file stays, if there was one. Of two requests that
 * write a new path at once, the second replaces the file of the first.
 */
export async function writeContainerFile(
  parts: ShelfParts,
  container: ContainerName,
  asked: NewContainerFile,
): Promise<ContainerFileObject> {
  const { shelf, makeId } = parts;
  const path = toFilePath(asked.path);
  const known = await listContainerFiles(shelf, container);
  const before = known.find((file) => file.path === path);
  if (!before && known.length >= MAX_FILES) {
    const message = `A container holds ${MAX_FILES} files at most. Delete some.`;
    throw new Failure("invalid_request", message, { param: "container_id" });
  }
  const { source, fileId: file_id = null } = asked;
  const kept = { path, source, file_id, version: makeId("v"), bytes: 0, ready: false };
  const bytes = limit(asked.bytes, asked.maxBytes);
  if (!before) return await addFile(parts, container, { kept, bytes });
  await replaceFile(shelf, nameFile(container.tenant, before.id), { kept, bytes });
  return await getContainerFile(shelf, container, before.id);
}

interface Written {
  readonly kept: KeptFile;
  readonly bytes: AsyncIterable<Uint8Array>;
}

async function replaceFile(
  shelf: Shelf,
  name: ThingName,
  { kept, bytes: given }: Written,
): Promise<void> {
  const bytes = await shelf.writeContent(name, given);
  await shelf.update(name, encodeFile({ ...kept, bytes, ready: true }));
}

/** The file gets its path when it is whole. So a request that fails removes only what no other request has found. */
async function addFile(
  parts: ShelfParts,
  container: ContainerName,
  { kept, bytes: given }: Written,
): Promise<ContainerFileObject> {
  const { shelf, clock, makeId } = parts;
  const name = nameFile(container.tenant, makeId("cfile"));
  const rest = { created_at_ms: clock.now(), expires_at_ms: null };
  const thing = { ...name, ...rest, parent: container.containerId, body: encodeFile(kept) };
  if ((await shelf.putUnder(nameContainer(container), [thing])) === undefined) {
    throw toUnknownContainer(container.containerId);
  }
  const whole = { ...kept, ready: true };
  let holder: string;
  try {
    whole.bytes = await shelf.writeContent(name, given);
    holder = await claimPath(parts, container, { id: name.id, path: kept.path });
  } catch (thrown) {
    await undoAfter(thrown, () => shelf.delete(name));
    throw thrown;
  }
  if (holder === name.id) {
    // Unless another request has replaced it already.
    const isOwn = (body: Json): boolean => STORED.read(body).version === kept.version;
    await shelf.change(name, (body) => (isOwn(body) ? encodeFile(whole) : undefined));
  } else {
    const copy = { kept, bytes: shelf.readContent(name) };
    await replaceFile(shelf, nameFile(container.tenant, holder), copy).finally(() =>
      shelf.delete(name),
    );
  }
  return await getContainerFile(shelf, container, holder);
}

interface PathClaim {
  readonly id: string;
  readonly path: string;
}

/**
 * The id of the file that has the path: this one, or that of a request that was faster. The mark belongs to its file
 * and is deleted with it, so that a file that is written later has an id of its own.
 */
async function claimPath(
  { shelf, clock }: ShelfParts,
  { tenant, containerId }: ContainerName,
  { id, path }: PathClaim,
): Promise<string> {
  const hash = createHash("sha256").update(path).digest("hex");
  const mark = { tenant, kind: PATH_KIND, id: `${containerId}/${hash}` };
  const rest = { body: null, created_at_ms: clock.now(), expires_at_ms: null };
  for (;;) {
    const added = await shelf.putUnder(nameFile(tenant, id), [{ ...mark, ...rest, parent: id }]);
    if (added === undefined) throw toUnknownContainer(containerId);
    if (added > 0) return id;
    const holder = (await shelf.get(mark))?.parent;
    // Its file was deleted in between: the path is free.
    if (holder) return holder;
  }
}

/** The last step of a name that a client gives. */
export function toUploadName(filename: string): string {
  return parseNewFile(filename, { purpose: "user_data" }).filename;
}

/**
 * Copies one of the tenant's files, under its own name. A file that was copied before is left as it is.
 */
export async function copyToContainer(
  parts: ShelfParts,
  container: ContainerName,
  fileId: string,
  maxBytes: number,
): Promise<ContainerFileObject> {
  const known = await listContainerFiles(parts.shelf, container);
  const copy = known.find((file) => file.fileId === fileId);
  if (copy) return await getContainerFile(parts.shelf, container, copy.id);
  const { file, bytes } = await readFileContent(parts, container.tenant, fileId);
  const path = toUploadName(file.filename);
  return await writeContainerFile(parts, container, {
    path,
    source: "user",
    fileId,
    bytes,
    maxBytes,
  });
}

export async function getContainerFile(
  shelf: Shelf,
  container: ContainerName,
  id: string,
): Promise<ContainerFileObject> {
  return toFile(await findFile(shelf, container, id));
}

/** `query` is that of the address: `limit`, `order`, `after`. */
export async function pageContainerFiles(
  shelf: Shelf,
  { tenant, containerId: parent }: ContainerName,
  query: URLSearchParams,
): Promise<ListPage<ContainerFileObject>> {
  return await collectPage(shelf, {
    among: { tenant, kind: FILE_KIND, parent },
    paging: parsePaging(query, { defaultOrder: "desc" }),
    isWanted: (thing) => readFile(thing).ready,
    toObject: toFile,
  });
}

/** All files, the oldest first. */
export async function listContainerFiles(
  shelf: Shelf,
  { tenant, containerId: parent }: ContainerName,
): Promise<ContainerFile[]> {
  const among = { tenant, kind: FILE_KIND, parent, order: "oldest", limit: MAX_FILES } as const;
  return (await shelf.list(among)).flatMap((thing) => {
    const { path, bytes, version, file_id: fileId, ready } = readFile(thing);
    return ready ? [{ id: thing.id, path, bytes, version, fileId }] : [];
  });
}

export async function deleteContainerFile(
  shelf: Shelf,
  container: ContainerName,
  id: string,
): Promise<DeletedContainerFile> {
  await findFile(shelf, container, id);
  await shelf.delete(nameFile(container.tenant, id));
  return { id, object: "container.file.deleted", deleted: true };
}

/** Rejects before the first piece if the file does not exist. */
export async function readContainerFile(
  shelf: Shelf,
  container: ContainerName,
  id: string,
): Promise<AsyncGenerator<Uint8Array>> {
  await findFile(shelf, container, id);
  return shelf.readContent(nameFile(container.tenant, id));
}

export async function readContainerBytes(
  shelf: Shelf,
  { tenant }: ContainerName,
  { id }: Pick<ContainerFile, "id">,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of shelf.readContent(nameFile(tenant, id))) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The container of a file that is named without it, as in a `file_path` annotation. */
export async function findContainerOf(
  shelf: Shelf,
  tenant: string,
  id: string,
): Promise<ContainerName | undefined> {
  const thing = await shelf.get(nameFile(tenant, id));
  return thing?.parent ? { tenant, containerId: thing.parent } : undefined;
}

const FILE_KIND = "container_file";
/** The mark that gives a path of a container to one file. */
const PATH_KIND = "container_path";

function nameFile(tenant: string, id: string): ThingName {
  return { tenant, kind: FILE_KIND, id };
}

async function findFile(
  shelf: Shelf,
  { tenant, containerId }: ContainerName,
  id: string,
): Promise<Thing> {
  const thing = await shelf.get(nameFile(tenant, id));
  if (thing && thing.parent === containerId && readFile(thing).ready) return thing;
  const message = `There is no file \`${clip(id, 80)}\` in this container.`;
  throw new Failure("not_found", message, { param: "file_id" });
}

const MAX_PATH_CHARS = 1000;

/** Checks a path and makes it relative to the folder: clients and code may choose any name. */
function toFilePath(path: string): string {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const isFit = names.length > 0 && !names.includes("..") && path.length <= MAX_PATH_CHARS;
  if (isFit && !path.includes("\0")) return names.join("/");
  const message = `\`${clip(path, 80)}\` is not a path of a file in a container.`;
  throw new Failure("invalid_request", message, { param: "file" });
}

async function* limit(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.byteLength;
    if (count > maxBytes) {
      const message = `The file is larger than ${maxBytes} bytes, which is the limit.`;
      throw new Failure("invalid_request", message, { param: "file" });
    }
    yield chunk;
  }
}

function toFile(thing: Thing): ContainerFileObject {
  const { path, bytes, source } = readFile(thing);
  return {
    id: thing.id,
    object: "container.file",
    container_id: thing.parent ?? "",
    created_at: toSeconds(thing.created_at_ms),
    bytes,
    path: `${FILES_FOLDER}/${path}`,
    source,
  };
}

const STORED = storedObject<KeptFile>("a file of a container", ["path", "bytes"]);

function encodeFile(file: KeptFile): Json {
  return STORED.write(file);
}

function readFile({ body }: Pick<Thing, "body">): KeptFile {
  return STORED.read(body);
}
