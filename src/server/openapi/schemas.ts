/**
 * The schemas of the API as JSON Schema, under their names in the code: those that requests are checked with, and
 * those of the answers. A named schema is referred to and not repeated.
 */

import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { CreateEmbeddings } from "../../protocol/embeddings.ts";
import * as protocol from "../../protocol/index.ts";
import { choiceOf, open } from "../../protocol/open.ts";
import { CancelResponse, SteerResponse } from "../../responses/api/control.ts";
import { ChatRequest } from "../../responses/chat/chat-request.ts";
import { UpdateChat } from "../../responses/chat/stored-chats.ts";
import { NewContainerBody } from "../../responses/containers/new-container.ts";
import {
  CreateConversation,
  UpdateConversation,
} from "../../responses/conversations/conversations.ts";
import { NewItems } from "../../responses/conversations/items.ts";
import { NewFileFields } from "../../responses/files/new-file.ts";
import { MessagesRequest } from "../../responses/messages/messages-request.ts";
import { CreateBatch } from "../../responses/vector-stores/batches.ts";
import { SearchRequest } from "../../responses/vector-stores/search-request.ts";
import { NewStoreFile, UpdateStoreFile } from "../../responses/vector-stores/store-files.ts";
import { CreateStore, UpdateStore } from "../../responses/vector-stores/stores.ts";
import { ADMIN_ANSWERS, ADMIN_REQUESTS } from "./admin-answers.ts";
import { ANSWERS as OTHER_ANSWERS } from "./answers.ts";
import { RUN_ANSWERS, RUN_REQUESTS } from "./run-answers.ts";

const ANSWERS = { ...OTHER_ANSWERS, ...RUN_ANSWERS, ...ADMIN_ANSWERS } as const;

const REQUESTS = {
  CreateEmbeddings,
  ChatRequest,
  CreateConversation,
  UpdateConversation,
  NewItems,
  NewFileFields,
  CreateStore,
  UpdateStore,
  SearchRequest,
  NewStoreFile,
  UpdateStoreFile,
  CreateBatch,
  NewContainerBody,
  CancelResponse,
  SteerResponse,
  UpdateChat,
  ...RUN_REQUESTS,
  ...ADMIN_REQUESTS,
  MessagesRequest,
  NewContainerFile: open({ file_id: z.string().optional() }),
} as const;

type ProtocolName = "CreateResponse" | "Response" | "ResponseEvent";
export type SchemaName = ProtocolName | keyof typeof REQUESTS | keyof typeof ANSWERS;

export function toSchemas(): Record<string, JsonObject> {
  const named = collect();
  const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [name, describe(schema, names, schema)]),
  );
}

/**
 * Collects items, parts, tools and events, which have names of their own. Exports that are not schemas are left out.
 */
function collect(): Record<string, z.core.$ZodType> {
  const known: Record<string, z.core.$ZodType> = {};
  for (const [name, value] of Object.entries<unknown>(protocol)) {
    if (value instanceof z.ZodType) known[name] = value;
  }
  return { ...known, ...REQUESTS, ...ANSWERS };
}

type Names = ReadonlyMap<z.core.$ZodType, string>;

/** `of` itself is written out, even if it has a name. */
function describe(schema: z.core.$ZodType, names: Names, of?: z.core.$ZodType): JsonObject {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const name = zodSchema === of ? undefined : names.get(zodSchema);
      if (name === undefined && !choiceOf(zodSchema)) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      Object.assign(jsonSchema, name === undefined ? toChoice(zodSchema, names) : toRef(name));
    },
  });
  return described as unknown as JsonObject;
}

function toRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function toChoice(schema: z.core.$ZodType, names: Names): JsonObject {
  const { among = [], knownTypes } = choiceOf(schema) ?? {};
  const anyOf = among.map((one) => {
    const name = names.get(one);
    return name === undefined ? describe(one, names) : toRef(name);
  });
  return { anyOf: knownTypes ? [...anyOf, toOther(knownTypes)] : anyOf };
}

/** An object of a kind that this server does not know. It is kept and passed on. */
function toOther(known: readonly string[]): JsonObject {
  const type = { type: "string", not: { enum: [...known] } };
  return { type: "object", properties: { type }, required: ["type"] };
}
