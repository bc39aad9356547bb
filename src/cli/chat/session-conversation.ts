/**
 * A conversation over the sessions of a runtime: each prompt is a run of the session, which knows the earlier words.
 */

import { toPlainText } from "../../agent/context/message-text.ts";
import type { Message } from "../../protocol/items.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import type { Run, Runtime } from "../../runtime/runtime.ts";
import type { SessionSummary } from "../../runtime/sessions/session.ts";
import type {
  ChatConversation,
  ChatRunRequest,
  ConversationSummary,
  ConversationTurn,
} from "./conversation.ts";

const MOST_LISTED = 50;

export class SessionConversation implements ChatConversation {
  readonly #runtime: Runtime;
  readonly #folder: string;
  #id: string | undefined;
  #runs: string[] = [];

  constructor(runtime: Runtime, folder: string) {
    this.#runtime = runtime;
    this.#folder = folder;
  }

  get id(): string | undefined {
    return this.#id;
  }

  get runs(): readonly string[] {
    return this.#runs;
  }

  async start(message: Message, request: ChatRunRequest): Promise<Run> {
    const { instructions: _, told: __, ...goingOn } = request;
    // A continued session keeps its instructions, so that vendors' caches still fit.
    const own = this.#id === undefined ? request : goingOn;
    const asked: InnerRunRequest = { ...own, input: [message], session: this.#id ?? "new" };
    const run = await this.#runtime.run(asked);
    this.#id = run.session ?? this.#id;
    this.#runs.push(run.id);
    return run;
  }

  async settle(run: Run): Promise<void> {
    await run.result();
  }

  async list(): Promise<readonly ConversationSummary[]> {
    return await this.#runtime.sessions.list({ folder: this.#folder, limit: MOST_LISTED });
  }

  async turns(): Promise<readonly ConversationTurn[]> {
    return this.#id === undefined ? [] : await this.#runtime.sessions.turns(this.#id);
  }

  async unanswered(): Promise<string | undefined> {
    const last = this.#id === undefined ? [] : await this.#runtime.sessions.items(this.#id);
    const item = last.at(-1);
    return item?.type === "message" && item.role === "user" ? toPlainText(item.content) : undefined;
  }

  async open(name: string): Promise<ConversationSummary> {
    const found = await this.#runtime.sessions.get(name, { folder: this.#folder });
    this.#go(found);
    return found;
  }

  async fork(turn?: number): Promise<void> {
    if (this.#id === undefined) return;
    const at = turn === undefined ? {} : { turn };
    this.#go(await this.#runtime.sessions.fork(this.#id, { ...at, folder: this.#folder }));
  }

  reset(): void {
    this.#id = undefined;
    this.#runs = [];
  }

  #go({ id, runs }: SessionSummary): void {
    this.#id = id;
    this.#runs = [...runs];
  }
}
