/**
 * The signatures this server gave for reasoning, so that a client which changes or loses it before a
 * tool's result is found out, as the real service finds out.
 */

import { createHmac } from "node:crypto";

export interface ReasoningMemory {
  /** Whether what is thought is signed at all, and taken back with its signature alone. */
  readonly isSigning: boolean;
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
  /** The call came right behind reasoning with this signature. */
  remember(toolUseId: string, signature: string): void;
  signatureBefore(toolUseId: string): string | undefined;
}

/** Models of other makers sign nothing, and take back whatever they are told that they thought. */
export const UNSIGNED: ReasoningMemory = {
  isSigning: false,
  sign: () => "",
  isSigned: () => true,
  remember() {},
  signatureBefore: () => undefined,
};

export function createReasoningMemory(): ReasoningMemory {
  const before = new Map<string, string>();
  const sign = (text: string): string =>
    createHmac("sha256", "reasoning of this server").update(text).digest("base64");
  return {
    isSigning: true,
    sign,
    isSigned: (text, signature) => sign(text) === signature,
    remember: (toolUseId, signature) => before.set(toolUseId, signature),
    signatureBefore: (toolUseId) => before.get(toolUseId),
  };
}
