/**
 * What a turn says, in the form that was asked for: words, or JSON. An answer in JSON has only what the
 * understood request's own facts, what it read, or the input state; without those it is a refusal.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { describeUnseen } from "./attachments.ts";
import type { Conversation } from "./conversation.ts";
import { answerUndecided, answerUnfilled, UNKNOWN_IN_SHORT } from "./fallback.ts";
import type { Answer } from "./intents/intent.ts";
import { findPairs } from "./schema/embedded-data.ts";
import { createEvidence, createStatedEvidence, type Evidence } from "./schema/evidence.ts";
import { fillHeld, fillSchema } from "./schema/fill-schema.ts";
import { findGiven, sortMaterial } from "./schema/given-data.ts";
import { withoutNumbers } from "./tool-results.ts";

/** What was decided to be said. */
export interface Decided {
  readonly answer: Answer;
  /** `unknown`: no intent has understood it, so that it may be data to be given on in another form. */
  readonly outcome: "answered" | "refused" | "unknown";
}

/** One of the two. */
export interface Words {
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
}

export function writeAnswer(
  { answer, outcome }: Decided,
  { format }: ModelRequest,
  conversation: Conversation,
): Words {
  const { text } = answer;
  const unseen = describeUnseen(conversation.attachments);
  const refusal = unseen === undefined ? text : `${unseen} ${text}`;
  if (outcome === "refused") return { refusal };
  if (format.type === "text") {
    if (outcome === "unknown") return { refusal };
    return { text: unseen === undefined ? text : `${text}\n\n${unseen}` };
  }
  return outcome === "unknown"
    ? writeGiven(format, conversation)
    : writeFacts(answer, format, conversation);
}

type JsonFormat = Exclude<OutputFormat, { readonly type: "text" }>;

/** The answer's own facts, and what it has read because it was asked to. The words of the request are no evidence. */
function writeFacts(answer: Answer, format: JsonFormat, conversation: Conversation): Words {
  const { text, data, material = [] } = answer;
  if (format.type === "json_object") return { text: toObjectText({ answer: text, ...data }) };
  const evidence = createStatedEvidence({ ...sortMaterial(material), data, answer: text });
  return writeHeld(format.schema, evidence, conversation);
}

function writeGiven(format: JsonFormat, conversation: Conversation): Words {
  const schema = format.type === "json_schema" ? format.schema : undefined;
  const given = findGiven(conversation, schema);
  if (!given) return { refusal: answerUndecided(conversation).text };
  if (schema) return writeHeld(schema, createStatedEvidence(given), conversation);
  const [first, ...more] = given.documents;
  if (first === undefined) return { refusal: answerUnfilled("", conversation).text };
  return { text: toObjectText(more.length > 0 ? given.documents : first) };
}

function writeHeld(schema: JsonObject, evidence: Evidence, conversation: Conversation): Words {
  const held = fillHeld(schema, evidence);
  if ("value" in held) return { text: JSON.stringify(held.value) };
  return { refusal: answerUnfilled(held.missing, conversation).text };
}

/** Always an answer, also where nothing is known. */
export function makeUpAnswer(
  { answer, outcome }: Decided,
  { format }: ModelRequest,
  conversation: Conversation,
): Words {
  const { text, data } = answer;
  if (format.type === "text") {
    const unseen = describeUnseen(conversation.attachments);
    return { text: unseen === undefined ? text : `${text}\n\n${unseen}` };
  }
  const isAnswer = outcome === "answered";
  const evidence = createEvidence({
    texts: findTexts(conversation),
    data,
    answer: isAnswer ? text : UNKNOWN_IN_SHORT,
  });
  if (format.type === "json_schema") {
    return { text: JSON.stringify(fillSchema(format.schema, evidence)) };
  }
  const found = isAnswer ? undefined : findObject(evidence, conversation);
  return { text: toObjectText(found ?? { answer: text, ...data }) };
}

/** The first document in the texts, or what the request says in pairs. */
function findObject({ documents }: Evidence, { asked }: Conversation): Json | undefined {
  return documents[0] ?? findPairs(asked.join("\n"));
}

function toObjectText(found: Json): string {
  return JSON.stringify(Array.isArray(found) ? { items: found } : found);
}

/** The request first, then what it brought along, then what tools said, then earlier messages. */
function findTexts({ asked, attachments, calls, earlier }: Conversation): string[] {
  const files = attachments.flatMap(({ text }) => text ?? []);
  const outputs = calls.flatMap(({ output }) =>
    output === undefined ? [] : [withoutNumbers(output)],
  );
  const requests = asked.map((text) => text.replace(/^---(?: .+ ---)?$/gm, ""));
  return [...requests, ...files, ...outputs, ...[...earlier].reverse()];
}
