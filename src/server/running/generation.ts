/**
 * Answers requests under one set of settings: a runtime, the API over it, its routes. New settings make a new
 * generation. The old one finishes what it has begun and is then closed. So nothing is dropped, and nothing works
 * with half of the old and half of the new settings.
 */

import type { AgentOptions } from "../../delegation/agents/own-agents.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { processHealths } from "../../providers/deployments/health.ts";
import type { Limiters } from "../../providers/limits/limiters.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import { BACKGROUND_QUEUE } from "../../responses/run/background-queue.ts";
import { AT_ONCE } from "../../responses/webhooks/deliveries.ts";
import { toQueue } from "../../responses/webhooks/try-delivery.ts";
import { toCatalog, toVendorModels } from "../../runtime/config/config-vendors.ts";
import { toModelFacts } from "../../runtime/model-facts.ts";
import { createNetwork, type Network } from "../../runtime/network.ts";
import type { ResponsesSettings } from "../../runtime/open-responses.ts";
import { pickTools } from "../../runtime/pick-tools.ts";
import { openRuntime, type RuntimeOptions } from "../../runtime/runtime.ts";
import {
  type ModelRoutes,
  type OwnServer,
  ownServerOf,
} from "../../runtime/served-models/model-routes.ts";
import {
  createUpstreamModels,
  type ListModels,
  type UpstreamParts,
} from "../../runtime/served-models/upstream-models.ts";
import { createVendorModels } from "../../runtime/served-models/vendor-models.ts";
import type { QuotaOf } from "../../store/quota-shelf.ts";
import type { RecordClock } from "../../store/record-clock.ts";
import { type App, createApp } from "../app.ts";
import { createConsoleSessions, makeConsoleCode } from "../console/console-sessions.ts";
import { createServes } from "../find-route.ts";
import type { Guard } from "../guard.ts";
import type { Route } from "../route.ts";
import { type AdminParts, createAdminRoutes } from "../routes/admin.ts";
import { type ConsoleParts, createConsoleRoutes } from "../routes/console.ts";
import { createHealthRoutes } from "../routes/health.ts";
import { createMcpRoutes, type McpRouteParts } from "../routes/mcp.ts";
import { createMetricsRoutes } from "../routes/metrics.ts";
import { createModelRoutes } from "../routes/models.ts";
import { createOpenApiRoutes } from "../routes/openapi.ts";
import { createToolRoutes } from "../routes/tools.ts";
import { createRecordRoutes, createRoutes } from "../routes.ts";
import { createSocketHandler, type SocketHandler } from "../socket/socket-handler.ts";
import type { WatchSocket } from "../socket/watch-socket.ts";
import type { Metric } from "../watching/metrics.ts";
import type { RunMetrics } from "../watching/run-metrics.ts";
import type { Books } from "./books.ts";
import type { Health } from "./health.ts";
import { openHosted } from "./hosted-settings.ts";
import type { ServerSettings } from "./server-settings.ts";

/** The settings from files, environment and flags. */
export interface LoadedServer {
  readonly settings: ServerSettings;
  readonly runtime: RuntimeOptions;
  /** The model for requests that name none. */
  readonly usual: ModelTarget | undefined;
  /** Why such requests would fail: the key of that model is not set. */
  readonly keyProblem?: string | undefined;
  /** The server that is asked for unknown model names. When left out, that of the usual model. */
  readonly own?: OwnServer | undefined;
  readonly sealKey: Uint8Array;
  /** The settings files, and the files that they name. */
  readonly files: readonly string[];
  /** Lists all settings for an administrator. When left out, none are shown. */
  readonly readSettings?: AdminParts["readSettings"] | undefined;
  /** Runs the checks of `offshoot doctor` on this machine. */
  readonly runDoctor?: AdminParts["runDoctor"];
}

/**
 * How often an old generation checks if its WebSockets have ended. They live for an hour at most.
 */
const LOOK_MS = 1000;

/** The parts that all generations share. */
export interface GenerationParts {
  /** The clock of the record. */
  readonly clock: RecordClock;
  /** The limiters, because the learned limits of a vendor outlive a change of the settings. */
  readonly limiters: Limiters;
  readonly guard: Guard;
  /** Keys, and what was done with them. */
  readonly books: Pick<Books, "kept" | "shelf" | "audit" | "spending" | "state">;
  /** The budgets of keys. */
  readonly money: Pick<
    ResponsesSettings,
    "spending" | "charge" | "settle" | "openPurse" | "enterPlace" | "payerOf"
  >;
  readonly quotaOf: QuotaOf;
  readonly health: Health;
  readonly collectMetrics: () => Promise<readonly Metric[]>;
  readonly watchSocket: WatchSocket;
  /** Called with every event of every run of this process. */
  readonly observe: (logged: LoggedEvent) => void;
  /** Called with the usage of a request that is not a run. */
  readonly noteUse: RunMetrics["note"];
  /** Called for each run that this process gives up without an ending. */
  readonly leave: (runId: string) => void;
  readonly onDefect: (thrown: unknown) => void;
}

export interface Generation {
  readonly app: App;
  /** True if this path has a route, whichever the method. */
  serves(path: string): boolean;
  /** The WebSockets of this generation, which stay with it until they end. */
  readonly sockets: SocketHandler;
  readonly responses: OpenedResponses;
  readonly settings: ServerSettings;
  /** Names of the server's own tools that clients may use. */
  readonly catalogue: readonly string[];
  /** Resolves when no request and no run of this generation is in progress. */
  idle(): Promise<void>;
  /** Stops what still runs, without an ending, so that it can be taken over. */
  close(): Promise<void>;
}

export async function openGeneration(
  loaded: LoadedServer,
  parts: GenerationParts,
): Promise<Generation> {
  const { settings } = loaded;
  processHealths.set(settings.cooldown);
  const { limiters, clock, books } = parts;
  const runtime = await openRuntime({ limiters, clock, ...loaded.runtime }, books.kept);
  const { env = {}, maxAnswerBytes } = loaded.runtime;
  const network = createNetwork(env, { maxAnswerBytes });
  const close = async (): Promise<void> => {
    await runtime.close();
    await network.close();
  };
  try {
    const catalogue = await pickTools(settings.tools, runtime);
    const catalog = toCatalog(loaded.runtime.vendors);
    const models = { named: settings.named, usual: loaded.usual, own: loaded.own, catalog };
    const { sealKey } = loaded;
    const responses = await runtime.openResponses({
      ...settings.responses,
      ...openHosted(settings.hosted, loaded.runtime, network),
      models,
      sealKey,
      size: settings.size,
      ...parts.money,
      quotaOf: parts.quotaOf,
      observeDirect: parts.observe,
      observeEmbeddings: parts.noteUse,
    });
    const { observe, leave } = parts;
    for (const engine of [responses.durable, responses.passing]) engine.watch(observe, leave);
    const record = await runtime.openRecord();
    const described = [
      ...createRoutes(responses),
      ...createRecordRoutes(record),
      ...createMcpRoutes({ responses, record, agents: runtime.agents, ...toMcpParts(settings) }),
      ...createOwnRoutes(parts),
      ...createConsoleRoutes(openConsole(settings, parts)),
      ...createToolRoutes({ describeTools: runtime.describeTools, agents: toAgents(loaded) }),
      ...createAdminRoutes({ ...parts.books, ...parts, ...toState(loaded, catalog) }),
      ...openModelRoutes(models, { loaded, responses, clock, network }),
    ];
    const { guard, onDefect } = parts;
    const { body, send, pathPrefix: prefix } = settings;
    const routes = [...described, ...createOpenApiRoutes({ routes: described, prefix })];
    const counted = countApp(createApp({ routes, prefix, guard, body, send, onDefect }));
    const sockets = openSockets(responses, settings, parts);
    return {
      app: counted.app,
      serves: createServes(routes, prefix),
      sockets,
      responses,
      settings,
      catalogue,
      async idle() {
        while (sockets.open() > 0) await parts.clock.sleep(LOOK_MS, undefined);
        await counted.idle();
        await responses.passing.idle();
        await responses.durable.idle();
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function openSockets(
  { api }: OpenedResponses,
  { body, pathPrefix: prefix }: ServerSettings,
  { guard, onDefect, clock, watchSocket: watch }: GenerationParts,
): SocketHandler {
  const settings = { maxMessageBytes: body.maxBytes };
  return createSocketHandler({ api, prefix, guard, onDefect, clock, watch, settings });
}

interface ModelRouteParts extends Pick<UpstreamParts, "clock"> {
  readonly loaded: LoadedServer;
  readonly responses: OpenedResponses;
  readonly network: Network;
}

function openModelRoutes(
  models: ModelRoutes & { readonly catalog: Catalog },
  { loaded, responses, clock, network }: ModelRouteParts,
): ReturnType<typeof createModelRoutes> {
  const { env = {} } = loaded.runtime;
  return createModelRoutes({
    routes: models,
    env,
    embeddings: loaded.settings.hosted.embeddings?.model,
    sizesOf: responses.upstreamOf,
    agents: responses.agentModels,
    listUpstream: openUpstreamModels(models, { env, clock, network }),
  });
}

/** The models of the server in the settings, and of the vendors in the settings. */
function openUpstreamModels(
  models: ModelRoutes & { readonly catalog: Catalog },
  { env, clock, network }: Pick<UpstreamParts, "env" | "clock"> & { readonly network: Network },
): ListModels {
  const { catalog } = models;
  const parts = { catalog, env, clock, transport: network.open };
  const server = ownServerOf(models);
  const own = server && createUpstreamModels({ ...parts, server });
  const vendors = createVendorModels(parts);
  return async () => {
    const [first = [], others] = await Promise.all([own?.(), vendors()]);
    return [...first, ...others];
  };
}

function createOwnRoutes({ health, collectMetrics }: GenerationParts): Route[] {
  return [...createHealthRoutes(health), ...createMetricsRoutes(collectMetrics)];
}

/** The operator's settings for `/mcp`. */
function toMcpParts({ mcp, responses, send }: ServerSettings): Pick<McpRouteParts, "settings"> {
  const { promptsDir } = responses;
  return { settings: { ...mcp, promptsDir, keepAliveMs: send.keepAliveMs } };
}

function toAgents({ runtime: { agents = [] } }: LoadedServer): readonly AgentOptions[] {
  return agents;
}

function toQueueLimits({
  maxBackground,
  webhooks = [],
}: ServerSettings["responses"]): AdminParts["queues"] {
  const told = webhooks.map(({ name }) => [toQueue(name), AT_ONCE] as const);
  return { [BACKGROUND_QUEUE]: maxBackground, ...Object.fromEntries(told) };
}

/** The state of this server for an administrator. */
function toState(
  { settings, runtime, readSettings = () => [], runDoctor }: LoadedServer,
  catalog: Catalog,
): Pick<AdminParts, "named" | "queues" | "factsOf" | "readSettings" | "runDoctor"> {
  const overrides = [...toVendorModels(runtime.vendors ?? {}), ...(runtime.overrides ?? [])];
  return {
    named: settings.named,
    queues: toQueueLimits(settings.responses),
    factsOf: (ref, url) => toModelFacts(ref, url, { overrides, catalog }),
    readSettings,
    runDoctor,
  };
}

/**
 * If tokens would cross the network unencrypted, there is no console unless the settings name it.
 */
function openConsole(
  { guard, tls, pathPrefix: prefix, console: wish }: ServerSettings,
  { clock, books }: GenerationParts,
): ConsoleParts {
  const given = { ...books, clock };
  const isSafe = tls !== undefined || isLoopback(guard.host);
  const refusal =
    wish === "off"
      ? "This server has no console (`server.console` is off)."
      : wish === "auto" && !isSafe
        ? `This server has no console: it listens at ${guard.host} without HTTPS, so others could read its tokens. Set \`server.console\` to \`on\` if the network is safe.`
        : undefined;
  return {
    sessions: createConsoleSessions({ ...given, fixedToken: () => guard.fixedToken }),
    makeCode: (whose) => makeConsoleCode(given, whose),
    refusal,
    auth: guard.auth,
    prefix,
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

interface CountedApp {
  readonly app: App;
  idle(): Promise<void>;
}

function countApp(app: App): CountedApp {
  const open = new Set<Promise<void>>();
  return {
    async app(request, response) {
      const answered = app(request, response);
      open.add(answered);
      await answered;
      open.delete(answered);
    },
    async idle() {
      while (open.size > 0) await Promise.all(open);
    },
  };
}
