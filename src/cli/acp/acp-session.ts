/**
 * A session of an editor: a session of ours under the same id, a desk in its folder, and what the editor chose. The
 * record is the truth, so a session outlives the editor and this program.
 */

import type {
  AgentContext,
  PromptResponse,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { methods, RequestError } from "@agentclientprotocol/sdk";
import { Failure } from "../../base/failure.ts";
import { toUsd } from "../../base/text.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import type { Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
import type { Run } from "../../runtime/runtime.ts";
import type { OpenedDesk } from "../desk/open-desk.ts";
import { toHistory } from "./prompt-items.ts";
import { createRunUpdates } from "./run-updates.ts";

/** How calls that change things are approved. The editor's name for each is what its user reads. */
const MODES = [
  { id: "ask", name: "Ask", description: "Asks before it changes or runs anything" },
  { id: "auto", name: "Auto", description: "Does what its rules allow without asking" },
  { id: "deny", name: "Read only", description: "Denies what would have to be asked about" },
] as const;

export interface SessionParts {
  readonly id: string;
  readonly cwd: string;
  readonly desk: OpenedDesk;
  readonly client: AgentContext;
  /** Whether the record has it already. */
  readonly isKept: boolean;
  readonly models: readonly string[];
}

export class AcpSession {
  readonly id: string;
  readonly #parts: SessionParts;
  #isKept: boolean;
  #model: string | undefined;
  #isThinking = false;
  #mode: string;
  #run: Run | undefined;
  /** Of this connection's runs; null once a price was unknown. */
  #usd: number | null = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.#isKept = parts.isKept;
    this.#mode = parts.desk.config.get("approve");
  }

  get modes(): SessionModeState {
    return { currentModeId: this.#mode, availableModes: MODES.map((mode) => ({ ...mode })) };
  }

  async options(): Promise<SessionConfigOption[]> {
    const model = this.#model ?? (await this.#parts.desk.modelOf());
    const models = [...new Set([model, ...this.#parts.models])];
    const toOption = (value: string) => ({ value, name: value });
    return [
      {
        id: "model",
        name: "Model",
        category: "model",
        type: "select",
        currentValue: model,
        options: models.map(toOption),
      },
      {
        ...{ id: "mode", name: "Approvals", category: "mode", type: "select" },
        ...{
          currentValue: this.#mode,
          options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
        },
      },
      {
        ...{ id: "thinking", name: "Thinking", category: "thought_level", type: "select" },
        ...{ currentValue: this.#isThinking ? "on" : "off", options: ["off", "on"].map(toOption) },
      },
    ];
  }

  /** Rejects what nobody has: the editor's choice is not changed then. */
  set(option: string, value: string): void {
    if (option === "model") this.#model = value;
    else if (option === "mode") this.setMode(value);
    else if (option === "thinking") this.#isThinking = value === "on";
    else
      throw RequestError.invalidParams({ configId: option }, `There is no option \`${option}\`.`);
  }

  setMode(mode: string): void {
    if (!MODES.some(({ id }) => id === mode)) {
      throw RequestError.invalidParams({ modeId: mode }, `There is no mode \`${mode}\`.`);
    }
    this.#mode = mode;
  }

  /** One prompt at a time: editors wait for the answer before they send the next. */
  async prompt(message: Message): Promise<PromptResponse> {
    if (isCommand(message, "cost")) return await this.#tellCost();
    if (this.#run)
      throw RequestError.invalidRequest({}, "A prompt of this session is being answered.");
    const { desk, cwd } = this.#parts;
    const run = await desk.start({
      ...{ agent: undefined, input: [message], model: this.#model },
      session: this.#isKept ? this.id : { id: this.id, begin: true },
      own: { think: this.#isThinking, approve: this.#mode as "ask" },
    });
    this.#isKept = true;
    this.#run = run;
    try {
      const updates = createRunUpdates({ id: run.id, cwd, windowTokens: 0 });
      for await (const batch of followTree(desk.runtime.engine, run.id, {})) {
        for await (const update of updates.read(batch)) await this.tell(update);
      }
      const end = await run.result();
      this.#usd = this.#usd === null || end.cost_usd === null ? null : this.#usd + end.cost_usd;
      return await this.#toResponse(end);
    } finally {
      this.#run = undefined;
    }
  }

  async #tellCost(): Promise<PromptResponse> {
    const text =
      this.#usd === null
        ? "The price of a model is unknown."
        : `${toUsd(this.#usd)} since the editor opened this session.`;
    await this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return { stopReason: "end_turn" };
  }

  async cancel(): Promise<void> {
    await this.#run?.cancel();
  }

  /** Tells what was said before, for an editor that opens the session again. */
  async replay(): Promise<void> {
    const items = await this.#parts.desk.runtime.sessions.items(this.id);
    for (const update of toHistory(items)) await this.tell(update);
  }

  async tell(update: SessionUpdate): Promise<void> {
    await this.#parts.client.notify(methods.client.session.update, { sessionId: this.id, update });
  }

  async close(): Promise<void> {
    await this.cancel();
    await this.#parts.desk.close();
  }

  /** An ending that is none of the protocol's would be a lie as `end_turn`: it is an error with its reason. */
  async #toResponse({ ending, message }: RunEnd): Promise<PromptResponse> {
    const stopReason = STOP_REASONS[ending];
    if (stopReason) return { stopReason };
    await this.tell({
      sessionUpdate: "notice",
      severity: "error",
      title: `Ended: ${ending}`,
      description: message,
    });
    throw RequestError.internalError({ ending }, message || ending);
  }
}

/** Commands that this program answers itself; `COMMANDS` of acp-agent.ts announces them. */
function isCommand({ content }: Message, name: string): boolean {
  const [first] = typeof content === "string" ? [content] : content.map(textOfPart);
  return first?.trim() === `/${name}`;
}

const STOP_REASONS: Readonly<Partial<Record<RunEnd["ending"], PromptResponse["stopReason"]>>> = {
  completed: "end_turn",
  max_turns: "max_turn_requests",
  refused: "refusal",
  cancelled: "cancelled",
};

/** What went wrong here, as the protocol says it: a person reads the message. */
export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof Failure) {
    if (thrown.code === "key_missing") return RequestError.authRequired({}, thrown.message);
    if (thrown.code === "not_found") return RequestError.resourceNotFound(thrown.message);
    if (thrown.code === "invalid_request") return RequestError.invalidParams({}, thrown.message);
    return RequestError.internalError({ code: thrown.code }, thrown.message);
  }
  return RequestError.internalError({}, thrown instanceof Error ? thrown.message : String(thrown));
}
