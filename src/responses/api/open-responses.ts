/** Opens the Responses API: its functions, the body of its runs, and the parts of both. */

import { makeId } from "../../base/ids.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf } from "../../store/shelf.ts";
import { type ChatsApi, createChatsApi } from "../chat/stored-chats.ts";
import { type BeforeParts, readBefore } from "../conversations/conversation-before.ts";
import { readItems } from "../conversations/items.ts";
import { createDirectModels } from "../direct/direct-models.ts";
import {
  createEmbeddingsApi,
  type EmbeddingsApi,
  type EmbeddingsParts,
} from "../embeddings/embeddings-api.ts";
import { RESPONSE_BODY } from "../kept/kept-response.ts";
import type { UpstreamFacts } from "../messages/messages-wishes.ts";
import { applyPrompt, namesPrompt } from "../prompts/prompt.ts";
import { createFindPrompt } from "../prompts/prompt-files.ts";
import { SIZE_LIMITS } from "../request/check-size.ts";
import { createAdmission } from "../run/admission.ts";
import { defineBackground } from "../run/background-queue.ts";
import type { HandedCalls } from "../run/handed-calls.ts";
import { openBody, toIsBacked, toNativeChoice } from "../run/open-body.ts";
import { type OpenedSearch, openSearch } from "../run/open-search.ts";
import type { ResponsesParts } from "../run/responses-parts.ts";
import { createSeals, type Seals } from "../sealing/seals.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { INDEX_BODY } from "../vector-stores/index-runs.ts";
import { defineDeliveries, followResponses, WEBHOOK_BODY } from "../webhooks/deliveries.ts";
import { createSender } from "../webhooks/send-event.ts";
import { createAgentModels, withAgents } from "./agent-models.ts";
import { createResponsesApi, type ResponsesApi } from "./api.ts";
import { type ContextApi, createContextApi } from "./context-api.ts";
import { type ConversationsApi, createConversationsApi } from "./conversations-api.ts";
import { type FindParts, findInput, findModel, findRequest } from "./find-request.ts";
import type { ApiSettings } from "./responses-settings.ts";

export interface OpenedResponses {
  /** The stores of tenants' data. */
  readonly kept: ShelfParts;
  /** The server's own secret. */
  readonly sealKey: Uint8Array;
  readonly search: OpenedSearch;
  readonly api: ResponsesApi;
  readonly context: ContextApi;
  readonly conversations: ConversationsApi;
  /** The agents that may be named as models. */
  readonly agentModels: readonly string[];
  readonly chats: ChatsApi;
  readonly embeddings: EmbeddingsApi;
  /** The known facts of a named model, for requests of the Messages API. Never rejects. */
  readonly upstreamOf: (name: string | null | undefined) => UpstreamFacts;
  readonly shelf: Shelf;
  readonly durable: Engine;
  /** The engine of responses that are not stored. */
  readonly passing: Engine;
  /** Continues the runs of servers that died or stopped; resolves with their ids. */
  start(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The parts that come from the runtime. */
export interface ResponsesRuntime {
  /** For responses that are stored. */
  readonly durable: ResponsesParts;
  /** For responses in memory, which leave nothing. */
  readonly passing: ResponsesParts;
  readonly shelf: Shelf;
  readonly chunks: ChunkStore;
  /** The model of a name. Rejects an unknown name. */
  readonly route: FindParts["route"];
  readonly upstreamOf: OpenedResponses["upstreamOf"];
  readonly routeEmbeddings: EmbeddingsParts["route"];
  readonly openEmbeddings: EmbeddingsParts["open"];
  /** The agents of the server. Those that are offered as models can be asked like a model. */
  readonly agents: readonly AgentDefinition[];
  /** The program's, for servers that it greets. */
  readonly version: string;
}

/** A run of the command line belongs to the folder and the settings of the person who began it. */
const SERVER_BODIES = [RESPONSE_BODY, INDEX_BODY, WEBHOOK_BODY];

export function openResponses(runtime: ResponsesRuntime, settings: ApiSettings): OpenedResponses {
  const { shelf, chunks, durable, passing } = runtime;
  const { clock, engine } = durable;
  const { embedder, payerOf, sealKey, ttlMs } = settings;
  const kept: ShelfParts = { shelf, clock, makeId };
  const before = toBeforeParts(kept, engine);
  const seals = createSeals(sealKey);
  const search = openSearch(
    { shelf, clock, chunks, engine },
    { embedder, payerOf, toolbox: durable.toolbox },
  );
  const handed: HandedCalls = new Map();
  const stores = { kept, before, seals, search, handed, version: runtime.version };
  const { webhooks = [] } = settings;
  engine.define(RESPONSE_BODY, openBody(durable, settings, stores), followResponses(webhooks));
  passing.engine.define(RESPONSE_BODY, openBody(passing, settings, stores));
  const send = createSender(settings.web ?? {}, clock);
  defineDeliveries(engine, { endpoints: webhooks, send, clock, random: Math.random });
  const finding = toFindParts(runtime, settings, { kept, before });
  const findPrompt = createFindPrompt(settings.promptsDir);
  const prepare = (body: unknown): Promise<unknown> => applyPrompt(body, findPrompt);
  const agents = createAgentModels(runtime.agents);
  const plain = openApi(runtime, settings, { finding, seals, handed });
  const api = withPrompts(withAgents(plain, agents), prepare);
  return {
    api,
    shelf,
    kept,
    durable: engine,
    passing: passing.engine,
    sealKey,
    context: createContextApi({ api, before, sealOf: seals.sealOf, prepare, finding, agents }),
    agentModels: agents.names,
    conversations: createConversationsApi(finding),
    upstreamOf: (name) => runtime.upstreamOf(agents.modelOf(name)),
    chats: createChatsApi({ ...kept, sealKey, ttlMs }),
    embeddings: createEmbeddingsApi({
      route: runtime.routeEmbeddings,
      open: runtime.openEmbeddings,
      payerOf,
      observe: settings.observeEmbeddings,
    }),
    search,
    start: () => engine.start(SERVER_BODIES),
    async close() {
      await passing.engine.stop();
      await search.close();
    },
  };
}

function toBeforeParts(kept: ShelfParts, place: Engine): BeforeParts {
  return {
    shelf: kept.shelf,
    place,
    readConversation: async (tenant, id, position) =>
      (await readItems(kept, tenant, id, position)).items,
  };
}

interface FindStores {
  readonly kept: ShelfParts;
  readonly before: BeforeParts;
}

function toFindParts(
  { durable, route }: ResponsesRuntime,
  settings: ApiSettings,
  { kept, before }: FindStores,
): FindParts {
  const { root, sealKey, size = SIZE_LIMITS, web = {} } = settings;
  return {
    ...kept,
    place: durable.engine,
    web,
    root,
    sealKey,
    size,
    route,
    readsItself: (model) => durable.mediaOf(model).readsItself,
    isBacked: toIsBacked(settings),
    readBefore: (continued) => readBefore(before, continued),
  };
}

interface ApiStores {
  readonly finding: FindParts;
  readonly seals: Seals;
  readonly handed: HandedCalls;
}

function openApi(
  { durable, passing, shelf }: ResponsesRuntime,
  settings: ApiSettings,
  { finding, seals, handed }: ApiStores,
): ResponsesApi {
  return createResponsesApi({
    clock: durable.clock,
    shelf,
    durable: durable.engine,
    passing: passing.engine,
    placeOf: defineBackground(durable.engine, settings),
    defaults: { store: settings.store },
    size: finding.size,
    ttlMs: settings.ttlMs,
    findInput: (input, caller) => findInput(finding, input, caller),
    findModel: (asked, caller) => findModel(finding, asked, caller),
    find: (asked, caller) => findRequest(finding, asked, caller),
    models: createDirectModels(durable.openModel, toNativeChoice(settings)),
    thoughtSealOf: seals.thoughtSealOf,
    sealKey: settings.sealKey,
    observeDirect: settings.observeDirect,
    charge: settings.charge,
    settle: settings.settle,
    handed,
    admit: createAdmission(durable.openModel, settings),
  });
}

/** A request that names a prompt is created with the prompt in it. */
function withPrompts(
  api: ResponsesApi,
  prepare: (body: unknown) => Promise<unknown>,
): ResponsesApi {
  return {
    ...api,
    create: (body, ...asking) =>
      namesPrompt(body)
        ? prepare(body).then((filled) => api.create(filled, ...asking))
        : api.create(body, ...asking),
  };
}
