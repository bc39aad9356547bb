/** The settings of tools in the form that the toolbox takes. */

import { readFile } from "node:fs/promises";
import type { Environment } from "../base/environment.ts";
import { Failure } from "../base/failure.ts";
import {
  readSystemBundle,
  readTrustedBundle,
  SYSTEM_BUNDLES,
} from "../providers/http/ca-bundles.ts";
import type { Transport } from "../providers/http/transport.ts";
import type { CatalogueSettings } from "../tools/catalogue/catalogue.ts";
import type { KeptText } from "../tools/mcp/kept-map.ts";
import { type McpServer, parseMcpServers } from "../tools/mcp/server.ts";
import { VERSION } from "../version.ts";
import type { Config } from "./config/config.ts";
import { createNetwork } from "./network.ts";
import { writePrivateFile } from "./private-file.ts";
import type { McpToolSettings, ToolSettings } from "./toolbox.ts";

interface Surroundings {
  readonly env: Environment;
  /** The folder in which MCP servers start. */
  readonly cwd: string;
  readonly stderr: { write(text: string): unknown };
}

export function toToolSettings(config: Config, around: Surroundings): ToolSettings {
  return {
    python: toPython(config, around),
    web: toWeb(config, around),
    search: {
      provider: config.get("search_provider"),
      url: config.get("search_url"),
      env: around.env,
    },
    ownTools: config.get("own_tools"),
    mcp: toMcp(config, around),
  };
}

function toWeb(config: Config, { env }: Surroundings): CatalogueSettings["web"] {
  return {
    userAgent: `offshoot/${VERSION}`,
    privateHosts: config.get("web_private_hosts"),
    respectRobots: config.get("web_robots"),
    proxies: config.get("web_proxy") ? env : undefined,
    trusted: () => readTrustedBundle(env) ?? readSystemBundle(SYSTEM_BUNDLES),
  };
}

function toPython(config: Config, { env }: Surroundings): CatalogueSettings["python"] {
  return {
    host: config.get("python") === "host",
    wheels: config.get("python_wheels"),
    index: config.get("python_index"),
    mounts: config.get("python_mounts"),
    fetchPackage: (url, signal) => fetchWhole(url, env, signal),
  };
}

const PACKAGE_TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000 };

/** The largest package of Pyodide's distribution is a fourth of this. */
const MAX_PACKAGE_BYTES = 200_000_000;

/** A package of the index that the user has named. */
async function fetchWhole(url: string, env: Environment, signal: AbortSignal): Promise<Uint8Array> {
  const network = createNetwork(env);
  try {
    return await readWhole(await network.open(), url, signal);
  } finally {
    await network.close();
  }
}

async function readWhole(
  transport: Transport,
  url: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const plain = { method: "GET", headers: {}, body: undefined } as const;
  const limits = { timeouts: PACKAGE_TIMEOUTS, maxBytes: Number.POSITIVE_INFINITY };
  const answer = await transport.send({ ...plain, url, signal, ...limits });
  if (answer.status !== 200) {
    await answer.chunks.return();
    throw unusable(url, `answered ${answer.status}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    if (bytes > MAX_PACKAGE_BYTES) throw unusable(url, "is larger than any package");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Leaves out what may be a password in the address. */
function unusable(url: string, why: string): Failure {
  const { origin, pathname } = new URL(url);
  return new Failure("tool_failed", `${origin}${pathname} ${why}. See \`python_index\`.`);
}

function toMcp(config: Config, { env, cwd, stderr }: Surroundings): McpToolSettings {
  return {
    trusted: () => readTrustedBundle(env) ?? readSystemBundle(SYSTEM_BUNDLES),
    ...toMcpFiles(config),
    servers: toMcpServers(config),
    root: cwd,
    onProblem: (problem) => void stderr.write(`offshoot: ${problem}\n`),
  };
}

export function toMcpServers(config: Config): McpServer[] {
  return parseMcpServers(config.get("mcp_servers"));
}

export function toMcpFiles({ paths }: Config): { pins: KeptText; logins: KeptText } {
  return { pins: keepIn(paths.pinsFile), logins: keepIn(paths.loginsFile) };
}

/** A private file as text. */
export function keepIn(path: string): KeptText {
  return {
    read: () =>
      readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return undefined;
        throw thrown;
      }),
    write: (text) => writePrivateFile(path, text),
  };
}
