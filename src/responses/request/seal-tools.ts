/**
 * Seals the secrets in a request's tools before the request is written down: a resumed run needs them, and the record
 * must not show them. The key is this server's own.
 */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Failure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The field of a tool with its sealed secrets. */
export const SEALED_FIELD = "offshoot_sealed";

interface Secrets {
  readonly authorization?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
}

export function sealTools(tools: readonly Tool[], key: Uint8Array): readonly Tool[] {
  return tools.map((tool) => {
    if (tool.type !== "mcp" || (!tool.authorization && !tool.headers)) return tool;
    const { authorization, headers, ...open } = tool;
    return { ...open, [SEALED_FIELD]: seal({ authorization, headers }, key) } as Tool;
  });
}

/** Seals the secrets of tools that items bring. Items about MCP servers need no secrets. */
export function sealItems(items: readonly Item[], key: Uint8Array): Item[] {
  return items.map((item) => {
    if (bringsTools(item)) return { ...item, tools: [...sealTools(item.tools, key)] };
    return item.type.startsWith("mcp_") ? withoutSecrets(item) : item;
  });
}

/** Rejects as `unsealTools` does. */
export function unsealItem(item: Item, key: Uint8Array): Item {
  return bringsTools(item) ? { ...item, tools: [...unsealTools(item.tools, key)] } : item;
}

type Bringing = Extract<Item, { readonly type: "additional_tools" | "tool_search_output" }>;

function bringsTools(item: Item): item is Bringing {
  return item.type === "additional_tools" || item.type === "tool_search_output";
}

function withoutSecrets(item: Item): Item {
  const { authorization: _, headers: __, ...rest } = item as Item & Secrets;
  return rest as Item;
}

/** Rejects with `invalid_request` a value that was not sealed with this key. */
export function unsealTools(tools: readonly Tool[], key: Uint8Array): readonly Tool[] {
  return tools.map((tool) => {
    const { [SEALED_FIELD]: sealed, ...open } = tool as Tool & {
      readonly [SEALED_FIELD]?: unknown;
    };
    return sealed === undefined ? tool : ({ ...open, ...unseal(sealed, key) } as Tool);
  });
}

function seal(secrets: Secrets, key: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(secrets), "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

/** Clients can write anything into the field; only values sealed with this key open. */
function unseal(sealed: unknown, key: Uint8Array): Secrets {
  try {
    const bytes = Buffer.from(String(sealed), "base64");
    const tagEnd = NONCE_BYTES + TAG_BYTES;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
    const text = Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]);
    return JSON.parse(text.toString("utf8")) as Secrets;
  } catch (cause) {
    const message = `\`${SEALED_FIELD}\` of a tool was not sealed by this server. Send the tool whole.`;
    throw new Failure("invalid_request", message, { param: "tools", cause });
  }
}
