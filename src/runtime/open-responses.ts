/** The Responses API over a runtime: where its responses run, and what each request needs of the outside. */

import type { CompactionSeal } from "../agent/context/compacted-context.ts";
import type { Payer } from "../agent/payer.ts";
import type { Clock } from "../base/clock.ts";
import { makeId } from "../base/ids.ts";
import type { Engine } from "../engine/engine.ts";
import { createLocalEngine } from "../engine/local-engine.ts";
import { readWholeLog } from "../engine/read-log.ts";
import type { LoggedEvent } from "../protocol/run-events.ts";
import type { Embedder } from "../providers/embeddings/embedder.ts";
import { createResponsesApi, RESPONSE_BODY, type ResponsesApi } from "../responses/api/api.ts";
import { type ContextApi, createContextApi } from "../responses/api/context-api.ts";
import {
  type ConversationsApi,
  createConversationsApi,
} from "../responses/api/conversations-api.ts";
import {
  type FindParts,
  findInput,
  findModel,
  findRequest,
} from "../responses/api/find-request.ts";
import type { NativeChoice } from "../responses/bridge/native.ts";
import { type ChatsApi, createChatsApi } from "../responses/chat/stored-chats.ts";
import { type BeforeParts, readBefore } from "../responses/conversations/conversation-before.ts";
import { readItems } from "../responses/conversations/items.ts";
import { createDirectModels } from "../responses/direct/direct-models.ts";
import {
  createEmbeddingsApi,
  type EmbeddingsApi,
  type EmbeddingsParts,
} from "../responses/embeddings/embeddings-api.ts";
import type { FindBacking } from "../responses/kinds/backed-kind.ts";
import { type BackingSettings, findBackingTool } from "../responses/kinds/mcp-backing.ts";
import { createRequestMcp } from "../responses/kinds/request-mcp.ts";
import type { WebTools } from "../responses/kinds/web-search.ts";
import type { WebMediaSettings } from "../responses/media/web-media.ts";
import { withKeptModels } from "../responses/models/kept-models.ts";
import { createTeamSlots } from "../responses/multi-agent/team-slots.ts";
import { applyPrompt, namesPrompt } from "../responses/prompts/prompt.ts";
import { createFindPrompt } from "../responses/prompts/prompt-files.ts";
import { SIZE_LIMITS, type SizeLimits } from "../responses/request/check-size.ts";
import type { IsBacked } from "../responses/request/hosted-kinds.ts";
import { unsealTools } from "../responses/request/seal-tools.ts";
import { createAdmission } from "../responses/run/admission.ts";
import {
  type BackgroundLimits,
  defineBackground,
  type EnterPlace,
} from "../responses/run/background-queue.ts";
import { keepOutput } from "../responses/run/keep-output.ts";
import type { MachineParts } from "../responses/run/machine-kinds.ts";
import { type OpenedSearch, openSearch } from "../responses/run/open-search.ts";
import { createResponseBody, type ResponseBodyParts } from "../responses/run/response-body.ts";
import { readsItself } from "../responses/run/response-context.ts";
import { createKinds } from "../responses/run/response-kinds.ts";
import type { ResponseMoney } from "../responses/run/response-money.ts";
import { createCompactionSeal } from "../responses/sealing/compaction-seal.ts";
import { createThoughtSeal, type ThoughtSeal } from "../responses/sealing/thought-seal.ts";
import type { ShelfParts } from "../responses/tenant/shelf-parts.ts";
import { INDEX_BODY } from "../responses/vector-stores/kept-store.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import { createMemoryStore } from "../store/memory/memory-store.ts";
import { limitShelf, type QuotaOf } from "../store/quota-shelf.ts";
import type { Shelf } from "../store/shelf.ts";
import type { Spending } from "../store/spending.ts";
import type { Store } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { AGENT_BODY, type AgentParts, createAgentBody } from "./agent-body.ts";
import {
  type ModelRoutes,
  type ModelTarget,
  routeEmbeddings,
  routeModel,
} from "./served-models/model-routes.ts";

export interface ResponsesSettings extends BackgroundLimits, ResponseMoney {
  /** What makes vectors of texts; without it files are searched by their words alone. */
  readonly embedder?: Embedder | undefined;
  readonly models: ModelRoutes;
  /** The model behind `embedder`, which clients may name for embeddings of their own. */
  readonly embeddings?: ModelTarget | undefined;
  /** Whether responses are kept where the request does not say. */
  readonly store: boolean;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The folder that the server's own tools work in. */
  readonly root: string;
  /** Tools of configured MCP servers that stand behind kinds: `web_search: search/query`. */
  readonly backing?: BackingSettings | undefined;
  /** The kinds of tools that vendors may run themselves, by globs; all where it is left out. */
  readonly nativeTools?: readonly string[] | undefined;
  /** What runs on this machine for clients: code, shells, patches, pictures. */
  readonly machine?: Omit<MachineParts, "kept"> | undefined;
  /** Seals secrets in stored requests, and compacted conversations. */
  readonly sealKey: Uint8Array;
  /** Where keys are booked, for a record in memory. A file has its own. */
  readonly spending?: Pick<Spending, "settle"> | undefined;
  /** Who pays for what a key asks for outside of responses. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
  /** Counts a background response that runs among its key's. */
  readonly enterPlace?: EnterPlace | undefined;
  /** How many bytes a tenant may keep; any number without it. */
  readonly quotaOf?: QuotaOf | undefined;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** Told what each request for embeddings has used. */
  readonly observeEmbeddings?: EmbeddingsParts["observe"];
  /** The folder of the prompts that requests may name; none without it. */
  readonly promptsDir?: string | undefined;
  /** How images and files are fetched that requests name by their address. */
  readonly web?: WebMediaSettings | undefined;
  /** How much one request may hold. */
  readonly size?: SizeLimits | undefined;
}

export interface OpenedResponses {
  /** Where what belongs to tenants is kept. */
  readonly kept: ShelfParts;
  /** The server's own secret. */
  readonly sealKey: Uint8Array;
  readonly search: OpenedSearch;
  readonly api: ResponsesApi;
  readonly context: ContextApi;
  readonly conversations: ConversationsApi;
  readonly chats: ChatsApi;
  readonly embeddings: EmbeddingsApi;
  readonly shelf: Shelf;
  readonly durable: Engine;
  /** Where those run that are not stored. */
  readonly passing: Engine;
  /** Goes on with what other servers have left behind; returns the ids of those runs. */
  start(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What of the runtime it is made of. */
export interface RuntimeInside {
  readonly engine: Engine;
  /** What the engine keeps its runs in. */
  readonly store: Pick<Store, "keepSpending">;
  readonly shelf: Shelf;
  readonly chunks: ChunkStore;
  readonly clock: Clock;
  readonly agent: AgentParts;
  readonly openEmbeddings: EmbeddingsParts["open"];
}

export function openResponses(given: RuntimeInside, settings: ResponsesSettings): OpenedResponses {
  const { quotaOf, spending } = settings;
  if (spending) given.store.keepSpending?.(spending);
  const shelf = quotaOf ? limitShelf(given.shelf, quotaOf) : given.shelf;
  const inside = { ...given, shelf, agent: withKeptModels(given.agent) };
  const { engine: durable, clock } = inside;
  const passing = openPassing(inside);
  const kept: ShelfParts = { shelf, clock, makeId };
  const before = toBeforeParts(kept, durable);
  const sealOf = (tenant: string): CompactionSeal => createCompactionSeal(settings.sealKey, tenant);
  const thoughtSealOf = (tenant: string): ThoughtSeal =>
    createThoughtSeal(settings.sealKey, tenant);
  const web = settings.web ?? {};
  const search = openSearch(inside, {
    ...{ embedder: settings.embedder, payerOf: settings.payerOf },
    webTools: async () => findWebTools(inside.agent),
  });
  const placeOf = defineBackground(durable, settings);
  for (const place of [durable, passing]) {
    const own = place === durable ? inside : { ...inside, agent: toAlone(inside.agent) };
    const body = createBody(own, settings, {
      ...{ kept, before, sealOf, thoughtSealOf, search, place },
    });
    place.define(RESPONSE_BODY, body);
  }
  const { root, sealKey, size = SIZE_LIMITS } = settings;
  const finding: FindParts = {
    ...{ ...kept, place: durable, web, root, sealKey, size },
    route: (name) => routeModel(settings.models, name),
    readsItself: (model) => readsItself(model, inside.agent.catalog),
    isBacked: toIsBacked(settings),
    readBefore: (goesOn) => readBefore(before, goesOn),
  };
  const answers = createResponsesApi({
    ...{ clock, shelf, durable, passing, placeOf },
    findInput: (input, caller) => findInput(finding, input, caller),
    ...{ defaults: { store: settings.store }, size, ttlMs: settings.ttlMs },
    findModel: (asked, caller) => findModel(finding, asked, caller),
    find: (asked, caller) => findRequest(finding, asked, caller),
    models: createDirectModels(inside.agent, toNativeChoice(settings)),
    ...{ thoughtSealOf, sealKey },
    ...{ observeDirect: settings.observeDirect, charge: settings.charge },
    admit: createAdmission(inside.agent, settings),
  });
  const findPrompt = createFindPrompt(settings.promptsDir);
  const prepare = (given: unknown): Promise<unknown> => applyPrompt(given, findPrompt);
  const api: ResponsesApi = {
    ...answers,
    create: (given, caller, once) =>
      namesPrompt(given)
        ? prepare(given).then((filled) => answers.create(filled, caller, once))
        : answers.create(given, caller, once),
  };
  return {
    ...{ api, shelf, kept, durable, passing, sealKey },
    context: createContextApi({ api, before, sealOf, prepare, finding }),
    conversations: createConversationsApi(finding),
    chats: createChatsApi({ ...kept, sealKey, ttlMs: settings.ttlMs }),
    embeddings: createEmbeddingsApi({
      route: (name) => routeEmbeddings(settings, name),
      open: inside.openEmbeddings,
      ...{ payerOf: settings.payerOf, observe: settings.observeEmbeddings },
    }),
    search,
    start: () => durable.start(SERVER_BODIES),
    async close() {
      await passing.stop();
      await search.close();
    },
  };
}

/** A run of the command line belongs to the folder and the settings of whoever began it. */
const SERVER_BODIES = [RESPONSE_BODY, INDEX_BODY];

function toBeforeParts(kept: ShelfParts, place: Engine): BeforeParts {
  const { shelf } = kept;
  return {
    ...{ shelf, place },
    readConversation: async (tenant, id, position) =>
      (await readItems(kept, tenant, id, position)).items,
  };
}

interface BodyStores {
  readonly place: Engine;
  readonly kept: ShelfParts;
  readonly before: BeforeParts;
  readonly sealOf: (tenant: string) => CompactionSeal;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
  readonly search: OpenedSearch;
}

function toIsBacked({ backing = {} }: ResponsesSettings): IsBacked {
  return (kind) => Object.hasOwn(backing, kind);
}

function toNativeChoice(settings: ResponsesSettings): NativeChoice {
  return { isBacked: toIsBacked(settings), nativeTools: settings.nativeTools ?? ["*"] };
}

/** This server's own; where settings name others (`findBackingTool`), those stand in their place. */
/** Looked up by the first request that names the kind: servers are started then. */
function toFindBacking(backing: BackingSettings, { toolbox }: AgentParts): FindBacking {
  return (kind) => findBackingTool(backing, kind, toolbox);
}

async function findWebTools({ toolbox }: AgentParts): Promise<WebTools> {
  const [search, open] = await toolbox.pick(["search_web", "scrape_webpage"]);
  return { search, open };
}

function createBody(
  { agent, clock }: RuntimeInside,
  settings: ResponsesSettings,
  { kept, before, sealOf, thoughtSealOf, search, place }: BodyStores,
): ReturnType<typeof createResponseBody> {
  const parts: ResponseBodyParts = {
    ...agent,
    accounts: agent.accounts ?? new Map(),
    engine: place,
    slots: createTeamSlots(),
    ...{ charge: settings.charge, settle: settings.settle, openPurse: settings.openPurse },
    enterPlace: settings.enterPlace,
    kinds: createKinds({
      connectMcp: connectMcp(clock, settings),
      machine: { ...settings.machine, kept },
      search: search.kinds,
      findBacking: settings.backing && toFindBacking(settings.backing, agent),
    }),
    context: { kept, sealOf, thoughtSealOf, web: settings.web ?? {}, catalog: agent.catalog },
    readBefore: (wish) => readBefore(before, wish),
    unseal: (tools) => unsealTools(tools, settings.sealKey),
    ...toNativeChoice(settings),
    readLog: (runId) => readWholeLog(place.record, runId),
    keepOutput: (wish, context, outcome) => keepOutput(kept, { wish, context, outcome }),
  };
  return createResponseBody(parts);
}

/** MCP servers of requests are reached as whatever else requests name by an address. */
function connectMcp(
  clock: Clock,
  { web = {} }: ResponsesSettings,
): ReturnType<typeof createRequestMcp> {
  const { privateHosts = [], resolve, ca } = web;
  return createRequestMcp({ clock, version: VERSION, network: { privateHosts, resolve, ca } });
}

/** Responses that are not stored run in memory and leave nothing. */
function openPassing({ agent, clock }: RuntimeInside): Engine {
  const engine = createLocalEngine({ store: createMemoryStore(), clock });
  engine.define(AGENT_BODY, createAgentBody(toAlone(agent)).run);
  return engine;
}

/** What runs in memory can be left to no other process. */
function toAlone(agent: AgentParts): AgentParts {
  const { executor } = agent.delegation;
  if (executor !== "anywhere") return agent;
  return {
    ...agent,
    placeOf: undefined,
    delegation: { ...agent.delegation, executor: "in_process" },
  };
}
