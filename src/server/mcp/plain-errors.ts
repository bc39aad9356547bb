/**
 * Errors of the SDK in words. Parameters that do not fit their method come back from it as a failure inside of the
 * server, with all that its checker found as JSON: for a client they are invalid parameters, and one line. It also puts
 * the code before each message, and its client does so again.
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

/** A transport that sends errors of this kind in plain words. */
export function withPlainErrors(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(toPlain(message), options);
  return transport;
}

const PREFIX = /^MCP error -?\d+: /;

/** A message that is not an error is given back as it is. */
export function toPlain(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const { error } = message;
  const problem = findProblem(error.message);
  if (problem === undefined) {
    return { ...message, error: { ...error, message: error.message.replace(PREFIX, "") } };
  }
  return { ...message, error: { code: ErrorCode.InvalidParams, message: problem } };
}

/** The first of the checker's findings, which stand in brackets at the end of the text. */
function findProblem(text: string): string | undefined {
  const found = tryParseJson(text.slice(Math.max(0, text.search(/\[\s*\{/))));
  const [first] = Array.isArray(found) ? found.filter(isJsonObject) : [];
  const { path, message } = first ?? {};
  if (!Array.isArray(path) || typeof message !== "string") return undefined;
  return toProblem({ path, message });
}

/** A finding of the SDK's checker, for a client. */
export function toProblem({
  path,
  message,
}: {
  readonly path: readonly unknown[];
  readonly message: string;
}): string {
  const what = message
    .replace(/^Invalid input: /, "")
    .replace(/^expected record\b/, "expected object")
    .replace(/, received undefined$/, ", and it is missing");
  return `\`${clip(path.join("."), 80)}\` does not fit: ${clip(what, 200)}.`;
}
