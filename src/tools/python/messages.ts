/**
 * The requests to an interpreter, one JSON object on each line, which are the same for every kind of
 * interpreter.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

export interface OpenRequest {
  readonly op: "open";
  /** The limit of the interpreter's memory, in bytes; every request has it. */
  readonly mem: number;
  /** The folder that the code works in. */
  readonly folder: string;
  /** A folder for the driver's own files. */
  readonly library: string;
  /** The folder of the `pyodide` package, if that is the interpreter. */
  readonly pyodide?: string;
  /** A file with a started Python (`snapshot.ts`). Without one Python starts by itself. */
  readonly snapshot?: string | undefined;
  readonly mounts: readonly Mount[];
}

/** The only request of a process that makes a snapshot: the answer is its bytes, and then it ends. */
export interface SnapshotRequest extends Pick<OpenRequest, "mem" | "pyodide"> {
  readonly op: "snapshot";
}

/** A file that exists from the start. Path and data are Base64. */
export interface Mount {
  /** Relative, with `/` between names. */
  readonly path: string;
  readonly data: string;
}

export interface Wheel {
  /** The distribution's name. */
  readonly name: string;
  readonly data: string;
}

export type Request =
  | OpenRequest
  | { readonly op: "imports"; readonly mem: number; readonly code: string }
  | { readonly op: "install"; readonly mem: number; readonly wheels: readonly Wheel[] }
  | {
      readonly op: "run";
      readonly mem: number;
      readonly code: string;
      /** Modules that were not found, each with a sentence on how to get it. */
      readonly missing: Readonly<Record<string, string>>;
    };

/** The outcome of the code. Streams and result are one character longer than the limit if they were cut. */
export interface RunReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly result: string | null;
  readonly files: readonly WrittenFile[];
  /** How many more files were written. */
  readonly moreFiles: number;
}

export interface WrittenFile {
  readonly path: string;
  readonly size: number;
  /** Only for images and short files. */
  readonly data: Buffer | undefined;
}

/** The code can write replies itself, so every reply is checked. */
export function toRunReply(reply: JsonObject): RunReply {
  const files = Array.isArray(reply["files"]) ? reply["files"] : [];
  return {
    stdout: toText(reply["stdout"]),
    stderr: toText(reply["stderr"]),
    result: typeof reply["result"] === "string" ? reply["result"] : null,
    files: files.flatMap(toFile),
    moreFiles: toCount(reply["more_files"]),
  };
}

export function toNames(reply: JsonObject): string[] {
  const names = Array.isArray(reply["names"]) ? reply["names"] : [];
  return names.filter((name) => typeof name === "string");
}

function toFile(file: Json): WrittenFile[] {
  if (!isJsonObject(file)) return [];
  const { path, size, data } = file as { [name: string]: Json };
  if (typeof path !== "string") return [];
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : undefined;
  return [{ path, size: toCount(size), data: bytes }];
}

function toText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function toCount(value: Json | undefined): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : 0;
}
