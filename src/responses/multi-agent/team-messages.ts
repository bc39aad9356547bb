/**
 * What is left for the runs of a team, as messages of the engine on one topic. The client's answers and all
 * letters go to the team's head, and from there down: each run hands on what is for its own agents. What a run
 * has taken is in its journal, so whoever takes it over reads it again.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { ChildReport } from "../../delegation/child.ts";
import type { Item } from "../../protocol/items.ts";
import type { ClientInput } from "../../protocol/run-events.ts";

export const TEAM_TOPIC = "team";

/** What one agent tells another. */
export interface Letter {
  readonly id: string;
  readonly author: string;
  readonly recipient: string;
  readonly text: string;
}

/** Answers of the client as they come, for the head alone. */
export interface InjectedAnswers {
  /** Names the message, and what becomes of it in the log. */
  readonly key: string;
  readonly items: readonly Item[];
}

/** Answers that the head has taken into its log, under this number. */
export interface TakenAnswer {
  readonly seq: number;
  readonly event: ClientInput;
}

export type TeamMessage =
  | { readonly kind: "injected"; readonly answers: InjectedAnswers }
  | { readonly kind: "taken"; readonly answer: TakenAnswer }
  | { readonly kind: "letter"; readonly letter: Letter };

/** A message as it is left: the same again is left once. */
export function toSignal(message: TeamMessage): { readonly key: string; readonly body: Json } {
  return { key: `${message.kind}:${keyOf(message)}`, body: message as unknown as Json };
}

function keyOf(message: TeamMessage): string {
  switch (message.kind) {
    case "injected":
      return message.answers.key;
    case "taken":
      return `${message.answer.seq}`;
    case "letter":
      return message.letter.id;
  }
}

/** Written by this package: taken at its word, except for its being one. */
export function readMessage(body: Json): TeamMessage | undefined {
  const isOne = isJsonObject(body) && KINDS.has(String(body["kind"]));
  return isOne ? (body as unknown as TeamMessage) : undefined;
}

const KINDS: ReadonlySet<string> = new Set(["injected", "taken", "letter"]);

/** The id of a letter that a run, or a call of one, has caused. */
export function toLetterId(cause: string): string {
  return `amsg_${cause.replace(/^run_/, "").replace(/[^A-Za-z0-9_-]/g, "_")}`;
}

/** What an agent's end is to the one that started it. */
export function toAnswerText({
  ending,
  text,
  message,
}: Pick<ChildReport, "ending" | "text" | "message">): string {
  if (ending === "completed") return text.trim() === "" ? "(It gave no answer.)" : text;
  if (text.trim() === "") return `Error: ${message || "The agent failed."}`;
  return `${text}\n\n[It could not finish: ${message}]`;
}

/** A letter as its recipient's conversation has it. */
export function toMessageItem({ id, author, recipient, text }: Letter): Item {
  const content = [{ type: "input_text" as const, text }];
  return { type: "agent_message", id, author, recipient, content };
}
