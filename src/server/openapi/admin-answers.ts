/**
 * Shapes of what the addresses for administrators take and answer, for the description of the API.
 */

import { z } from "zod";
import { open } from "../../protocol/open.ts";
import { page } from "./run-answers.ts";

const text = z.string();
const ms = z.number();
const count = z.int();

const ServerKey = open({
  object: z.literal("key"),
  id: text,
  name: text,
  tenant: text,
  scopes: z.array(text),
  state: text,
  created_at_ms: ms,
  expires_at_ms: ms.nullable(),
  token: text.optional(),
  limits: z.record(text, z.number()),
  old_secret_until_ms: ms.nullable(),
});

const facts = open({
  context_tokens: count.nullable(),
  max_output_tokens: count.nullable(),
  price: open({ input: z.number(), output: z.number() }).nullable(),
}).nullable();

export const ADMIN_ANSWERS = {
  ServerKey,
  KeyList: page(ServerKey),
  TenantList: page(
    open({
      object: z.literal("tenant"),
      id: text,
      keys: count,
      bytes: z.number(),
      storage_bytes: z.number().nullable(),
      counts: z.record(text, count),
    }),
  ),
  AuditList: page(
    open({
      id: count,
      at_ms: ms,
      tenant: text,
      key_id: text.nullable(),
      action: text,
      target: text.nullable(),
      status: count,
      address: text.nullable(),
    }),
  ),
  ServedModels: open({
    object: z.literal("models"),
    names: z.array(
      open({
        name: text,
        deployments: z.array(
          open({ model: text, weight: z.number(), fallback: z.boolean(), facts }),
        ),
      }),
    ),
    deployments: z.array(open({ name: text, workers: count })),
    vendors: z.array(open({ name: text, workers: count })),
  }),
  System: open({
    object: z.literal("system"),
    version: text,
    node: text,
    pid: count,
    uptime_seconds: z.number(),
    memory: open({}),
    workers: z.array(
      open({ id: text, host: text, pid: count, silent_ms: z.number(), runs: count }),
    ),
    queues: z.array(
      open({
        name: text,
        at_once: count.nullable(),
        running: count,
        waiting: count,
        lanes: z.array(open({ lane: text, running: count, waiting: count })),
      }),
    ),
  }),
  SettingList: page(open({ name: text, value: z.unknown(), source: text, summary: text })),
  CheckList: page(open({ name: text, status: z.enum(["ok", "gap", "broken"]), found: text })),
  OwnToolList: open({
    object: z.literal("list"),
    data: z.array(open({ object: z.literal("tool"), name: text, description: text.nullable() })),
    agents: z.array(open({ name: text, description: text, model: text.nullable() })),
  }),
} as const;

const change = {
  scopes: z.array(text).optional(),
  models: z.array(text).nullable().optional(),
  tools: z.array(text).nullable().optional(),
  limits: z.record(text, z.number().nullable()).optional(),
  response_limits: z.record(text, z.number().nullable()).optional(),
  expires_in_s: z.number().nullable().optional(),
};

export const ADMIN_REQUESTS = {
  NewKey: open({ name: text, tenant: text.optional(), ...change }),
  ChangeKey: open(change),
  RotateKey: open({ keep_old_s: z.number().optional() }),
} as const;
