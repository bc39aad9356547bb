/**
 * Serves our agents to editors: the Agent Client Protocol, version 1. The answer to a request always goes out before
 * the updates that it causes, because editors hang otherwise. Only methods that are answered here are announced.
 */

import {
  type AgentCapabilities,
  type AgentRequestContext,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { VERSION } from "../../version.ts";
import type { AcpSession } from "./acp-session.ts";
import { type EditorParts, EditorSessions, toNotFound } from "./editor-sessions.ts";
import { toEditorStream } from "./editor-stream.ts";

/** `fork` belongs to the protocol's unstable part: editors that do not know it ignore it. */
const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { image: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  sessionCapabilities: {
    list: {},
    resume: {},
    close: {},
    delete: {},
    ...({ fork: {} } as object),
  },
};

/**
 * Methods beyond the stable ones: a draft of the protocol, and an older one that some editors still use.
 */
const FORK = "session/fork";
const SET_MODEL = "session/set_model";

const SETUP = {
  id: "setup",
  name: "Set up a model",
  description: "Stores a key for a vendor, or finds a model server on this machine",
};

/** Resolves when the editor has closed the connection. Runs at work are cancelled then. */
export async function serveAcp(parts: EditorParts, stream: Stream): Promise<void> {
  const sessions = new EditorSessions(parts);
  const app = agent({ name: "offshoot" });
  answerGreeting(app, sessions);
  answerSessions(app, sessions);
  answerChoices(app, sessions);
  answerPrompts(app, sessions);
  const connection = app.connect(toEditorStream(stream));
  await connection.closed;
  await sessions.closeAll();
}

type App = ReturnType<typeof agent>;

function answerGreeting(app: App, sessions: EditorSessions): void {
  app.onRequest(
    methods.agent.initialize,
    answering(({ params }) => {
      sessions.greet(params.clientCapabilities ?? {});
      return initialize(params);
    }),
  );
  app.onRequest(
    methods.agent.authenticate,
    answering(async ({ params: { methodId } }) => {
      if (methodId !== SETUP.id) {
        throw RequestError.invalidParams({ methodId }, `Unknown method \`${methodId}\`.`);
      }
      await sessions.checkModel();
      return {};
    }),
  );
}

/** The part of a request that opens a session. */
interface Place {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | null | undefined;
}

function answerSessions(app: App, sessions: EditorSessions): void {
  const { session } = methods.agent;
  const open = (
    { cwd, mcpServers }: Place,
    id: string | undefined,
    { client }: Pick<AgentRequestContext<unknown>, "client">,
  ) => sessions.open({ cwd, id, client, servers: mcpServers ?? [] });
  app.onRequest(
    session.new,
    answering(async (context) => announce(await open(context.params, undefined, context))),
  );
  app.onRequest(
    session.load,
    answering(async ({ params, client }) => {
      const { cwd, mcpServers, sessionId: id } = params;
      const servers = mcpServers ?? [];
      return await announce(await sessions.open({ cwd, id, client, servers, replays: true }));
    }),
  );
  app.onRequest(
    session.resume,
    answering(async (context) =>
      announce(await open(context.params, context.params.sessionId, context)),
    ),
  );
  app.onRequest(
    FORK,
    parseFork,
    answering(async ({ params: { sessionId: id, cwd, mcpServers }, client }) =>
      announce(await sessions.fork({ cwd, id, client, servers: mcpServers ?? [] })),
    ),
  );
  app.onRequest(
    session.list,
    answering(({ params: { cwd, cursor } }) =>
      sessions.list(cwd ?? undefined, cursor ?? undefined),
    ),
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

function answerChoices(app: App, sessions: EditorSessions): void {
  const { session } = methods.agent;
  app.onRequest(
    session.setMode,
    answering(async ({ params }) => {
      await sessions.find(params.sessionId).setMode(params.modeId);
      return {};
    }),
  );
  app.onRequest(
    session.setConfigOption,
    answering(async ({ params }) => {
      const found = sessions.find(params.sessionId);
      await found.set(params.configId, params.value);
      return { configOptions: await found.options() };
    }),
  );
  app.onRequest(
    SET_MODEL,
    parseSetModel,
    answering(async ({ params: { sessionId, modelId } }) => {
      await sessions.find(sessionId).chooseModel(modelId);
      return {};
    }),
  );
}

function answerPrompts(app: App, sessions: EditorSessions): void {
  const { session } = methods.agent;
  app.onRequest(
    session.prompt,
    answering(({ params, signal }) =>
      sessions.find(params.sessionId).prompt(params.prompt, signal),
    ),
  );
  app.onNotification(session.cancel, async ({ params }) => {
    await sessions.cancel(params.sessionId);
  });
}

function initialize({ clientCapabilities }: InitializeRequest): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: CAPABILITIES,
    agentInfo: { name: "offshoot", title: "Offshoot", version: VERSION },
    authMethods: [toAuthMethod(clientCapabilities ?? {})],
  };
}

/**
 * An editor that can start us in a terminal does so with the argument. Any other asks if a model is ready.
 */
function toAuthMethod({ auth }: ClientCapabilities): AuthMethod {
  return auth?.terminal ? { type: "terminal", ...SETUP, args: ["--setup"] } : SETUP;
}

async function announce(session: AcpSession) {
  const answer = {
    sessionId: session.id,
    modes: session.modes,
    configOptions: await session.options(),
  };
  // Sent after the answer: editors accept no update of a session that they do not know yet.
  setImmediate(() => void session.tellCommands().catch(() => {}));
  return answer;
}

interface Fork extends Place {
  readonly sessionId: string;
}

function parseFork(params: unknown): Fork {
  const { sessionId, cwd, mcpServers } = isJsonObject(params) ? params : {};
  if (typeof sessionId !== "string" || typeof cwd !== "string") {
    throw RequestError.invalidParams({}, "`sessionId` and `cwd` must be text.");
  }
  const servers = Array.isArray(mcpServers) ? (mcpServers as unknown as McpServer[]) : [];
  return { sessionId, cwd, mcpServers: servers };
}

function parseSetModel(params: unknown): { readonly sessionId: string; readonly modelId: string } {
  const { sessionId, modelId } = isJsonObject(params) ? params : {};
  if (typeof sessionId === "string" && typeof modelId === "string") return { sessionId, modelId };
  throw RequestError.invalidParams({}, "`sessionId` and `modelId` must be text.");
}

/** Turns every failure into an error of the protocol, with a message for the person. */
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

/** Turns a failure into an error of the protocol. A person reads the message. */
function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof Failure) {
    if (thrown.code === "key_missing") return RequestError.authRequired({}, thrown.message);
    if (thrown.code === "not_found") return toNotFound(thrown.message);
    if (thrown.code === "invalid_request") return RequestError.invalidParams({}, thrown.message);
    return RequestError.internalError({ code: thrown.code }, thrown.message);
  }
  return RequestError.internalError({}, thrown instanceof Error ? thrown.message : String(thrown));
}
