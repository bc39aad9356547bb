/**
 * What answers requests under one set of settings: a runtime, the API over it, its routes. New settings
 * make a new generation beside the old one, which goes on with what it has begun and is closed behind it:
 * so nothing is dropped, and nothing works with half of the old and half of the new.
 */

import type { Clock } from "../../base/clock.ts";
import type { AgentOptions } from "../../delegation/agents/own-agents.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { processHealths } from "../../providers/deployments/health.ts";
import type { Limiters } from "../../providers/limits/limiters.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import { BACKGROUND_QUEUE } from "../../responses/run/background-queue.ts";
import { AT_ONCE, toQueue } from "../../responses/webhooks/deliveries.ts";
import { toCatalog, toVendorModels } from "../../runtime/config/config-vendors.ts";
import { toModelFacts } from "../../runtime/model-facts.ts";
import { createNetwork, type Network } from "../../runtime/network.ts";
import type { ResponsesSettings } from "../../runtime/open-responses.ts";
import { pickTools } from "../../runtime/pick-tools.ts";
import { createRuntime, type RuntimeOptions } from "../../runtime/runtime.ts";
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

/** Everything that the files, the environment and the flags say. */
export interface LoadedServer {
  readonly settings: ServerSettings;
  readonly runtime: RuntimeOptions;
  /** Asked where a request names no model. */
  readonly usual: ModelTarget | undefined;
  /** The server whose names are all that nothing else is; that of the usual model where it is left out. */
  readonly own?: OwnServer | undefined;
  readonly sealKey: Uint8Array;
  /** The files it was read from, and those that the settings name. */
  readonly files: readonly string[];
  /** Every setting, for an administrator; none where it is left out. */
  readonly readSettings?: AdminParts["readSettings"] | undefined;
  /** What `offshoot doctor` says of this machine. */
  readonly runDoctor?: AdminParts["runDoctor"];
}

/** How often an old generation looks whether its WebSockets have ended; they live for an hour at most. */
const LOOK_MS = 1000;

/** What all generations share. */
export interface GenerationParts {
  readonly clock: Clock;
  /** What is known of a vendor outlives a change of the settings. */
  readonly limiters: Limiters;
  readonly guard: Guard;
  /** Keys, and what was done with them. */
  readonly books: Pick<Books, "shelf" | "audit" | "spending" | "state">;
  /** What keys may spend. */
  readonly money: Pick<
    ResponsesSettings,
    "spending" | "charge" | "settle" | "openPurse" | "enterPlace" | "payerOf"
  >;
  readonly quotaOf: QuotaOf;
  readonly health: Health;
  readonly collectMetrics: () => Promise<readonly Metric[]>;
  readonly watchSocket: WatchSocket;
  /** Told of every event of every run of this process. */
  readonly observe: (logged: LoggedEvent) => void;
  /** Told what a request that is no run has used. */
  readonly noteUse: RunMetrics["note"];
  /** Told of each run that this process gives up without an ending. */
  readonly leave: (runId: string) => void;
  readonly onDefect: (thrown: unknown) => void;
}

export interface Generation {
  readonly app: App;
  /** Whether there is something at this path, whichever the method. */
  serves(path: string): boolean;
  /** Its WebSockets; they stay with it until they end. */
  readonly sockets: SocketHandler;
  readonly responses: OpenedResponses;
  readonly settings: ServerSettings;
  /** The server's own tools that clients may use. */
  readonly catalogue: readonly string[];
  /** Resolves when nothing of it is on its way: no request, no run. */
  idle(): Promise<void>;
  /** Ends what still runs, without an ending: it can be taken over. */
  close(): Promise<void>;
}

export async function openGeneration(
  loaded: LoadedServer,
  parts: GenerationParts,
): Promise<Generation> {
  const { settings } = loaded;
  processHealths.set(settings.cooldown);
  const runtime = await createRuntime({ limiters: parts.limiters, ...loaded.runtime });
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
      ...{ models, sealKey, size: settings.size, ...parts.money },
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
      ...createModelRoutes({
        ...{ routes: models, env, embeddings: settings.hosted.embeddings?.model },
        sizesOf: responses.upstreamOf,
        listUpstream: openUpstreamModels(models, { env, clock: parts.clock, network }),
      }),
    ];
    const { guard, onDefect } = parts;
    const { body, send, pathPrefix: prefix } = settings;
    const routes = [...described, ...createOpenApiRoutes({ routes: described, prefix })];
    const counted = countApp(createApp({ routes, prefix, guard, body, send, onDefect }));
    const sockets = createSocketHandler({
      ...{ api: responses.api, prefix, guard, onDefect },
      ...{ clock: parts.clock, watch: parts.watchSocket },
      settings: { maxMessageBytes: body.maxBytes },
    });
    return {
      app: counted.app,
      serves: createServes(routes, prefix),
      ...{ sockets, responses, settings, catalogue },
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

/** What the server of the settings has, and the vendors of the settings. */
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

/** What the operator says of `/mcp`. */
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

/** What an administrator may know of this server. */
function toState(
  { settings, runtime, readSettings = () => [], runDoctor }: LoadedServer,
  catalog: Catalog,
): Pick<AdminParts, "named" | "queues" | "factsOf" | "readSettings" | "runDoctor"> {
  const overrides = [...toVendorModels(runtime.vendors ?? {}), ...(runtime.overrides ?? [])];
  return {
    named: settings.named,
    queues: toQueueLimits(settings.responses),
    factsOf: (ref, url) => toModelFacts(ref, url, { overrides, catalog }),
    ...{ readSettings, runDoctor },
  };
}

/** Where anybody on the network could listen to its tokens there is none, unless it is asked for by name. */
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
    ...{ refusal, auth: guard.auth, prefix },
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
