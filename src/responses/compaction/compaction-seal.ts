/**
 * The form in which a compacted conversation is handed to a client: sealed with this server's key and
 * bound to the tenant, so that a client can neither read nor write one, and nobody can use another's.
 * What another server made does not open here and is nothing to us.
 */

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { Item } from "../../protocol/items.ts";

/** What stands in place of a conversation. */
export interface CompactedContext {
  /** A model's own words on what was said and done. */
  readonly summary: string;
  /** What users and developers said, word for word, as far as there was room. */
  readonly messages: readonly Item[];
  /** How the conversation ended, word for word: calls that wait for their results, the last answer. */
  readonly tail: readonly Item[];
  /** Marks of all messages that are in it, in `messages` or in the summary alone. */
  readonly covered: readonly string[];
}

export interface CompactionSeal {
  seal(context: CompactedContext): string;
  /** Undefined for what was sealed elsewhere, for another tenant, or not at all. */
  open(text: string): CompactedContext | undefined;
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = "offshoot1.";

export function createCompactionSeal(serverKey: Uint8Array, tenant: string): CompactionSeal {
  // A key of its own: what is sealed for one purpose must not open for another.
  const key = createHmac("sha256", serverKey).update("compaction").digest();
  const owner = Buffer.from(tenant, "utf8");

  return {
    seal(context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(owner);
      const text = Buffer.concat([cipher.update(JSON.stringify(context), "utf8"), cipher.final()]);
      const bytes = Buffer.concat([nonce, cipher.getAuthTag(), text]);
      return PREFIX + bytes.toString("base64url");
    },
    open(text) {
      if (!text.startsWith(PREFIX)) return undefined;
      const bytes = Buffer.from(text.slice(PREFIX.length), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const tagEnd = NONCE_BYTES + TAG_BYTES;
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(owner).setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
        const opened = Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]);
        return JSON.parse(opened.toString("utf8")) as CompactedContext;
      } catch {
        // Not being ours is an ordinary outcome here.
        return undefined;
      }
    },
  };
}
