/** `offshoot/testing`: model servers for tests, with faults; a scripted provider; a manual clock. */

export type { AwsCaller } from "./bedrock/signature.ts";
export { type BedrockUpstreamOptions, startBedrockUpstream } from "./bedrock-upstream.ts";
export { type ChatUpstreamOptions, startChatUpstream } from "./chat-upstream.ts";
export { type CohereUpstreamOptions, startCohereUpstream } from "./cohere-upstream.ts";
export type { Exchange, Piece } from "./exchange/exchange.ts";
export {
  emptyBody,
  noAnswer,
  resetBeforeHeaders,
  serverError,
  tooManyRequests,
  wrongContentType,
} from "./faults/answer-faults.ts";
export { bom, cr, crlf, cutAfter, endAfter, pieces } from "./faults/byte-faults.ts";
export type { Fault, Faults } from "./faults/fault.ts";
export { FAULTS, type FaultRow } from "./faults/fault-table.ts";
export {
  comments,
  doneTwice,
  duplicateIds,
  errorInStream,
  garbageLine,
  halfCharacter,
  longLine,
  noFinalBlankLine,
  noTerminal,
  reset,
  silence,
  splitCharacter,
} from "./faults/stream-faults.ts";
export { type GeminiUpstreamOptions, startGeminiUpstream } from "./gemini-upstream.ts";
export { type LlamacppUpstreamOptions, startLlamacppUpstream } from "./llamacpp-upstream.ts";
export type { RecordedRequest, Upstream } from "./loopback.ts";
export { createManualClock, type ManualClock } from "./manual-clock.ts";
export { type MessagesUpstreamOptions, startMessagesUpstream } from "./messages-upstream.ts";
export { type OllamaUpstreamOptions, startOllamaUpstream } from "./ollama-upstream.ts";
export { type Reply, type ReplyOptions, reply, type ScriptedCall } from "./reply.ts";
export { type ResponsesUpstreamOptions, startResponsesUpstream } from "./responses-upstream.ts";
export {
  createEmbeddedEngine,
  respond,
  type Script,
  type ScriptEngine,
  script,
} from "./script.ts";
export { createScriptedProvider, type ScriptedProvider } from "./scripted-provider.ts";
export { startUpstream, type UpstreamOptions } from "./upstream.ts";
