/**
 * How a child in a process of its own asks the person of its parent: a frame of its standard output, answered by a
 * line on its standard input. A second frame with the same number withdraws the question.
 *
 * What the person allows for the whole tree goes both ways, so that each process of the tree can decide by itself
 * whether it covers a call: only that process knows what the call touches.
 */

import {
  asJsonObject,
  isJsonObject,
  type Json,
  type JsonObject,
  tryParseJson,
} from "../base/json.ts";
import { type Allowance, readAllowance } from "../tools/gate/always.ts";
import { ANSWERS, type Answer, type Question } from "../tools/gate/ask.ts";

/** The name of the frame. */
export const PERSON_ASK = "subagent_approval";

export type PersonAsk =
  | { readonly ask: number; readonly question: Question }
  /** The question is settled without this answer, and why. */
  | { readonly ask: number; readonly withdrawn: string }
  /** This was allowed for the whole tree, in an answer that came from elsewhere. */
  | { readonly allowed: Allowance };

export interface PersonAnswer {
  readonly ask: number;
  readonly answer: Answer;
  /** Words for the model, with a no. */
  readonly reason?: string | undefined;
}

export function encodePersonAsk(asked: PersonAsk): JsonObject {
  return asJsonObject({ type: PERSON_ASK, ...asked });
}

export function parsePersonAsk(frame: JsonObject): PersonAsk | undefined {
  const { ask, question, withdrawn, allowed } = frame;
  if (allowed !== undefined) return toAllowed(allowed);
  if (typeof ask !== "number") return undefined;
  if (typeof withdrawn === "string") return { ask, withdrawn };
  return isQuestion(question) ? { ask, question } : undefined;
}

export function encodePersonAnswer({ ask, answer, reason }: PersonAnswer): string {
  return JSON.stringify({ type: PERSON_ASK, ask, answer, reason });
}

/** Undefined for a line that is something else. */
export function parsePersonAnswer(line: string): PersonAnswer | undefined {
  const given = tryParseJson(line);
  if (!isJsonObject(given) || given["type"] !== PERSON_ASK) return undefined;
  const { ask, answer: said, reason } = given;
  const answer = ANSWERS.find((one) => one === said);
  if (typeof ask !== "number" || !answer) return undefined;
  return { ask, answer, reason: typeof reason === "string" ? reason : undefined };
}

/** The allowances of the whole tree, in the form that is sent to a process below. */
export function encodeAllowed(allowed: Allowance): string {
  return JSON.stringify({ type: PERSON_ASK, allowed });
}

/** Undefined for a line that is something else. */
export function parseAllowed(line: string): Allowance | undefined {
  const given = tryParseJson(line);
  if (!isJsonObject(given) || given["type"] !== PERSON_ASK) return undefined;
  return readAllowance(given["allowed"]);
}

function toAllowed(given: Json): PersonAsk | undefined {
  const allowed = readAllowance(given);
  return allowed && { allowed };
}

const TEXTS = ["id", "tool", "arguments", "effect", "reason", "sandbox"] as const;

/** A question is shown to a person: one with invalid fields is not shown at all. */
function isQuestion(given: unknown): given is Question {
  const question = given as JsonObject;
  if (!isJsonObject(question) || TEXTS.some((name) => typeof question[name] !== "string")) {
    return false;
  }
  const { always, asksEveryTime, child } = question;
  const isList = Array.isArray(always) && always.every((rule) => typeof rule === "string");
  return isList && typeof asksEveryTime === "boolean" && (child === null || isAsker(child));
}

function isAsker(child: unknown): boolean {
  if (!isJsonObject(child as JsonObject)) return false;
  const { label, path, task, agent, depth } = child as JsonObject;
  const areTexts = [label, path, task].every((text) => typeof text === "string");
  return areTexts && (agent === null || typeof agent === "string") && typeof depth === "number";
}
