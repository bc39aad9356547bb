/**
 * The messages of one run of a team: it takes those that are for it, and hands on those for agents below it to
 * the runs that they have now.
 *
 * An agent that does not work has no run to hand anything to. What came for it is kept here, and its next run is
 * handed all of it: a message that comes twice is known by its name, or by its number in the head's log.
 */

import { Failure } from "../../base/failure.ts";
import type { RunContext } from "../../engine/engine.ts";
import { isBelow } from "../fold/agent-name.ts";
import type { LetterBox } from "./letter-box.ts";
import {
  type InjectedAnswers,
  type Letter,
  readMessage,
  type TakenAnswer,
  TEAM_TOPIC,
  type TeamMessage,
  toSignal,
} from "./team-messages.ts";

interface PostParts {
  readonly me: string;
  readonly context: Pick<RunContext, "id" | "waitFor" | "runs">;
  readonly box: LetterBox;
  /** The run of an agent right below this one that works now. */
  readonly runOf: (name: string) => string | undefined;
  /** Takes the client's answers, at the head. */
  readonly onInjected: (answers: InjectedAnswers) => Promise<void>;
  /** Takes what the head has taken, further down. */
  readonly onTaken: (answer: TakenAnswer) => Promise<void>;
  /** A letter has come for this run's own agent. */
  readonly onLetter: () => void;
}

export class TeamPost {
  readonly #parts: PostParts;
  readonly #headId: string;
  /** The client's answers so far, oldest first, to this run's agent and those below it. */
  readonly #taken: TakenAnswer[] = [];

  constructor(parts: PostParts) {
    this.#parts = parts;
    this.#headId = parts.context.id.split("/", 1)[0] ?? parts.context.id;
  }

  get headId(): string {
    return this.#headId;
  }

  /** Takes messages for as long as this process has the run; rejects then. Run code. */
  async listen(work: (job: () => Promise<void>) => void): Promise<never> {
    for (;;) {
      const body = await this.#parts.context.waitFor(TEAM_TOPIC, Number.POSITIVE_INFINITY);
      const message = readMessage(body);
      if (message) work(() => this.#read(message));
    }
  }

  /** Sends a letter, by way of the head: it alone can reach every agent. */
  async send(letter: Letter): Promise<void> {
    const message: TeamMessage = { kind: "letter", letter };
    await this.#parts.context.runs.signal(this.#headId, TEAM_TOPIC, toSignal(message));
  }

  /** The client's answers that are in this run's log now: those for agents below are handed on. */
  async note(answers: readonly TakenAnswer[]): Promise<void> {
    this.#taken.push(...answers);
    for (const answer of answers) await this.#handOn({ kind: "taken", answer }, answer.event.agent);
  }

  /** The same at a takeover: whoever works hears of them when it is found again. */
  remember(answers: readonly TakenAnswer[]): void {
    this.#taken.push(...answers);
  }

  /** Hands all that came for an agent and those below it to the run that it has now. */
  async handAll(name: string): Promise<void> {
    for (const letter of this.#parts.box.within(name)) {
      await this.#handOn({ kind: "letter", letter }, letter.recipient);
    }
    const answers = this.#taken.filter(
      ({ event: { agent } }) => agent === name || isBelow(agent, name),
    );
    for (const answer of answers) await this.#handOn({ kind: "taken", answer }, answer.event.agent);
  }

  async #read(message: TeamMessage): Promise<void> {
    switch (message.kind) {
      case "injected":
        return await this.#parts.onInjected(message.answers);
      case "taken":
        return await this.#parts.onTaken(message.answer);
      case "letter":
        return await this.#readLetter(message.letter);
    }
  }

  async #readLetter(letter: Letter): Promise<void> {
    const { box, me, onLetter } = this.#parts;
    if (!box.add(letter)) return;
    if (letter.recipient === me) onLetter();
    else await this.#handOn({ kind: "letter", letter }, letter.recipient);
  }

  async #handOn(message: TeamMessage, recipient: string): Promise<void> {
    const { me, context, runOf } = this.#parts;
    const next = toNext(recipient, me);
    const run = next === undefined ? undefined : runOf(next);
    if (run === undefined) return;
    await context.runs.signal(run, TEAM_TOPIC, toSignal(message)).catch(refuseUnlessEnded);
  }
}

/** The agent right below `me` on the way to another; undefined for one that is not below it. */
export function toNext(name: string, me: string): string | undefined {
  if (!isBelow(name, me)) return undefined;
  const [first = ""] = name.slice(me.length + 1).split("/");
  return `${me}/${first}`;
}

/** An agent that has just ended is handed it with its next run. */
function refuseUnlessEnded(thrown: unknown): void {
  if (!(thrown instanceof Failure) || thrown.code !== "conflict") throw thrown;
}
