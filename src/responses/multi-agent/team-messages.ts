/**
 * Messages for the runs of a team: messages of the engine on one topic. The client's answers and all letters go to
 * the team's first run, and from there down: each run passes on those for its own agents. The messages that a run has
 * taken are in its journal, so a process that takes it over reads them again.
 */

import { asJson, isJsonObject, type Json } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import type { ChildReport } from "../../delegation/child.ts";
import type { Item } from "../../protocol/items.ts";
import type { ClientInput } from "../../protocol/run-events.ts";

export const TEAM_TOPIC = "team";

/** A message of one agent to another. */
export interface Letter {
  readonly id: string;
  readonly author: string;
  readonly recipient: string;
  readonly text: string;
}

/** Answers of the client as they come, for the first run only. */
export interface InjectedAnswers {
  /** Names the message, and its result in the log. */
  readonly key: string;
  readonly items: readonly Item[];
}

/** Answers that the first run has taken into its log, under this number. */
export interface TakenAnswer {
  readonly seq: number;
  readonly event: ClientInput;
}

export type TeamMessage =
  | { readonly kind: "injected"; readonly answers: InjectedAnswers }
  | { readonly kind: "taken"; readonly answer: TakenAnswer }
  | { readonly kind: "letter"; readonly letter: Letter };

/** The message in the engine's form: the same message twice is left once. */
export function toSignal(message: TeamMessage): { readonly key: string; readonly body: Json } {
  return { key: `${message.kind}:${keyOf(message)}`, body: asJson(message) };
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

/** Written only by this package, so checked only for its kind. */
export function readMessage(body: Json): TeamMessage | undefined {
  const isOne = isJsonObject(body) && KINDS.has(String(body["kind"]));
  return isOne ? STORED_MESSAGE.read(body) : undefined;
}

const STORED_MESSAGE = storedObject<TeamMessage>("a message of a team", ["kind"]);

const KINDS: ReadonlySet<string> = new Set(["injected", "taken", "letter"]);

/** The id of a letter that a run, or a call of one, has caused. */
export function toLetterId(cause: string): string {
  return `amsg_${cause.replace(/^run_/, "").replace(/[^A-Za-z0-9_-]/g, "_")}`;
}

/** The text about an agent's end for the agent that started it. */
export function toAnswerText({
  ending,
  text,
  message,
}: Pick<ChildReport, "ending" | "text" | "message">): string {
  if (ending === "completed") return text.trim() === "" ? "(It gave no answer.)" : text;
  if (text.trim() === "") return `Error: ${message || "The agent failed."}`;
  return `${text}\n\n[It could not finish: ${message}]`;
}

/** A letter as an item of its recipient's conversation. */
export function toMessageItem({ id, author, recipient, text }: Letter): Item {
  const content = [{ type: "input_text" as const, text }];
  return { type: "agent_message", id, author, recipient, content };
}
