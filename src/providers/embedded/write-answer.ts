/**
 * Writes the reply of a turn in the requested form: text, or JSON. An answer in JSON contains only facts of
 * the understood request, texts that it read, or values that the input states; without those it is a
 * refusal.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { describeUnseen } from "./attachments.ts";
import type { EmbeddedConversation } from "./conversation.ts";
import { answerUndecided, answerUnfilled, UNKNOWN_IN_SHORT } from "./fallback.ts";
import type { IntentAnswer } from "./intents/intent.ts";
import { findPairs } from "./schema/embedded-data.ts";
import { createEvidence, createStatedEvidence, type Evidence } from "./schema/evidence.ts";
import { fillHeld, fillSchema } from "./schema/fill-schema.ts";
import { findGiven, sortMaterial } from "./schema/given-data.ts";
import { withoutNumbers } from "./tool-results.ts";

/** The decided answer, before it is written. */
export interface Decided {
  readonly answer: IntentAnswer;
  /** `unknown`: no intent has understood the request, so it may be data to convert. */
  readonly outcome: "answered" | "refused" | "unknown";
}

/** A text or a refusal. */
export interface Words {
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
}

export function writeAnswer(
  { answer, outcome }: Decided,
  { format }: ModelRequest,
  conversation: EmbeddedConversation,
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

/**
 * Writes the answer's own facts, and values of what the request asked to read. The words of the request are
 * not evidence.
 */
function writeFacts(
  answer: IntentAnswer,
  format: JsonFormat,
  conversation: EmbeddedConversation,
): Words {
  const { text, data, material = [] } = answer;
  if (format.type === "json_object") return { text: toObjectText({ answer: text, ...data }) };
  const evidence = createStatedEvidence({ ...sortMaterial(material), data, answer: text });
  return writeHeld(format.schema, evidence, conversation);
}

function writeGiven(format: JsonFormat, conversation: EmbeddedConversation): Words {
  const schema = format.type === "json_schema" ? format.schema : undefined;
  const given = findGiven(conversation, schema);
  if (!given) return { refusal: answerUndecided(conversation).text };
  if (schema) return writeHeld(schema, createStatedEvidence(given), conversation);
  const [first, ...more] = given.documents;
  if (first === undefined) return { refusal: answerUnfilled("", conversation).text };
  return { text: toObjectText(more.length > 0 ? given.documents : first) };
}

function writeHeld(
  schema: JsonObject,
  evidence: Evidence,
  conversation: EmbeddedConversation,
): Words {
  const held = fillHeld(schema, evidence);
  if ("value" in held) return { text: JSON.stringify(held.value) };
  return { refusal: answerUnfilled(held.missing, conversation).text };
}

/** Always returns an answer, even if nothing is known. */
export function makeUpAnswer(
  { answer, outcome }: Decided,
  { format }: ModelRequest,
  conversation: EmbeddedConversation,
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

/** The first document in the texts, or the pairs in the request. */
function findObject({ documents }: Evidence, { asked }: EmbeddedConversation): Json | undefined {
  return documents[0] ?? findPairs(asked.join("\n"));
}

function toObjectText(found: Json): string {
  return JSON.stringify(Array.isArray(found) ? { items: found } : found);
}

/** The request first, then its attachments, then results of tools, then earlier messages. */
function findTexts({ asked, attachments, calls, earlier }: EmbeddedConversation): string[] {
  const files = attachments.flatMap(({ text }) => text ?? []);
  const outputs = calls.flatMap(({ output }) =>
    output === undefined ? [] : [withoutNumbers(output)],
  );
  const requests = asked.map((text) => text.replace(/^---(?: .+ ---)?$/gm, ""));
  return [...requests, ...files, ...outputs, ...[...earlier].reverse()];
}
