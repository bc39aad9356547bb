/**
 * The signatures this server gave for reasoning, so that it detects a client which changes or loses
 * reasoning before a tool's result, as the real service does.
 */

import { createHmac } from "node:crypto";

export interface ReasoningMemory {
  /** True if reasoning is signed, and accepted only with its signature. */
  readonly isSigning: boolean;
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
  /** The call came directly after reasoning with this signature. */
  remember(toolUseId: string, signature: string): void;
  signatureBefore(toolUseId: string): string | undefined;
}

/** Models of other makers sign nothing, and accept any reasoning. */
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
