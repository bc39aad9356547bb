/** `offshoot serve` as a process of its own, over each place that responses can be stored in. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childrenOf, cpuMs, pin } from "../gateway/processes.ts";
import { type DatabaseUse, STORES } from "./stores.ts";

export interface ServerOptions {
  readonly store: string;
  readonly upstreamPort: number;
  /** How many processes answer. */
  readonly workers: number;
  /** How much longer than on this machine a wait for the disk takes. */
  readonly syncMs?: number;
  /** The core for all of it; any when left out. */
  readonly core?: number;
  /** Further options of Node. */
  readonly execArgv?: readonly string[];
}

export interface Server {
  readonly port: number;
  /** Of all its processes. */
  cpuMs(): number;
  /** Waits for the disk since its start. */
  syncs(): number;
  sizeOf(): Promise<number>;
  /** Gives back the room of old versions of rows. */
  compact(): Promise<void>;
  /** Of the database, if it is a process of its own. */
  readUse(): Promise<DatabaseUse | undefined>;
  /** Memory of all its processes, in bytes. */
  memory(): number;
  close(): Promise<void>;
}

export const KEY = "bench-key-of-the-server-0123456789";
const CLI = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

/** With a key, its log, audit and metrics, as an operator runs it. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { store, upstreamPort, workers, syncMs = 0, core } = options;
  const open = STORES[store];
  if (!open) throw new Error(`There is no store \`${store}\`.`);
  const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
  const opened = await open({ folder, syncMs });
  const { env } = opened;
  const execArgv = [...opened.execArgv, ...(options.execArgv ?? [])];
  const model = ["--provider", "openai-chat", "--model", "custom/bench"];
  const url = ["--url", `http://127.0.0.1:${upstreamPort}/v1`, "--port", "0"];
  const words = ["serve", ...model, ...url, "--workers", String(workers), "--log", "json"];
  const child = spawn(process.execPath, [...execArgv, CLI, ...words], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, OFFSHOOT_SERVER_KEY: KEY, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (core !== undefined) pin(child, core);
  const port = await readPort(child.stderr);
  const all = (): Pick<typeof child, "pid">[] => [child, ...childrenOf(child)];
  return {
    port,
    cpuMs: () => all().reduce((sum, one) => sum + cpuMs(one), 0),
    syncs: opened.syncs,
    sizeOf: opened.sizeOf,
    compact: opened.compact,
    readUse: opened.readUse,
    memory: () => all().reduce((sum, one) => sum + memoryOf(one), 0),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      await opened.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Continues to read: a log that is not read would block the server. */
function readPort(stderr: NodeJS.ReadableStream): Promise<number> {
  let said = "";
  return new Promise((resolve, reject) => {
    stderr.on("data", (piece) => {
      if (said.length > 10_000) return;
      said += String(piece);
      const port = /listening at http:\/\/[^\s:]+:(\d+)/.exec(said)?.[1];
      if (port) resolve(Number(port));
    });
    stderr.on("end", () => reject(new Error(`The server did not start: ${said}`)));
  });
}

function memoryOf({ pid }: { readonly pid?: number | undefined }): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
