/**
 * Reads pages and PDFs from the web in processes of their own, one each: the libraries may take hours or
 * all memory for them, and only a process can be ended in the middle.
 *
 * The process has no environment, and may write no file and start nothing (Node's permission model; it may
 * read files, which its own code needs). The system limits its memory and its time, even if no process is
 * left to end it. Starting it costs 0.2 s.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { toAbortFailure } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import { isJsonObject, tryParseJson } from "../../../base/json.ts";
import { findOwnProgram } from "../../../base/own-program.ts";
import { guardFlags } from "../../python/pyodide-command.ts";
import { keepChild } from "../../sandbox/life-line.ts";
import { nodeReservedKib } from "../../sandbox/node-memory.ts";
import type { SearchResult } from "../search/provider.ts";
import type { PdfText } from "./pdf-to-text.ts";
import type { MarkdownPage } from "./to-markdown.ts";

export type PageWork =
  | { readonly kind: "page"; readonly url: string }
  | { readonly kind: "pdf"; readonly maxPages: number }
  | { readonly kind: "results" };

export type PageReply = { readonly done: unknown } | { readonly error: string };

/** The caller, and how long an answer may take. */
export interface PageCall {
  readonly signal: AbortSignal;
  readonly limitMs?: number;
}

/** The longest articles take two seconds on a slow machine. */
const LIMIT_MS = 15_000;

/** JavaScript's own heap, and all memory: unpacked data is outside the heap. */
const HEAP_MIB = 256;
const MEMORY_KIB = 640 * 1024 + nodeReservedKib();

/** Seconds of processor time after which the system ends it. */
const CPU_S = 20;

/** More than the largest body, written as JSON. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Like `toMarkdown`, of the main content only. */
export async function readHtml(html: string, url: string, asking: PageCall): Promise<MarkdownPage> {
  return (await convert({ kind: "page", url }, Buffer.from(html), asking)) as MarkdownPage;
}

/** Like `pdfToText`. */
export async function readPdf(
  bytes: Uint8Array,
  maxPages: number,
  asking: PageCall,
): Promise<PdfText> {
  return (await convert({ kind: "pdf", maxPages }, bytes, asking)) as PdfText;
}

/** Like `readDuckDuckGo`. */
export async function readResults(
  html: string,
  asking: PageCall,
): Promise<SearchResult[] | undefined> {
  const found = await convert({ kind: "results" }, Buffer.from(html), asking);
  return (found as SearchResult[] | null) ?? undefined;
}

/** Rejects with `tool_failed` if the page cannot be converted within the limits. */
async function convert(work: PageWork, bytes: Uint8Array, asking: PageCall): Promise<unknown> {
  const { signal, limitMs = LIMIT_MS } = asking;
  if (signal.aborted) throw toAbortFailure(signal);
  const child = startWorker();
  const kill = (): void => void child.kill("SIGKILL");
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    kill();
  }, limitMs);
  signal.addEventListener("abort", kill, { once: true });
  // For the case that our process exits without waiting.
  process.once("exit", kill);
  try {
    const [text, exit] = await Promise.all([readAll(child.stdout), ended(child), feed()]);
    if (signal.aborted) throw toAbortFailure(signal);
    if (isLate) throw cannotBeRead(`it takes longer than ${limitMs / 1000} s`);
    return parseReply(text, exit);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", kill);
    process.removeListener("exit", kill);
    kill();
  }

  async function feed(): Promise<void> {
    // A process that has ended does not read; its end says why.
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(work)}\n`);
    child.stdin.end(bytes);
  }
}

function startWorker() {
  const worker = findOwnProgram("page-worker");
  const argv = [
    process.execPath,
    ...guardFlags(process.allowedNodeEnvironmentFlags),
    "--allow-fs-read=*",
    "--disallow-code-generation-from-strings",
    "--no-warnings",
    `--max-old-space-size=${HEAP_MIB}`,
    worker,
  ];
  const limits = `ulimit -c 0; ulimit -t ${CPU_S}; ulimit -d ${MEMORY_KIB}`;
  const [program = "", ...args] =
    process.platform === "win32"
      ? argv
      : ["/bin/sh", "-c", `{ ${limits}; } 2>/dev/null; exec "$@"`, "sh", ...argv];
  const child = spawn(program, args, {
    cwd: dirname(worker),
    env: {},
    // A group of its own, which the keeper ends if our process is killed.
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  keepChild(child);
  return child;
}

/** Undefined if there is more than the limit. */
async function readAll(stream: Readable): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    // Leaving the loop closes the pipe, which ends its writer.
    if (bytes > MAX_REPLY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** How it ended; empty if it did its work. */
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(new Failure("tool_failed", "The program that reads pages cannot start.", { cause }));
    });
    child.once("exit", (code, signal) => resolve(code === 0 ? "" : (signal ?? `code ${code}`)));
  });
}

function parseReply(text: string | undefined, exit: string): unknown {
  if (text === undefined) throw cannotBeRead("its text is too long");
  if (exit !== "") throw cannotBeRead(`it takes more memory than it may (${exit})`);
  const reply = tryParseJson(text);
  if (!isJsonObject(reply)) throw cannotBeRead("the program that reads it broke off");
  if (typeof reply["error"] === "string") throw new Failure("tool_failed", reply["error"]);
  return reply["done"];
}

function cannotBeRead(why: string): Failure {
  return new Failure("tool_failed", `The page cannot be turned into text: ${why}.`);
}
