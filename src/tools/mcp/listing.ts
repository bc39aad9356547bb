/** The tools that a server offers, read leniently, because one invalid tool must not remove the others. */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import { matchesGlob } from "../../base/glob.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { toClean } from "./clean-text.ts";
import { hashOf, type RemoteDefinition } from "./pins.ts";
import type { McpServer } from "./server.ts";

export interface Listing {
  /** The server's own name for itself. */
  readonly title: string;
  /** The offered tools by the server's own names, in its order. */
  readonly tools: ReadonlyMap<string, Offered>;
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  /** Tools that were left out and why, one line each. */
  readonly problems: readonly string[];
}

export interface Offered {
  readonly definition: RemoteDefinition;
  readonly hash: string;
  /** The server's claims about the tool, such as "read-only". They decide nothing. */
  readonly hints: readonly string[];
}

/** More than any model can choose from. */
const MAX_TOOLS = 1000;
const MAX_PAGES = 100;
const MAX_SCHEMA_CHARS = 200_000;

const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

export async function readListing(client: Client, server: McpServer): Promise<Listing> {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const { name = "", version = "" } = client.getServerVersion() ?? {};
  const rows = tools ? await readTools(client, server.timeoutMs) : [];
  return {
    ...toListing(rows, server),
    title: toClean(`${name} ${version}`, 100),
    hasResources: resources !== undefined,
    hasPrompts: prompts !== undefined,
  };
}

/** Reads a server's list, in the form of `tools/list`. */
export function toListing(rows: readonly unknown[], server: McpServer): Listing {
  const problems: string[] = [];
  const offered = new Map<string, Offered>();
  for (const row of rows) {
    const found = readTool(row);
    const problem = "problem" in found ? found.problem : undefined;
    if (problem !== undefined) problems.push(problem);
    if (!("offered" in found)) continue;
    const { definition } = found.offered;
    if (offered.has(definition.name)) {
      problems.push(
        `The tool \`${toClean(definition.name, 60)}\` is there twice; the first counts.`,
      );
    } else offered.set(definition.name, found.offered);
  }
  return {
    title: "",
    tools: new Map([...offered].filter(([tool]) => isWanted(server, tool))),
    hasResources: false,
    hasPrompts: false,
    problems,
  };
}

export function isWanted({ tools }: McpServer, name: string): boolean {
  // A glob's star stops at a slash, which has no meaning in the name of a tool.
  const flat = name.replaceAll("/", "_");
  return tools.some((glob) => matchesGlob(flat, glob.replaceAll("/", "_")));
}

async function readTools(client: Client, timeout: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && rows.length < MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, Page, { timeout });
    rows.push(...answer.tools);
    if (!answer.nextCursor || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return rows.slice(0, MAX_TOOLS);
}

function readTool(row: unknown): { offered: Offered } | { problem: string } {
  if (!isJsonObject(row) || typeof row["name"] !== "string" || row["name"] === "") {
    return { problem: "A tool has no name and is left out." };
  }
  const { name, description, inputSchema: schema, execution } = row;
  const leftOut = (why: string): { problem: string } => ({
    problem: `The tool \`${toClean(String(name), 60)}\` is left out: ${why}.`,
  });
  if (name.length > 256) return leftOut("its name is too long");
  if (!isJsonObject(schema) || (schema["type"] ?? "object") !== "object") {
    return leftOut("its schema is not that of an object");
  }
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return leftOut("its schema is too large");
  if (isJsonObject(execution) && execution["taskSupport"] === "required") {
    return leftOut("it runs as a background task alone");
  }
  const text = typeof description === "string" ? description : "";
  const definition = { name, description: text, schema };
  return { offered: { definition, hash: hashOf(definition), hints: hintsOf(row) } };
}

function hintsOf({ annotations }: JsonObject): string[] {
  if (!isJsonObject(annotations)) return [];
  return [
    ...(annotations["readOnlyHint"] === true ? ["read-only"] : []),
    ...(annotations["destructiveHint"] === true ? ["destructive"] : []),
    ...(annotations["openWorldHint"] === true ? ["open world"] : []),
  ];
}
