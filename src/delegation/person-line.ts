/**
 * How a child in a process of its own asks the person of its parent: a frame of its standard output, answered
 * by a line on its standard input. A second frame with the same number takes the question back.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { ANSWERS, type Answer, type Question } from "../tools/gate/ask.ts";

/** The name of the frame. */
export const PERSON_ASK = "subagent_approval";

export type PersonAsk =
  | { readonly ask: number; readonly question: Question }
  /** It is settled without this answer, and why. */
  | { readonly ask: number; readonly withdrawn: string };

export interface PersonAnswer {
  readonly ask: number;
  readonly answer: Answer;
}

export function encodePersonAsk(asked: PersonAsk): JsonObject {
  return { type: PERSON_ASK, ...asked } as unknown as JsonObject;
}

export function parsePersonAsk(frame: JsonObject): PersonAsk | undefined {
  const { ask, question, withdrawn } = frame;
  if (typeof ask !== "number") return undefined;
  if (typeof withdrawn === "string") return { ask, withdrawn };
  return isQuestion(question) ? { ask, question } : undefined;
}

export function encodePersonAnswer({ ask, answer }: PersonAnswer): string {
  return JSON.stringify({ type: PERSON_ASK, ask, answer });
}

/** Undefined for a line that is something else. */
export function parsePersonAnswer(line: string): PersonAnswer | undefined {
  const given = tryParseJson(line);
  if (!isJsonObject(given) || given["type"] !== PERSON_ASK) return undefined;
  const { ask, answer: said } = given;
  const answer = ANSWERS.find((one) => one === said);
  return typeof ask === "number" && answer ? { ask, answer } : undefined;
}

const TEXTS = ["id", "tool", "arguments", "effect", "reason", "sandbox"] as const;

/** It is shown to a person: what is not as it should be is not shown at all. */
function isQuestion(given: unknown): given is Question {
  const question = given as JsonObject;
  if (!isJsonObject(question) || TEXTS.some((name) => typeof question[name] !== "string")) {
    return false;
  }
  const { always, child } = question;
  const isList = Array.isArray(always) && always.every((rule) => typeof rule === "string");
  return isList && (child === null || isAsker(child));
}

function isAsker(child: unknown): boolean {
  if (!isJsonObject(child as JsonObject)) return false;
  const { label, path, task, agent, depth } = child as JsonObject;
  const areTexts = [label, path, task].every((text) => typeof text === "string");
  return areTexts && (agent === null || typeof agent === "string") && typeof depth === "number";
}
