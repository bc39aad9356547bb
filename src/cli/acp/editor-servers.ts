/**
 * The MCP servers that an editor names for a session. They are programs and addresses that somebody may have put into a
 * project, so none is started or spoken to before the person has agreed to it as it is. What they agree to for good is
 * kept with the user's other approvals, by the hash of all that the editor says of the server.
 */

import { createHash } from "node:crypto";
import { type AgentContext, type McpServer, methods } from "@agentclientprotocol/sdk";
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
  /** Names that the user's own settings have: those servers count. */
  readonly taken: readonly string[];
  /** The hashes of servers that the person has agreed to for good. */
  readonly kept: KeptText;
  /** Told what is left out, and why. */
  tell(problem: string): Promise<void>;
}

/** Those that the person agrees to. Asks about each that is not agreed to yet; rejects never. */
export async function admitServers(parts: EditorServersParts): Promise<readonly OwnServer[]> {
  const known = await readKept(parts.kept);
  const admitted: OwnServer[] = [];
  for (const server of parts.servers) {
    const own = await toOwn(server, parts);
    if (!own) continue;
    const hash = hashOf(server);
    const answer = known.has(hash) ? "once" : await ask(parts, own);
    if (answer === "no") {
      await parts.tell(`The MCP server ${own.name} is not used: it was not agreed to.`);
      continue;
    }
    if (answer === "always") known.add(hash);
    if (answer === "always") await parts.kept.write(JSON.stringify({ agreed: [...known] }));
    admitted.push(own);
  }
  return admitted;
}

/** Undefined for one that cannot be used, which is told. */
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

/** Names of tools hold it, with two underscores behind it. */
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
  // Rejects what is no address.
  new URL(url);
  const oauth = { clientId: undefined, clientSecret: undefined, scope: undefined, port: undefined };
  return {
    ...{ kind: "http", url, headers: literally(headers) },
    oauth: { enabled: false, ...oauth },
  };
}

/** Values of our own settings may name variables; an editor's are meant as they are. */
function literally(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value.replaceAll("$", "$$$$")]));
}

async function ask(
  { sessionId, client }: EditorServersParts,
  server: OwnServer,
): Promise<"once" | "always" | "no"> {
  const verb = server.reach.kind === "stdio" ? "Start" : "Connect to";
  const text = clip(toAddress(server), MAX_SHOWN_CHARS);
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: {
      ...{ toolCallId: `mcp:${server.name}`, kind: "other", status: "pending" },
      title: `${verb} the MCP server ${server.name}: ${text}`,
      content: [{ type: "content", content: { type: "text", text } }],
    },
    options: [
      { optionId: "once", name: "Allow for this session", kind: "allow_once" },
      { optionId: "always", name: "Allow always", kind: "allow_always" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ],
  });
  if (outcome.outcome === "cancelled") return "no";
  const { optionId } = outcome;
  return optionId === "once" || optionId === "always" ? optionId : "no";
}

async function readKept(kept: KeptText): Promise<Set<string>> {
  const parsed = tryParseJson((await kept.read()) ?? "");
  const agreed = isJsonObject(parsed) ? parsed["agreed"] : undefined;
  return new Set(Array.isArray(agreed) ? agreed.filter((one) => typeof one === "string") : []);
}

/** Of everything: another argument or another variable is another program. */
function hashOf(server: McpServer): string {
  return createHash("sha256").update(JSON.stringify(server)).digest("hex");
}
