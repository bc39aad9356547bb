/** `offshoot serve` as a process of its own, over each place that responses can be stored in. */

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { childrenOf, cpuMs, pin } from "../gateway/processes.ts";

/** Where a server stores. Another store is another row: what it needs, and what can be counted of it. */
export interface StoreKind {
  /** What the server is started with: settings of the store, and what counts its waits for the disk. */
  start(folder: string): StoreStart;
  /** Bytes that it takes now. */
  sizeOf(folder: string): Promise<number>;
}

interface StoreStart {
  readonly env: Readonly<Record<string, string>>;
  readonly execArgv: readonly string[];
}

export const STORES: Readonly<Record<string, StoreKind>> = {
  sqlite: {
    start: (folder) => ({
      env: { BENCH_SYNCS: join(folder, SYNCS) },
      execArgv: ["--import", new URL("./disk.js", import.meta.url).href],
    }),
    async sizeOf(folder) {
      const db = await openConnection(join(folder, ".local", "share", "offshoot", "runs.db"));
      const read = (name: string): number => Number(db.prepare(`pragma ${name}`).get()?.[name]);
      const size = read("page_count") * read("page_size");
      db.close();
      return size;
    },
  },
};

export interface ServerOptions {
  readonly store: string;
  readonly upstreamPort: number;
  /** How many processes answer. */
  readonly workers: number;
  /** What a wait for the disk takes beyond what it takes here. */
  readonly syncMs?: number;
  /** The core for all of it; any where it is left out. */
  readonly core?: number;
}

export interface Server {
  readonly port: number;
  /** Of all its processes. */
  cpuMs(): number;
  /** Waits for the disk since its start. */
  syncs(): number;
  sizeOf(): Promise<number>;
  close(): Promise<void>;
}

export const KEY = "bench-key-of-the-server-0123456789";
const SYNCS = "syncs";
const CLI = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

/** With a key, its log, audit and numbers, as an operator runs it. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { store, upstreamPort, workers, syncMs = 0, core } = options;
  const kind = STORES[store];
  if (!kind) throw new Error(`There is no store \`${store}\`.`);
  const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
  const { env, execArgv } = kind.start(folder);
  const model = ["--provider", "openai-chat", "--model", "custom/bench"];
  const url = ["--url", `http://127.0.0.1:${upstreamPort}/v1`, "--port", "0"];
  const words = ["serve", ...model, ...url, "--workers", String(workers), "--log", "json"];
  const child = spawn(process.execPath, [...execArgv, CLI, ...words], {
    cwd: folder,
    env: {
      ...{ PATH: process.env["PATH"] ?? "", HOME: folder, OFFSHOOT_SERVER_KEY: KEY, ...env },
      ...(syncMs > 0 ? { BENCH_SYNC_MS: String(syncMs) } : {}),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (core !== undefined) pin(child, core);
  const port = await readPort(child.stderr);
  const all = (): Pick<typeof child, "pid">[] => [child, ...childrenOf(child)];
  return {
    port,
    cpuMs: () => all().reduce((sum, one) => sum + cpuMs(one), 0),
    syncs: () => countSyncs(folder),
    sizeOf: () => kind.sizeOf(folder),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Reads on: a log that nobody reads would hold the server up. */
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

function countSyncs(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.startsWith(`${SYNCS}.`));
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
