/**
 * The open sessions of one editor, each with a desk in its own folder, and the sessions in the record.
 */

import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type ClientCapabilities,
  type ListSessionsResponse,
  type McpServer,
  RequestError,
} from "@agentclientprotocol/sdk";
import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { Sessions } from "../../runtime/sessions/session.ts";
import type { McpServer as OwnServer } from "../../tools/mcp/server.ts";
import type { Options } from "../command.ts";
import { type OpenedDesk, openDesk } from "../desk/open-desk.ts";
import type { Io } from "../io.ts";
import { attachKeys } from "../open-keys.ts";
import { AcpSession } from "./acp-session.ts";
import { createAskEditor } from "./ask-editor.ts";
import { createEditorFiles, createReadFile } from "./editor-files.ts";

/** The most sessions in one answer. */
const LISTED = 50;

const NOT_FOUND = -32_002;

/** The protocol's error for what is not there. The SDK's own takes an address and makes the message of it. */
export function toNotFound(message: string): RequestError {
  return new RequestError(NOT_FOUND, message);
}

export interface EditorParts {
  readonly io: Io;
  readonly options: Options;
}

interface Opening {
  readonly cwd: string;
  /** Undefined for a new session. */
  readonly id: string | undefined;
  readonly client: AgentContext;
  readonly servers: readonly McpServer[];
  /** True if the editor is told the past conversation again. */
  readonly replays?: boolean;
}

export class EditorSessions {
  readonly #parts: EditorParts;
  readonly #open = new Map<string, AcpSession>();
  #capabilities: ClientCapabilities = {};
  #record: Promise<OpenedDesk> | undefined;

  constructor(parts: EditorParts) {
    this.#parts = parts;
  }

  /** Notes what the editor has announced that it can do. */
  greet(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities;
  }

  /** Rejects if the session is gone: it never opens an empty one instead. */
  async open({ cwd, id: kept, client, servers, replays }: Opening): Promise<AcpSession> {
    if (!isAbsolute(cwd)) {
      throw RequestError.invalidParams(
        { cwd },
        `\`cwd\` must be an absolute path, not \`${cwd}\`.`,
      );
    }
    // Reads keys again that were stored since: the editor opens a session again when its user has set up a model.
    await attachKeys(this.#parts.io);
    const id = kept ?? makeId("conv");
    const io = { ...this.#parts.io, cwd };
    const capabilities = this.#capabilities;
    const buffers = createEditorFiles({ sessionId: id, client, capabilities });
    const readFile = createReadFile(cwd, buffers);
    let session: AcpSession | undefined;
    const ask = createAskEditor({
      sessionId: id,
      cwd,
      client,
      readFile,
      callOf: async (question) => (await session?.callOf(question)) ?? question.id,
    });
    const { options } = this.#parts;
    const openHere = (more: readonly OwnServer[]): Promise<OpenedDesk> =>
      openDesk({ io, options, ask, maxUsd: undefined, buffers, servers: more });
    const desk = await openHere([]);
    try {
      if (kept !== undefined) await desk.runtime.sessions.get(kept);
      const own = { client, capabilities, desk, openDesk: openHere, readFile, servers };
      session = new AcpSession({ id, io, ...own, isKept: kept !== undefined });
      // Checked before the editor has a session that cannot answer: it then offers its user to set up a model.
      await desk.check();
      // Another request may have opened it meanwhile.
      while (this.#open.has(id)) await this.close(id);
      this.#open.set(id, session);
    } catch (thrown) {
      await desk.close();
      throw thrown;
    }
    // Begins at once: a request that opens the session again waits for it before it closes this one.
    if (replays) await session.replay();
    return session;
  }

  /** Opens a new session with a copy of this one. */
  async fork(opening: Opening & { readonly id: string }): Promise<AcpSession> {
    const { id } = await this.#withRecord((kept) => kept.fork(opening.id, { folder: opening.cwd }));
    return await this.open({ ...opening, id });
  }

  find(id: string): AcpSession {
    const session = this.#open.get(id);
    if (session) return session;
    throw toNotFound(`The session \`${clip(id, 80)}\` is not open. Load or resume it first.`);
  }

  async cancel(id: string): Promise<void> {
    await this.#open.get(id)?.cancel();
  }

  async close(id: string): Promise<void> {
    const session = this.#open.get(id);
    this.#open.delete(id);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
    await (await this.#record)?.close();
  }

  /** The last used first. */
  async list(
    folder: string | undefined,
    cursor: string | undefined,
  ): Promise<ListSessionsResponse> {
    const { sessions: found, next } = await this.#withRecord((kept) =>
      kept.listPage({ folder, after: cursor, limit: LISTED }),
    );
    const sessions = found.flatMap(({ id, title, folder: cwd, used_at_ms }) => {
      const updatedAt = new Date(used_at_ms).toISOString();
      return cwd === null ? [] : [{ sessionId: id, cwd, title, updatedAt }];
    });
    return { sessions, ...(next === undefined ? {} : { nextCursor: next }) };
  }

  async delete(id: string): Promise<void> {
    await this.close(id);
    await this.#withRecord((kept) => kept.delete(id));
  }

  /** Rejects if no model can be asked. */
  async checkModel(): Promise<void> {
    await attachKeys(this.#parts.io);
    const desk = await this.#openPlain();
    await desk.check().finally(() => desk.close());
  }

  /** One record for the editor's questions before it has a session. */
  async #withRecord<Out>(use: (sessions: Sessions) => Promise<Out>): Promise<Out> {
    this.#record ??= this.#openPlain();
    return await use((await this.#record).runtime.sessions);
  }

  #openPlain(): Promise<OpenedDesk> {
    return openDesk({ ...this.#parts, ask: async () => "no", maxUsd: undefined });
  }
}
