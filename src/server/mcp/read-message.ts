/**
 * Reads what clients send before the SDK does: its check is stricter than the protocol. Some clients write fields that
 * they leave empty as null, and newer ones send fields that this server does not offer. A request that still does not
 * fit can be refused under its own id: without it, its client would wait for an answer that never comes.
 */

import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  JSONRPCRequestSchema,
  type RequestId,
  RequestIdSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { toProblem } from "./plain-errors.ts";

export type ReadMessage = { readonly message: JSONRPCMessage } | { readonly refusal: Refusal };

export interface Refusal {
  /** Null if it cannot be known which request was meant. */
  readonly id: RequestId | null;
  readonly code: number;
  readonly message: string;
}

export function readMessage(value: unknown): ReadMessage {
  const filled = fillMessage(value);
  const { data: message } = JSONRPCMessageSchema.safeParse(filled);
  return message ? { message } : { refusal: toRefusal(filled) };
}

/** Leaves out what the SDK would refuse and the protocol does not. Other values are given back as they are. */
export function fillMessage(value: unknown): unknown {
  if (!isJsonObject(value) || typeof value["method"] !== "string") return value;
  const { jsonrpc, id, method, params } = value;
  const filled = isJsonObject(params) ? fillParams(params) : params;
  return {
    jsonrpc,
    method,
    ...(id === undefined ? {} : { id }),
    ...(filled === undefined || filled === null ? {} : { params: filled }),
  };
}

/** A server that does not offer tasks must ignore the wish for one. */
function fillParams({ task: _, _meta, ...params }: JsonObject): JsonObject {
  const about = isJsonObject(_meta) ? withoutNull(_meta, "progressToken") : _meta;
  const filled = withoutNull(params, "arguments");
  return about === undefined || about === null ? filled : { ...filled, _meta: about };
}

function withoutNull(fields: JsonObject, name: string): JsonObject {
  if (fields[name] !== null) return fields;
  const { [name]: _, ...rest } = fields as { [name: string]: Json };
  return rest;
}

function toRefusal(value: unknown): Refusal {
  const refusal = { id: null, code: ErrorCode.InvalidRequest };
  const isRequest = isJsonObject(value) && typeof value["method"] === "string";
  const { data: id } = RequestIdSchema.safeParse(isRequest ? value["id"] : undefined);
  const { error } = JSONRPCRequestSchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (id === undefined || !issue) {
    return { ...refusal, message: "A line is not a JSON-RPC message." };
  }
  const code = issue.path[0] === "params" ? ErrorCode.InvalidParams : ErrorCode.InvalidRequest;
  return { id, code, message: toProblem(issue) };
}
