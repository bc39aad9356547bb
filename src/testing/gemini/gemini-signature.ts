/**
 * Thought signatures: not secret, but texts that only this server makes and that are valid for one part, so that a
 * client which loses, changes or misplaces one is detected.
 */

import { createHash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

/** The service's own word for a call that another model made. */
const UNCHECKED = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

export interface Signatures {
  /** Signs a part that is about to be sent. */
  sign(part: JsonObject): JsonObject;
  /** True if the part's signature was made here, for this part. */
  isValid(part: JsonObject): boolean;
  /** True if this server signed such a call before. */
  hasSigned(part: JsonObject): boolean;
}

export function createSignatures(): Signatures {
  const issued = new Set<string>();
  return {
    sign(part) {
      const thoughtSignature = signatureOf(part);
      issued.add(thoughtSignature);
      return { ...part, thoughtSignature };
    },
    isValid(part) {
      const signature = String(part["thoughtSignature"]);
      if (UNCHECKED.includes(signature)) return true;
      return issued.has(signature) && signature === signatureOf(part);
    },
    hasSigned: (part) => issued.has(signatureOf(part)),
  };
}

/** Models of the third generation and later require signatures back; earlier ones do not. */
export function isSigningModel(model: string): boolean {
  return Number(/gemini-(\d+)/.exec(model)?.[1] ?? 0) >= 3;
}

function signatureOf({ text, functionCall }: JsonObject): string {
  const signed: Json = isJsonObject(functionCall)
    ? [functionCall["name"] ?? "", functionCall["args"] ?? {}]
    : (text ?? "");
  return createHash("sha256").update(JSON.stringify(signed)).digest("base64");
}
