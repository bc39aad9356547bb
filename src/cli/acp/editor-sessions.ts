/** The sessions that one editor has open, each with a desk in its own folder; and those that the record keeps. */

import { type AgentContext, RequestError, type SessionInfo } from "@agentclientprotocol/sdk";
import { makeId } from "../../base/ids.ts";
import type { Sessions } from "../../runtime/sessions/session.ts";
import type { Options } from "../command.ts";
import { listModels } from "../completions/words.ts";
import { openDesk } from "../desk/open-desk.ts";
import type { Io } from "../io.ts";
import { AcpSession } from "./acp-session.ts";
import { createAskEditor } from "./ask-editor.ts";

/** Most sessions that an editor is told of. */
const LISTED = 100;

export interface EditorParts {
  readonly io: Io;
  readonly options: Options;
}

interface Opening {
  readonly cwd: string;
  /** Undefined for a new one. */
  readonly id: string | undefined;
  readonly client: AgentContext;
}

export class EditorSessions {
  readonly #parts: EditorParts;
  readonly #open = new Map<string, AcpSession>();

  constructor(parts: EditorParts) {
    this.#parts = parts;
  }

  /** Rejects for a session that is gone: never an empty one in its place. */
  async open({ cwd, id: kept, client }: Opening): Promise<AcpSession> {
    const { io, options } = this.#parts;
    const here = { ...io, cwd };
    const id = kept ?? makeId("conv");
    const ask = createAskEditor({ sessionId: id, cwd, client: () => client });
    const desk = await openDesk({ io: here, options, ask, maxUsd: undefined });
    try {
      if (kept !== undefined) await desk.runtime.sessions.get(kept);
      const models = await listModels(here);
      const session = new AcpSession({ id, cwd, desk, client, isKept: kept !== undefined, models });
      await this.close(id);
      this.#open.set(id, session);
      return session;
    } catch (thrown) {
      await desk.close();
      throw thrown;
    }
  }

  find(id: string): AcpSession {
    const session = this.#open.get(id);
    if (session) return session;
    throw RequestError.resourceNotFound(`session ${id}`);
  }

  async cancel(id: string): Promise<void> {
    await this.#open.get(id)?.cancel();
  }

  async close(id: string): Promise<void> {
    await this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  async list(folder: string | undefined): Promise<{ sessions: SessionInfo[] }> {
    const found = await this.#withRecord((kept) => kept.list({ folder, limit: LISTED }));
    const sessions = found.flatMap(({ id, title, folder: cwd, used_at_ms }) => {
      const updatedAt = new Date(used_at_ms).toISOString();
      return cwd === null ? [] : [{ sessionId: id, cwd, title, updatedAt }];
    });
    return { sessions };
  }

  async delete(id: string): Promise<void> {
    await this.close(id);
    await this.#withRecord((kept) => kept.delete(id));
  }

  /** The record is opened for the question alone: an editor asks before it has any session. */
  async #withRecord<Out>(use: (sessions: Sessions) => Promise<Out>): Promise<Out> {
    const ask = async (): Promise<"no"> => "no";
    const desk = await openDesk({ ...this.#parts, ask, maxUsd: undefined });
    try {
      return await use(desk.runtime.sessions);
    } finally {
      await desk.close();
    }
  }
}
