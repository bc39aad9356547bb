/**
 * Answers to approval questions as messages of the engine. The run that asks waits for one under the question's name;
 * any process can leave it. Only a person's commands and programs leave answers; no tool does.
 */

import { isJsonObject, type Json } from "../base/json.ts";
import type { Answer, AnswerFromElsewhere } from "../tools/gate/ask.ts";

/** Ending the run is not an answer: cancelling does that. */
export const REMOTE_ANSWERS = ["yes", "no", "always", "tree"] as const satisfies readonly Answer[];
export type RemoteAnswer = (typeof REMOTE_ANSWERS)[number];

/** One topic for each question: an answer never counts for another question. */
export function toApprovalTopic(question: string): string {
  return `approval:${question}`;
}

export function encodeApproval({ answer, reason, key, from }: AnswerFromElsewhere): Json {
  return { answer, key, from, ...(reason === undefined ? {} : { reason }) };
}

/** Undefined for a message that is not an answer. */
export function parseApproval(body: Json): AnswerFromElsewhere | undefined {
  if (!isJsonObject(body)) return undefined;
  const { answer: said, key, from, reason } = body;
  const answer = REMOTE_ANSWERS.find((one) => one === said);
  if (!answer || typeof key !== "string" || typeof from !== "string") return undefined;
  return { answer, key, from, ...(typeof reason === "string" ? { reason } : {}) };
}
