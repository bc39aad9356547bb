/**
 * Our agents inside editors: the Agent Client Protocol, version 1. The answer of a request always goes out before the
 * updates that it causes, because editors hang otherwise. Nothing is announced here that is not answered.
 */

import {
  type AgentCapabilities,
  type AgentRequestContext,
  agent,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  type Stream,
} from "@agentclientprotocol/sdk";
import { VERSION } from "../../version.ts";
import { type AcpSession, toRequestError } from "./acp-session.ts";
import { type EditorParts, EditorSessions } from "./editor-sessions.ts";
import { toMessage } from "./prompt-items.ts";

const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { image: true, embeddedContext: true },
  sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
};

const COMMANDS = [{ name: "cost", description: "What this session has cost" }];

/** Resolves when the editor has closed the connection; what works is cancelled then. */
export async function serveAcp(parts: EditorParts, stream: Stream): Promise<void> {
  const sessions = new EditorSessions(parts);
  const app = agent({ name: "offshoot" });
  app.onRequest(methods.agent.initialize, answering(initialize));
  app.onRequest(
    methods.agent.authenticate,
    answering(() => ({})),
  );
  answerSessions(app, sessions);
  answerPrompts(app, sessions);
  const connection = app.connect(stream);
  await connection.closed;
  await sessions.closeAll();
}

type App = ReturnType<typeof agent>;

function answerSessions(app: App, sessions: EditorSessions): void {
  const { session } = methods.agent;
  app.onRequest(
    session.new,
    answering(async ({ params, client }) =>
      announce(await sessions.open({ cwd: params.cwd, client, id: undefined })),
    ),
  );
  app.onRequest(
    session.load,
    answering(async ({ params: { cwd, sessionId: id }, client }) => {
      const opened = await sessions.open({ cwd, id, client });
      await opened.replay();
      return await announce(opened);
    }),
  );
  app.onRequest(
    session.resume,
    answering(async ({ params: { cwd, sessionId: id }, client }) =>
      announce(await sessions.open({ cwd, id, client })),
    ),
  );
  app.onRequest(
    session.list,
    answering(({ params }) => sessions.list(params.cwd ?? undefined)),
  );
  app.onRequest(
    session.close,
    answering(({ params }) => sessions.close(params.sessionId)),
  );
  app.onRequest(
    session.delete,
    answering(({ params }) => sessions.delete(params.sessionId)),
  );
}

function answerPrompts(app: App, sessions: EditorSessions): void {
  const { session } = methods.agent;
  app.onRequest(
    session.setMode,
    answering(({ params }) => sessions.find(params.sessionId).setMode(params.modeId)),
  );
  app.onRequest(
    session.setConfigOption,
    answering(async ({ params }) => {
      const found = sessions.find(params.sessionId);
      found.set(params.configId, String(params.value));
      return { configOptions: await found.options() };
    }),
  );
  app.onRequest(
    session.prompt,
    answering(({ params }) => sessions.find(params.sessionId).prompt(toMessage(params.prompt))),
  );
  app.onNotification(session.cancel, async ({ params }) => {
    await sessions.cancel(params.sessionId);
  });
}

function initialize(): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: CAPABILITIES,
    agentInfo: { name: "offshoot", title: "Offshoot", version: VERSION },
    authMethods: [
      {
        ...{ type: "terminal", id: "setup", name: "Set up a model" },
        ...{ description: "Stores a key for a vendor", args: ["auth", "set"] },
      },
    ],
  };
}

async function announce(session: AcpSession) {
  const answer = {
    sessionId: session.id,
    modes: session.modes,
    configOptions: await session.options(),
  };
  const update = {
    sessionUpdate: "available_commands_update",
    availableCommands: COMMANDS,
  } as const;
  // After the answer: editors take no update of a session that they do not know yet.
  setImmediate(() => void session.tell(update).catch(() => {}));
  return answer;
}

/** Every failure is the protocol's own error, with a message for the person. */
function answering<Params, Out>(
  handle: (context: AgentRequestContext<Params>) => Out | Promise<Out>,
): (context: AgentRequestContext<Params>) => Promise<Out> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (thrown) {
      throw toRequestError(thrown);
    }
  };
}
