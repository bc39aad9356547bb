/**
 * The messages between an editor and the SDK. Fields that the schema requires and that we do not need may be left out.
 * An error of the SDK about a field says in words which one it is: editors show the message alone.
 */

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

export function toEditorStream({ readable, writable }: Stream): Stream {
  const filled = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      controller.enqueue(fill(message));
    },
  });
  // Not a second pipe: what was written has left when the write has ended.
  const writer = writable.getWriter();
  const told = new WritableStream<AnyMessage>({
    write: (message) => writer.write(toPlain(message)),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return { readable: readable.pipeThrough(filled), writable: told };
}

const OPENING: ReadonlySet<string> = new Set(["session/new", "session/load", "session/resume"]);

/** Some editors send no list of MCP servers, or only the command of a server. */
function fill(message: AnyMessage): AnyMessage {
  if (!("method" in message) || !OPENING.has(message.method)) return message;
  const { params } = message;
  if (!isJsonObject(params)) return message;
  const servers = params["mcpServers"] ?? [];
  const mcpServers = Array.isArray(servers) ? servers.map(fillServer) : servers;
  return { ...message, params: { ...params, mcpServers } };
}

function fillServer(server: Json): Json {
  if (!isJsonObject(server)) return server;
  const lists = "command" in server ? ["args", "env"] : ["headers"];
  const missing = lists.filter((name) => (server[name] ?? null) === null);
  return { ...server, ...Object.fromEntries(missing.map((name) => [name, []])) };
}

const WORDLESS = "Invalid params";

function toPlain(message: AnyMessage): AnyMessage {
  if (!("error" in message) || message.error.message !== WORDLESS) return message;
  const { error } = message;
  const { data } = error;
  const problem = isJsonObject(data) ? findProblem(data, []) : undefined;
  return problem === undefined ? message : { ...message, error: { ...error, message: problem } };
}

/** The first finding of the SDK's checker, which lists them by field. */
function findProblem(found: JsonObject, path: readonly string[]): string | undefined {
  const { _errors: errors, ...fields } = found;
  const [first] = Array.isArray(errors) ? errors : [];
  if (typeof first === "string") return toWords(first, path);
  for (const [name, inner] of Object.entries(fields)) {
    const problem = isJsonObject(inner) ? findProblem(inner, [...path, name]) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function toWords(finding: string, path: readonly string[]): string {
  const what = finding
    .replace(/^Invalid input: /, "")
    .replace(/, received undefined$/, ", and it is missing");
  const where = clip(["params", ...path].join("."), 80);
  return `${WORDLESS}: \`${where}\` does not fit: ${clip(what, 200)}.`;
}
