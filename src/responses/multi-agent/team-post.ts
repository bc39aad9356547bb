/**
 * The messages of one run of a team: it takes those for itself, and passes those for agents below it to the runs that
 * these have now.
 *
 * An agent that does not work has no run to pass anything to. Its messages are kept here, and its next run gets all
 * of them: a message that comes twice is recognised by its name, or by its number in the first run's log.
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
  /** The working run of an agent directly below this one. */
  readonly runOf: (name: string) => string | undefined;
  /** Takes the client's answers, in the first run. */
  readonly onInjected: (answers: InjectedAnswers) => Promise<void>;
  /** Takes answers that the first run has taken, further down. */
  readonly onTaken: (answer: TakenAnswer) => Promise<void>;
  /** Called when a letter for this run's own agent has come. */
  readonly onLetter: () => void;
}

export class TeamPost {
  readonly #parts: PostParts;
  readonly #headId: string;
  /** The client's answers so far, oldest first, for this run's agent and those below it. */
  readonly #taken: TakenAnswer[] = [];

  constructor(parts: PostParts) {
    this.#parts = parts;
    this.#headId = parts.context.id.split("/", 1)[0] ?? parts.context.id;
  }

  get headId(): string {
    return this.#headId;
  }

  /** Takes messages for as long as this process owns the run; rejects then. Run code. */
  async listen(work: (job: () => Promise<void>) => void): Promise<never> {
    for (;;) {
      const body = await this.#parts.context.waitFor(TEAM_TOPIC, Number.POSITIVE_INFINITY);
      const message = readMessage(body);
      if (message) work(() => this.#read(message));
    }
  }

  /** Sends a letter through the first run: only that one can reach every agent. */
  async send(letter: Letter): Promise<void> {
    const message: TeamMessage = { kind: "letter", letter };
    await this.#parts.context.runs.signal(this.#headId, TEAM_TOPIC, toSignal(message));
  }

  /** Call it when client answers are in this run's log: those for agents below are passed on. */
  async note(answers: readonly TakenAnswer[]): Promise<void> {
    this.#taken.push(...answers);
    for (const answer of answers) await this.#handOn({ kind: "taken", answer }, answer.event.agent);
  }

  /** Keeps answers at a takeover: a working agent gets them when it is found again. */
  remember(answers: readonly TakenAnswer[]): void {
    this.#taken.push(...answers);
  }

  /** Passes all messages for an agent and the agents below it to the run that it has now. */
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

/** The agent directly below `me` on the way to another; undefined if that one is not below it. */
export function toNext(name: string, me: string): string | undefined {
  if (!isBelow(name, me)) return undefined;
  const [first = ""] = name.slice(me.length + 1).split("/");
  return `${me}/${first}`;
}

/** An agent that has just ended gets it with its next run. */
function refuseUnlessEnded(thrown: unknown): void {
  if (!(thrown instanceof Failure) || thrown.code !== "conflict") throw thrown;
}
