/**
 * A session of an editor: a session of ours under the same id, a desk in its folder, and the editor's choices. The
 * record is the truth, so a session outlives the editor and this program.
 */

import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type McpServer,
  methods,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { readCosts } from "../../delegation/ledger/costs.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import { readWholeLog } from "../../engine/read-log.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
import type { Run } from "../../runtime/runtime.ts";
import { keepIn } from "../../runtime/tool-settings.ts";
import type { Question } from "../../tools/gate/ask.ts";
import type { Approval } from "../../tools/gate/decide.ts";
import type { McpServer as OwnServer } from "../../tools/mcp/server.ts";
import type { OpenedDesk } from "../desk/open-desk.ts";
import type { Io } from "../io.ts";
import { toThinking } from "../run-request.ts";
import { admitServers } from "./editor-servers.ts";
import { toHistory } from "./history.ts";
import { firstWords, toMessage, withFirstWords } from "./prompt-items.ts";
import { createRunUpdates, type RunUpdates, type Shows, tokensOf, toUsage } from "./run-updates.ts";
import { listCommands, runCommand } from "./session-commands.ts";
import {
  parseMode,
  parseThinking,
  type SessionChoice,
  type Thinking,
  toFirstThinking,
  toModes,
  toOptions,
  toThinkingWish,
} from "./session-options.ts";
import type { ReadFile } from "./tool-views.ts";
import { listUsableModels } from "./usable-models.ts";

export interface AcpSessionParts {
  readonly id: string;
  /** Paths are resolved in the session's folder. */
  readonly io: Io;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly desk: OpenedDesk;
  /** Opens the desk with these MCP servers added. */
  readonly openDesk: (servers: readonly OwnServer[]) => Promise<OpenedDesk>;
  readonly readFile: ReadFile;
  /** MCP servers that the editor names. The person has not approved them yet. */
  readonly servers: readonly McpServer[];
  /** True if the record has the session already. */
  readonly isKept: boolean;
}

export class AcpSession {
  readonly id: string;
  readonly #parts: AcpSessionParts;
  readonly #shows: Shows;
  #desk: OpenedDesk;
  /** The place where its next run continues; undefined while the record has nothing of it. */
  #place: string | undefined;
  #model: string | undefined;
  #thinking: Thinking;
  #mode: Approval;
  /** Servers of the editor that the person has not answered for. */
  #waiting: readonly McpServer[];
  /** Approved servers that the desk does not have yet, because a later question was cancelled. */
  #admitted: readonly OwnServer[] = [];
  /** Stops the prompt that is being answered. */
  #stop: AbortController | undefined;
  /** What still uses the desk: prompts, and a replay. */
  readonly #working = new Set<Promise<unknown>>();
  #run: Run | undefined;
  #updates: RunUpdates | undefined;
  /** The cost of its runs; null if a price was unknown, undefined before it was read. */
  #usd: number | null | undefined;

  constructor(parts: AcpSessionParts) {
    const { id, capabilities, desk } = parts;
    const { notices, compaction } = capabilities.session ?? {};
    this.#parts = parts;
    this.id = id;
    this.#desk = desk;
    this.#place = parts.isKept ? id : undefined;
    this.#waiting = parts.servers;
    this.#mode = desk.config.get("approve");
    this.#thinking = toFirstThinking(toThinking(desk.config));
    this.#shows = { notices: Boolean(notices), compaction: Boolean(compaction) };
  }

  get modes(): SessionModeState {
    return toModes(this.#mode);
  }

  async options(): Promise<SessionConfigOption[]> {
    const { model } = await this.#desk.describe(this.#model);
    const choice: SessionChoice = { model, mode: this.#mode, thinking: this.#thinking };
    return toOptions(choice, listUsableModels(this.#desk.config, this.#parts.io.env));
  }

  /** Rejects an unknown option or value; the choice then stays as it was. */
  async set(option: string, value: unknown): Promise<void> {
    if (option === "mode") {
      this.#mode = parseMode(String(value));
      await this.tell({ sessionUpdate: "current_mode_update", currentModeId: this.#mode });
    } else if (option === "model") {
      await this.setModel(String(value));
    } else if (option === "thinking") this.#thinking = parseThinking(value);
    else {
      throw RequestError.invalidParams({ configId: option }, `Unknown option \`${option}\`.`);
    }
  }

  /** For editors that know modes and no options. Other editors are told what changed. */
  async setMode(mode: string): Promise<void> {
    this.#mode = parseMode(mode);
    await this.#tellOptions();
  }

  async setModel(model: string): Promise<void> {
    await this.#desk.check(model);
    this.#model = model;
  }

  /** The same for the model, for editors that know only this method. */
  async chooseModel(model: string): Promise<void> {
    await this.setModel(model);
    await this.#tellOptions();
  }

  async #tellOptions(): Promise<void> {
    const configOptions = await this.options();
    await this.tell({ sessionUpdate: "config_option_update", configOptions });
  }

  /** Runs one prompt at a time: editors wait for the answer before they send the next. */
  async prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#stop)
      throw RequestError.invalidRequest({}, "A prompt of this session is being answered.");
    const stop = new AbortController();
    this.#stop = stop;
    // A cancelled request and a closed connection stop the prompt as `session/cancel` does.
    const onAbort = (): void => void this.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#work(this.#answer(prompt, stop.signal));
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#stop = undefined;
    }
  }

  async #work<Out>(work: Promise<Out>): Promise<Out> {
    this.#working.add(work);
    try {
      return await work;
    } finally {
      this.#working.delete(work);
    }
  }

  async #answer(prompt: readonly ContentBlock[], stop: AbortSignal): Promise<PromptResponse> {
    const place = { io: this.#parts.io, desk: this.#desk, sessionId: this.#place };
    const command = await runCommand(firstWords(prompt), { ...place, model: this.#model });
    if (command && "said" in command) {
      await this.#say(command.said);
      return { stopReason: "end_turn" };
    }
    const isAdmitted = await this.#admitServers(stop);
    if (stop.aborted || !isAdmitted) return { stopReason: "cancelled" };
    this.#usd ??= await this.#readCost();
    const asked = command ? withFirstWords(prompt, command.prompt) : prompt;
    const run = await this.#desk.start({
      agent: undefined,
      input: [toMessage(asked)],
      model: this.#model,
      session: this.#place ?? { id: this.id, begin: true },
      own: { ...toThinkingWish(this.#thinking), approve: this.#mode },
    });
    this.#run = run;
    if (stop.aborted) await run.cancel();
    try {
      return await this.#follow(run);
    } catch (thrown) {
      // The editor may be gone. The desk stays open until the run's ending is in the record.
      await run.cancel();
      await run.result();
      throw thrown;
    } finally {
      this.#run = undefined;
      this.#updates = undefined;
    }
  }

  async #follow(run: Run): Promise<PromptResponse> {
    const isFirst = this.#place === undefined;
    if (run.forked) await this.#tellForked(run.session ?? "");
    const { windowTokens } = await this.#desk.describe(this.#model);
    this.#place = run.session ?? this.id;
    const { io, readFile } = this.#parts;
    const shown = { windowTokens, usdBefore: this.#usd ?? null, shows: this.#shows, readFile };
    const updates = createRunUpdates({ id: run.id, cwd: io.cwd, ...shown });
    this.#updates = updates;
    for await (const batch of followTree(this.#desk.runtime.engine, run.id, {})) {
      for await (const update of updates.read(batch)) await this.tell(update);
    }
    for (const update of updates.end()) await this.tell(update);
    this.#usd = updates.usd;
    const end = await run.result();
    if (isFirst) await this.#tellTitle();
    return await this.#toResponse(end, updates.isCut);
  }

  /** The cost of all its runs; null if a price is unknown. */
  async #readCost(): Promise<number | null> {
    if (this.#place === undefined) return 0;
    const { runs } = await this.#desk.runtime.sessions.get(this.#place);
    const rows = await readCosts(this.#desk.runtime.engine.record, [...runs], "model");
    return rows.reduce<number | null>(
      (sum, { cost_usd }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
      0,
    );
  }

  /** The id under which the editor knows the call of a question. */
  async callOf({ id, child }: Question): Promise<string> {
    return (await this.#updates?.callOf(child?.path ?? "/root", id)) ?? id;
  }

  async cancel(): Promise<void> {
    this.#stop?.abort();
    await this.#run?.cancel();
  }

  /** Sends the past conversation again, for an editor that opens the session again. */
  async replay(): Promise<void> {
    await this.#work(this.#replay());
  }

  async #replay(): Promise<void> {
    const items = await this.#desk.runtime.sessions.items(this.id);
    const place = { name: this.id, cwd: this.#parts.io.cwd };
    for (const update of toHistory(items, place)) await this.tell(update);
    await this.#tellUsage();
  }

  /** The use of the window after the last turn, and the cost so far. */
  async #tellUsage(): Promise<void> {
    const { engine, sessions } = this.#desk.runtime;
    const last = (await sessions.get(this.id)).runs.at(-1);
    const log = last === undefined ? [] : await readWholeLog(engine.record, last);
    const turn = log.map(({ event }) => event).findLast(({ type }) => type === "turn_end");
    if (turn?.type !== "turn_end") return;
    this.#usd ??= await this.#readCost();
    const { windowTokens } = await this.#desk.describe(this.#model);
    await this.tell(toUsage(tokensOf(turn), { usd: this.#usd, windowTokens }));
  }

  async tellCommands(): Promise<void> {
    const availableCommands = await listCommands(this.#parts.io);
    await this.tell({ sessionUpdate: "available_commands_update", availableCommands });
  }

  async tell(update: SessionUpdate): Promise<void> {
    await this.#parts.client.notify(methods.client.session.update, { sessionId: this.id, update });
  }

  /** Cancels the prompt, and waits for all that still reads the record before the record is closed. */
  async close(): Promise<void> {
    await this.cancel();
    await Promise.allSettled(this.#working);
    await this.#desk.close();
  }

  /**
   * Once for each session, before its first run: editors accept no questions before they know the session. False if
   * the person cancelled: the next prompt asks about the servers that have no answer.
   */
  async #admitServers(stop: AbortSignal): Promise<boolean> {
    if (this.#waiting.length === 0 && this.#admitted.length === 0) return true;
    const { id: sessionId, client, openDesk } = this.#parts;
    const { config } = this.#desk;
    const { admitted, unanswered } = await admitServers({
      sessionId,
      client,
      stop,
      servers: this.#waiting,
      taken: Object.keys(config.get("mcp_servers") ?? {}),
      kept: keepIn(config.paths.editorServersFile),
      tell: (problem) => this.#notice("warning", problem),
    });
    this.#waiting = unanswered;
    this.#admitted = [...this.#admitted, ...admitted];
    if (unanswered.length > 0) return false;
    if (this.#admitted.length === 0) return true;
    const before = this.#desk;
    this.#desk = await openDesk(this.#admitted);
    this.#admitted = [];
    await before.close();
    return true;
  }

  async #tellForked(session: string): Promise<void> {
    const text = `Another run of this session is at work, so this continues in a copy of it, ${session}.`;
    await this.#notice("warning", text);
  }

  /** The record names a session by its first prompt. */
  async #tellTitle(): Promise<void> {
    const { title, used_at_ms } = await this.#desk.runtime.sessions.get(this.#place ?? this.id);
    const updatedAt = new Date(used_at_ms).toISOString();
    await this.tell({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  /** An editor that shows no notices gets them in the conversation. */
  async #notice(severity: "warning" | "error", title: string): Promise<void> {
    if (this.#shows.notices) await this.tell({ sessionUpdate: "notice", severity, title });
    else await this.#say(`${title}\n\n`);
  }

  async #say(text: string): Promise<void> {
    await this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  /**
   * An ending that the protocol does not have must not become `end_turn`: it is an error with its reason.
   */
  async #toResponse({ ending, message }: RunEnd, isCut: boolean): Promise<PromptResponse> {
    const stopReason = STOP_REASONS[ending];
    if (stopReason) return { stopReason };
    // The editor has all of what was said, and the protocol has a word for it.
    if (ending === "budget" && isCut) return { stopReason: "max_tokens" };
    if (this.#shows.notices) await this.#notice("error", message || ending);
    throw RequestError.internalError({ ending }, message || ending);
  }
}

const STOP_REASONS: Readonly<Partial<Record<RunEnd["ending"], PromptResponse["stopReason"]>>> = {
  completed: "end_turn",
  max_turns: "max_turn_requests",
  refused: "refusal",
  cancelled: "cancelled",
};
