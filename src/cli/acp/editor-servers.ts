/**
 * The MCP servers that an editor names for a session. They are programs and addresses that may come from files of a
 * project. So none is started or contacted before the person has approved it exactly as it is. Permanent approvals
 * are kept with the user's other approvals, by the hash of all that the editor says about the server.
 */

import { createHash } from "node:crypto";
import {
  type AgentContext,
  type McpServer,
  methods,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../../base/async.ts";
import { toFailure } from "../../base/failure.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { KeptText } from "../../tools/mcp/kept-map.ts";
import { checkMcpName, type McpServer as OwnServer, toAddress } from "../../tools/mcp/server.ts";

const TIMEOUT_MS = 60_000;
const MAX_SHOWN_CHARS = 500;

export interface EditorServersParts {
  readonly sessionId: string;
  readonly client: AgentContext;
  readonly servers: readonly McpServer[];
  /** Names of servers in the user's own settings: those servers win. */
  readonly taken: readonly string[];
  /** Hashes of servers that the person has approved permanently. */
  readonly kept: KeptText;
  /** Aborted when the prompt is cancelled. An open question is then withdrawn. */
  readonly stop: AbortSignal;
  /** Called with what is left out, and why. */
  tell(problem: string): Promise<void>;
}

export interface AdmittedServers {
  readonly admitted: readonly OwnServer[];
  /** Servers without an answer, because the prompt or a question was cancelled. They must be asked about again. */
  readonly unanswered: readonly McpServer[];
}

/** Asks about each server that is not approved yet, until the person cancels. */
export async function admitServers(parts: EditorServersParts): Promise<AdmittedServers> {
  const { servers } = parts;
  const known = await readKept(parts.kept);
  const admitted: OwnServer[] = [];
  for (const [at, server] of servers.entries()) {
    const own = await toOwn(server, parts);
    if (!own) continue;
    const hash = hashOf(server);
    const answer = known.has(hash) ? "once" : await ask(parts, own);
    if (answer === "cancel") return { admitted, unanswered: servers.slice(at) };
    if (answer === "no") {
      await parts.tell(`The MCP server ${own.name} is not used: it was not approved.`);
      continue;
    }
    if (answer === "always") known.add(hash);
    if (answer === "always") await parts.kept.write(JSON.stringify({ agreed: [...known] }));
    admitted.push(own);
  }
  return { admitted, unanswered: [] };
}

/** Undefined for a server that cannot be used, which is reported. */
async function toOwn(
  server: McpServer,
  { taken, tell }: EditorServersParts,
): Promise<OwnServer | undefined> {
  try {
    const name = toName(server.name);
    checkMcpName(name);
    const reach = toReach(server);
    if (!taken.includes(name)) {
      return { name, reach, tools: ["*"], timeoutMs: TIMEOUT_MS, enabled: true };
    }
    await tell(
      `The MCP server ${name} of the editor is not used: your settings have one of this name.`,
    );
  } catch (thrown) {
    const why = toFailure(thrown).message;
    await tell(`The MCP server ${clip(String(server.name), 64)} of the editor is not used: ${why}`);
  }
  return undefined;
}

/** Names of tools begin with this name and two underscores. */
function toName(given: string): string {
  const name = given.toLowerCase().replace(/[^a-z0-9-]+/g, "-");
  return name.replace(/^-+|-+$/g, "");
}

function toReach(server: McpServer): OwnServer["reach"] {
  if ("command" in server) {
    const { command, args, env } = server;
    return { kind: "stdio", command, args, env: literally(env) };
  }
  const { url, headers } = server;
  // Throws if it is not an address.
  new URL(url);
  const oauth = { clientId: undefined, clientSecret: undefined, scope: undefined, port: undefined };
  return {
    kind: "http",
    url,
    headers: literally(headers),
    oauth: { enabled: false, ...oauth },
  };
}

/** Our own settings may name variables in values. An editor's values are taken literally. */
function literally(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value.replaceAll("$", "$$$$")]));
}

async function ask(
  { sessionId, client, stop }: EditorServersParts,
  server: OwnServer,
): Promise<"once" | "always" | "no" | "cancel"> {
  if (stop.aborted) return "cancel";
  const verb = server.reach.kind === "stdio" ? "Start" : "Connect to";
  const text = clip(toAddress(server), MAX_SHOWN_CHARS);
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId: `mcp:${server.name}`,
      kind: "other",
      status: "pending",
      title: `${verb} the MCP server ${server.name}: ${text}`,
      content: [{ type: "content", content: { type: "text", text } }],
    },
    options: [
      { optionId: "once", name: "Allow for this session", kind: "allow_once" },
      { optionId: "always", name: "Allow always", kind: "allow_always" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ],
  };
  const asked = client.request(methods.client.session.requestPermission, request, {
    cancellationSignal: stop,
  });
  const answered = await untilAborted(asked, stop).catch((thrown: unknown) => {
    if (stop.aborted) return undefined;
    throw thrown;
  });
  if (!answered || answered.outcome.outcome === "cancelled") return "cancel";
  const { optionId } = answered.outcome;
  return optionId === "once" || optionId === "always" ? optionId : "no";
}

async function readKept(kept: KeptText): Promise<Set<string>> {
  const parsed = tryParseJson((await kept.read()) ?? "");
  const agreed = isJsonObject(parsed) ? parsed["agreed"] : undefined;
  return new Set(Array.isArray(agreed) ? agreed.filter((one) => typeof one === "string") : []);
}

/** The hash covers everything: with another argument or variable it is another program. */
function hashOf(server: McpServer): string {
  return createHash("sha256").update(JSON.stringify(server)).digest("hex");
}
