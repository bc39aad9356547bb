/**
 * Seals data that a client keeps for this server and may neither read nor change: encrypted with the server's key and
 * bound to the tenant, so that it is useless for others. Data of another server does not open here.
 */

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { Json } from "../../base/json.ts";

export interface TenantSeal {
  seal(value: Json): string;
  /** Undefined for text that was sealed elsewhere, for another tenant or purpose, or not at all. */
  open(text: string): Json | undefined;
}

export interface SealUse {
  /** Data sealed for one purpose does not open for another. */
  readonly purpose: string;
  /** The prefix of every seal of the purpose. */
  readonly prefix: string;
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createTenantSeal(
  serverKey: Uint8Array,
  tenant: string,
  { purpose, prefix }: SealUse,
): TenantSeal {
  let known: Buffer | undefined;
  // Made for every response, and used by few of them.
  const key = (): Buffer => {
    known ??= createHmac("sha256", serverKey).update(purpose).digest();
    return known;
  };
  const owner = Buffer.from(tenant, "utf8");

  return {
    seal(value) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key(), nonce).setAAD(owner);
      const text = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      const bytes = Buffer.concat([nonce, cipher.getAuthTag(), text]);
      return prefix + bytes.toString("base64url");
    },
    open(text) {
      if (!text.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(text.slice(prefix.length), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const tagEnd = NONCE_BYTES + TAG_BYTES;
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv(ALGORITHM, key(), nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(owner).setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
        const opened = Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]);
        return JSON.parse(opened.toString("utf8")) as Json;
      } catch {
        // Not sealed by us, which is not an error here.
        return undefined;
      }
    },
  };
}
