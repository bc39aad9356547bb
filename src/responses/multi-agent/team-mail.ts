/**
 * What the agents of a team have sent each other and what the client has answered them, read from the log
 * of the run at their head: all that any of them does is told there, so it is found again after a restart,
 * by whoever goes on.
 */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ClientInput, RunEvent, ToolEnd } from "../../protocol/run-events.ts";
import { ROOT, toAgentName } from "../fold/agent-name.ts";
import { findTasks } from "./team-history.ts";

export interface Letter {
  readonly id: string;
  readonly author: string;
  readonly recipient: string;
  readonly text: string;
}

export interface Mail {
  /** Reads on from here; `onChange` is called when there is something new. Once. */
  start(onChange: () => void): void;
  /** What was sent to an agent so far, oldest first. */
  to(recipient: string): readonly Letter[];
  /** The agents that were started, with their last tasks. */
  readonly agents: ReadonlyMap<string, string>;
  /** What the client has answered so far, with its numbers in that log. */
  readonly answers: readonly HeardAnswer[];
  stop(): void;
}

export interface HeardAnswer {
  readonly seq: number;
  readonly event: ClientInput;
}

export function createMail(engine: Pick<Engine, "follow">, rootId: string): Mail {
  const letters: Letter[] = [];
  const agents = new Map<string, string>();
  const answers: HeardAnswer[] = [];
  const stopping = new AbortController();
  let isStarted = false;

  function read(end: ToolEnd, author: string): boolean {
    const [call, answer] = end.shown ?? [];
    if (call?.type !== "multi_agent_call" || !answer || end.failed) return false;
    for (const { name, message } of findTasks([call, answer], author)) agents.set(name, message);
    if (call.action !== "send_message") return true;
    const given = tryParseJson(call.arguments);
    if (!isJsonObject(given)) return false;
    const recipient = toAgentName(String(given["target"] ?? ""), author);
    const id = `amsg_${String(call.id).replace(/^[a-z]+_/, "")}`;
    letters.push({ id, author, recipient, text: String(given["message"] ?? "") });
    return true;
  }

  async function follow(onChange: () => void): Promise<void> {
    for await (const batch of engine.follow(rootId, -1, stopping.signal)) {
      const news = batch.map(({ seq, event }) => {
        if (event.type === "client_input") return answers.push({ seq, event }) > 0;
        const [said, author] = unwrap(event);
        return said.type === "tool_end" && read(said, author);
      });
      if (news.includes(true)) onChange();
    }
  }

  return {
    agents,
    answers,
    start(onChange) {
      if (isStarted) return;
      isStarted = true;
      // A log that cannot be read on has no news; the run itself will notice.
      follow(onChange).catch(() => {});
    },
    to: (recipient) => letters.filter((letter) => letter.recipient === recipient),
    stop: () => stopping.abort(),
  };
}

/** What happened, and to whom. */
function unwrap(event: RunEvent): [RunEvent, string] {
  return event.type === "child_event" ? [event.event, event.agent] : [event, ROOT];
}

/** A letter as its recipient's conversation has it. */
export function toMessageItem({ id, author, recipient, text }: Letter): Item {
  const content = [{ type: "input_text" as const, text }];
  return { type: "agent_message", id, author, recipient, content };
}
