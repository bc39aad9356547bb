/**
 * A session of an editor: a session of ours under the same id, a desk in its folder, and what the editor chose. The
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
import type { RunEnd } from "../../protocol/run-events.ts";
import type { Run } from "../../runtime/runtime.ts";
import { keepIn } from "../../runtime/tool-settings.ts";
import type { Question } from "../../tools/gate/ask.ts";
import type { Approval } from "../../tools/gate/decide.ts";
import type { McpServer as OwnServer } from "../../tools/mcp/server.ts";
import type { OpenedDesk } from "../desk/open-desk.ts";
import type { Io } from "../io.ts";
import { admitServers } from "./editor-servers.ts";
import { firstWords, toHistory, toMessage, withFirstWords } from "./prompt-items.ts";
import { createRunUpdates, type RunUpdates, type Shows } from "./run-updates.ts";
import { listCommands, runCommand } from "./session-commands.ts";
import { type Choice, parseMode, parseThinking, toModes, toOptions } from "./session-options.ts";
import type { ReadFile } from "./tool-views.ts";
import { listUsableModels } from "./usable-models.ts";

export interface SessionParts {
  readonly id: string;
  /** In the session's folder. */
  readonly io: Io;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly desk: OpenedDesk;
  /** The same with these MCP servers too. */
  readonly openDesk: (servers: readonly OwnServer[]) => Promise<OpenedDesk>;
  readonly readFile: ReadFile;
  /** Those that the editor names, which nobody has agreed to yet. */
  readonly servers: readonly McpServer[];
  /** Whether the record has it already. */
  readonly isKept: boolean;
}

export class AcpSession {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #shows: Shows;
  #desk: OpenedDesk;
  /** Where its next run goes on; undefined while the record has nothing of it. */
  #place: string | undefined;
  #model: string | undefined;
  #isThinking = false;
  #mode: Approval;
  #waiting: readonly McpServer[];
  /** Of the prompt that is being answered. */
  #stop: AbortController | undefined;
  #run: Run | undefined;
  #updates: RunUpdates | undefined;
  /** What its runs have cost; null where a price was unknown, undefined before anybody has looked. */
  #usd: number | null | undefined;

  constructor(parts: SessionParts) {
    const { id, capabilities, desk } = parts;
    const { notices, compaction } = capabilities.session ?? {};
    this.#parts = parts;
    this.id = id;
    this.#desk = desk;
    this.#place = parts.isKept ? id : undefined;
    this.#waiting = parts.servers;
    this.#mode = desk.config.get("approve");
    this.#shows = { notices: Boolean(notices), compaction: Boolean(compaction) };
  }

  get modes(): SessionModeState {
    return toModes(this.#mode);
  }

  async options(): Promise<SessionConfigOption[]> {
    const { model } = await this.#desk.describe(this.#model);
    const choice: Choice = { model, mode: this.#mode, isThinking: this.#isThinking };
    return toOptions(choice, listUsableModels(this.#desk.config, this.#parts.io.env));
  }

  /** Rejects what nobody has: the editor's choice is not changed then. */
  async set(option: string, value: unknown): Promise<void> {
    if (option === "mode") {
      this.#mode = parseMode(String(value));
      await this.tell({ sessionUpdate: "current_mode_update", currentModeId: this.#mode });
    } else if (option === "model") {
      await this.setModel(String(value));
    } else if (option === "thinking") this.#isThinking = parseThinking(value);
    else {
      throw RequestError.invalidParams({ configId: option }, `There is no option \`${option}\`.`);
    }
  }

  /** For editors that know modes and no options; others are told what changed. */
  async setMode(mode: string): Promise<void> {
    this.#mode = parseMode(mode);
    await this.#tellOptions();
  }

  async setModel(model: string): Promise<void> {
    await this.#desk.check(model);
    this.#model = model;
  }

  /** The same, for editors that know the method alone. */
  async chooseModel(model: string): Promise<void> {
    await this.setModel(model);
    await this.#tellOptions();
  }

  async #tellOptions(): Promise<void> {
    const configOptions = await this.options();
    await this.tell({ sessionUpdate: "config_option_update", configOptions });
  }

  /** One prompt at a time: editors wait for the answer before they send the next. */
  async prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#stop)
      throw RequestError.invalidRequest({}, "A prompt of this session is being answered.");
    const stop = new AbortController();
    this.#stop = stop;
    // A request that is taken back, and a connection that ends, stop it as `session/cancel` does.
    const onAbort = (): void => void this.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#answer(prompt, stop.signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#stop = undefined;
    }
  }

  async #answer(prompt: readonly ContentBlock[], stop: AbortSignal): Promise<PromptResponse> {
    const place = { io: this.#parts.io, desk: this.#desk, sessionId: this.#place };
    const command = await runCommand(firstWords(prompt), { ...place, model: this.#model });
    if (command && "said" in command) {
      await this.#say(command.said);
      return { stopReason: "end_turn" };
    }
    await this.#admitServers();
    if (stop.aborted) return { stopReason: "cancelled" };
    this.#usd ??= await this.#readCost();
    const asked = command ? withFirstWords(prompt, command.prompt) : prompt;
    const run = await this.#desk.start({
      ...{ agent: undefined, input: [toMessage(asked)], model: this.#model },
      session: this.#place ?? { id: this.id, begin: true },
      own: { think: this.#isThinking, approve: this.#mode },
    });
    this.#run = run;
    if (stop.aborted) await run.cancel();
    try {
      return await this.#follow(run);
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
    this.#usd = updates.usd;
    const end = await run.result();
    if (isFirst) await this.#tellTitle();
    return await this.#toResponse(end);
  }

  /** What all its runs have cost; null where a price is unknown. */
  async #readCost(): Promise<number | null> {
    if (this.#place === undefined) return 0;
    const { runs } = await this.#desk.runtime.sessions.get(this.#place);
    const rows = await readCosts(this.#desk.runtime.engine.record, [...runs], "model");
    return rows.reduce<number | null>(
      (sum, { cost_usd }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
      0,
    );
  }

  /** The id under which the editor was shown the call that is asked about. */
  async callOf({ id, child }: Question): Promise<string> {
    return (await this.#updates?.callOf(child?.path ?? "/root", id)) ?? id;
  }

  async cancel(): Promise<void> {
    this.#stop?.abort();
    await this.#run?.cancel();
  }

  /** Tells what was said before, for an editor that opens the session again. */
  async replay(): Promise<void> {
    const items = await this.#desk.runtime.sessions.items(this.id);
    const place = { name: this.id, cwd: this.#parts.io.cwd };
    for (const update of toHistory(items, place)) await this.tell(update);
  }

  async tellCommands(): Promise<void> {
    const availableCommands = await listCommands(this.#parts.io);
    await this.tell({ sessionUpdate: "available_commands_update", availableCommands });
  }

  async tell(update: SessionUpdate): Promise<void> {
    await this.#parts.client.notify(methods.client.session.update, { sessionId: this.id, update });
  }

  /** Its run has its ending in the record before the record is closed. */
  async close(): Promise<void> {
    const run = this.#run;
    await this.cancel();
    await run?.result();
    await this.#desk.close();
  }

  /** Once for each session, before its first run: editors take no questions before they know the session. */
  async #admitServers(): Promise<void> {
    const servers = this.#waiting;
    this.#waiting = [];
    if (servers.length === 0) return;
    const { id: sessionId, client, openDesk } = this.#parts;
    const { config } = this.#desk;
    const admitted = await admitServers({
      ...{ sessionId, client, servers },
      taken: Object.keys(config.get("mcp_servers") ?? {}),
      kept: keepIn(config.paths.editorServersFile),
      tell: (problem) => this.#notice("warning", problem),
    });
    if (admitted.length === 0) return;
    const before = this.#desk;
    this.#desk = await openDesk(admitted);
    await before.close();
  }

  async #tellForked(session: string): Promise<void> {
    const text = `Another run of this session is at work, so this goes on in a copy of it, ${session}.`;
    await this.#notice("warning", text);
  }

  /** The record names a session by its first prompt. */
  async #tellTitle(): Promise<void> {
    const { title, used_at_ms } = await this.#desk.runtime.sessions.get(this.#place ?? this.id);
    const updatedAt = new Date(used_at_ms).toISOString();
    await this.tell({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  /** An editor that shows no notices is told in the conversation. */
  async #notice(severity: "warning" | "error", title: string): Promise<void> {
    if (this.#shows.notices) await this.tell({ sessionUpdate: "notice", severity, title });
    else await this.#say(`${title}\n\n`);
  }

  async #say(text: string): Promise<void> {
    await this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  /** An ending that is none of the protocol's would be a lie as `end_turn`: it is an error with its reason. */
  async #toResponse({ ending, message }: RunEnd): Promise<PromptResponse> {
    const stopReason = STOP_REASONS[ending];
    if (stopReason) return { stopReason };
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
