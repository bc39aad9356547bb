/**
 * The interpreter of one run over one container. The container's files are copied in when it starts, and again if
 * they were changed elsewhere; files that the code writes are stored before the call ends.
 *
 * The interpreter's replies hold 10,000 characters at most, so larger files come out in pieces.
 */

import { toFailure } from "../../base/failure.ts";
import { createInterpreter, type Interpreter } from "../../tools/python/interpreter.ts";
import { parseMem } from "../../tools/python/mem.ts";
import type { Mount, OpenRequest, RunReply, WrittenFile } from "../../tools/python/messages.ts";
import { openPackages, type Packages } from "../../tools/python/packages.ts";
import { findPyodide } from "../../tools/python/pyodide-command.ts";
import type { PythonOptions } from "../../tools/python/run-python.ts";
import { createPythonSession, type PythonSession } from "../../tools/python/session.ts";
import { startPyodide } from "../../tools/python/snapshot.ts";
import type { ScopedResource } from "../../tools/scope.ts";
import type { ToolContext } from "../../tools/tool.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ChosenContainer } from "./auto-container.ts";
import {
  type ContainerFile,
  FILES_FOLDER,
  listContainerFiles,
  readContainerBytes,
  writeContainerFile,
} from "./container-files.ts";

/** The settings of Python that also hold in a container. */
export type InterpreterSettings = Pick<
  PythonOptions,
  "wheels" | "index" | "fetchPackage" | "snapshots" | "nodePath" | "workerPath"
>;

export interface InterpreterParts extends ShelfParts {
  readonly settings: InterpreterSettings;
}

export interface InterpreterSession extends ScopedResource {
  run(call: CodeCall, signal: AbortSignal): Promise<RanCode>;
}

export interface CodeCall {
  readonly code: string;
  readonly timeoutMs: number;
}

export interface RanCode {
  readonly reply: RunReply;
  readonly saved: readonly SavedFile[];
  /** Further facts that the model must know. */
  readonly notes: readonly string[];
}

export interface SavedFile {
  readonly id: string;
  /** As code names it. */
  readonly path: string;
  readonly bytes: number;
}

const START_MS = 60_000;
const COPY_MS = 30_000;

/**
 * All that is copied in passes the interpreter's memory; what comes out is stored by the server.
 */
const MAX_MOUNTED_BYTES = 64 * 1024 * 1024;
const MAX_SAVED_BYTES = 32 * 1024 * 1024;

/** A multiple of three, so that pieces of Base64 join, and short enough for a reply. */
const PIECE_OUT_BYTES = 7488;
const PIECE_IN_BYTES = 3 * 256 * 1024;

export async function openInterpreterSession(
  parts: InterpreterParts,
  container: ChosenContainer,
  { sandbox, workspace }: Pick<ToolContext, "sandbox" | "workspace">,
): Promise<InterpreterSession> {
  const pyodide = findPyodide();
  const { shelf, settings } = parts;
  const node = settings.nodePath ?? process.execPath;
  const mem = toMem(container.memoryLimit);
  /** The versions of the files that the interpreter has. */
  const known = new Map<string, string>();
  let packages: Promise<Packages> | undefined;
  const session = createPythonSession({
    async open(memBytes, signal) {
      const files = await listContainerFiles(shelf, container);
      const mounts = await readMounts(parts, container, files);
      const worker = settings.workerPath;
      const place = { node, pyodide, memBytes, worker, cwd: workspace.root };
      const { command, snapshot } = await startPyodide(place, {
        sandbox,
        signal,
        folder: settings.snapshots,
      });
      const interpreter = createInterpreter(command);
      await begin(interpreter, { pyodide, mem: memBytes, mounts, snapshot }, signal);
      known.clear();
      for (const { path, version } of files) known.set(path, version);
      return interpreter;
    },
    async findWheel(name, signal) {
      packages ??= openPackages({ ...settings, pyodide }, signal);
      // If the index did not answer, it may answer the next call.
      packages.catch(() => {
        packages = undefined;
      });
      return (await packages).find(name, signal);
    },
    howToGet: (name) => `\`${name}\` is not installed in this container.`,
  });
  const ask = createAsk(session, mem);

  return {
    async run({ code, timeoutMs }, signal) {
      if (known.size > 0) await copyChanged(parts, { container, known, ask, signal });
      const reply = await session.run(toCall(code, mem, timeoutMs), signal);
      const kept = await keepWritten(parts, reply.files, { container, known, ask, signal });
      const more = reply.moreFiles > 0 ? [`${reply.moreFiles} more files were not kept`] : [];
      const lost = reply.note === undefined ? [] : [reply.note];
      return { reply, saved: kept.saved, notes: [...lost, ...kept.notes, ...more] };
    },
    close: () => session.close(),
  };
}

/** The most that WebAssembly can address. */
function toMem(limit: ChosenContainer["memoryLimit"]): string {
  return limit === "1g" ? "1g" : "4g";
}

function toCall(code: string, mem: string, timeoutMs: number): Parameters<PythonSession["run"]>[0] {
  return { code, mem, memBytes: parseMem(mem), timeoutMs };
}

/**
 * Files that exist at the start are read-only for `python_execute`; a container's files belong to the code.
 */
const UNLOCK = `[__import__("os").chmod(__import__("os").path.join(top, name), 0o644) for top, _, names in __import__("os").walk(".") for name in names];`;

async function begin(
  interpreter: Interpreter,
  { mem, ...opening }: Pick<OpenRequest, "pyodide" | "mem" | "mounts" | "snapshot">,
  signal: AbortSignal,
): Promise<void> {
  const limits = { timeoutMs: START_MS, signal };
  const place = { folder: FILES_FOLDER, library: "/lib/offshoot" };
  try {
    await interpreter.ask({ op: "open", ...place, mem, ...opening }, limits);
    await interpreter.ask({ op: "run", mem, code: UNLOCK, missing: {} }, limits);
  } catch (thrown) {
    await interpreter.close();
    throw thrown;
  }
}

async function readMounts(
  { shelf }: InterpreterParts,
  container: ChosenContainer,
  files: readonly ContainerFile[],
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  let left = MAX_MOUNTED_BYTES;
  for (const file of files) {
    left -= file.bytes;
    // A file that is too large is missing for the code, which is better than no interpreter at all.
    if (left < 0) continue;
    const bytes = await readContainerBytes(shelf, container, file);
    mounts.push({ path: file.path, data: bytes.toString("base64") });
  }
  return mounts;
}

type Ask = (code: string, signal: AbortSignal) => Promise<RunReply>;

function createAsk(session: PythonSession, mem: string): Ask {
  return (code, signal) => session.run(toCall(code, mem, COPY_MS), signal);
}

interface Copying {
  readonly container: ChosenContainer;
  readonly known: Map<string, string>;
  readonly ask: Ask;
  readonly signal: AbortSignal;
}

/** Copies in files that were put into the container since the interpreter last looked. */
async function copyChanged(
  { shelf }: InterpreterParts,
  { container, known, ask, signal }: Copying,
): Promise<void> {
  for (const file of await listContainerFiles(shelf, container)) {
    if (known.get(file.path) === file.version || file.bytes > MAX_SAVED_BYTES) continue;
    const bytes = await readContainerBytes(shelf, container, file);
    await copyIn(`${FILES_FOLDER}/${file.path}`, bytes, (code) => ask(code, signal));
    known.set(file.path, file.version);
  }
}

async function copyIn(
  path: string,
  bytes: Buffer,
  ask: (code: string) => Promise<unknown>,
): Promise<void> {
  const place = JSON.stringify(path);
  const os = `__import__("os")`;
  await ask(`${os}.makedirs(${os}.path.dirname(${place}), exist_ok=True);`);
  let at = 0;
  do {
    const data = bytes.subarray(at, at + PIECE_IN_BYTES).toString("base64");
    const file = `__import__("io").open(${place}, "${at === 0 ? "wb" : "ab"}")`;
    const write = `f.write(__import__("base64").b64decode("${data}"))`;
    await ask(`(lambda f: (${write}, f.close()))(${file});`);
    at += PIECE_IN_BYTES;
  } while (at < bytes.length);
}

async function keepWritten(
  parts: InterpreterParts,
  files: readonly WrittenFile[],
  copying: Copying,
): Promise<Omit<RanCode, "reply">> {
  const { container, known } = copying;
  const saved: SavedFile[] = [];
  const notes: string[] = [];
  let left = MAX_SAVED_BYTES;
  for (const file of files) {
    left -= file.size;
    if (left < 0) {
      notes.push(`${file.path} is too large to be kept`);
      continue;
    }
    try {
      const bytes = file.data ?? (await readOut(file, copying));
      const made = await writeContainerFile(parts, container, {
        path: file.path,
        source: "assistant",
        maxBytes: MAX_SAVED_BYTES,
        bytes: toStream(bytes),
      });
      saved.push({ id: made.id, path: made.path, bytes: made.bytes });
    } catch (thrown) {
      copying.signal.throwIfAborted();
      notes.push(`${file.path} could not be kept: ${toFailure(thrown).message}`);
    }
  }
  const versions = await listContainerFiles(parts.shelf, container);
  for (const { path, version } of versions) {
    if (saved.some((file) => file.path === `${FILES_FOLDER}/${path}`)) known.set(path, version);
  }
  return { saved, notes };
}

async function readOut({ path, size }: WrittenFile, { ask, signal }: Copying): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < size; at += PIECE_OUT_BYTES) {
    const { result } = await ask(
      `(lambda f: (f.seek(${at}), __import__("base64").b64encode(f.read(${PIECE_OUT_BYTES})).decode(), f.close())[1])(__import__("io").open(${JSON.stringify(`${FILES_FOLDER}/${path}`)}, "rb"))`,
      signal,
    );
    pieces.push(Buffer.from((result ?? "").replaceAll("'", ""), "base64"));
  }
  return Buffer.concat(pieces);
}

async function* toStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
