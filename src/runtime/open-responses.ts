/** The Responses API over a runtime: which engines, models, gates and stores its responses have. */

import type { Clock } from "../base/clock.ts";
import type { OpenAccounts } from "../delegation/executors/in-process.ts";
import type { Engine } from "../engine/engine.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { askInWords } from "../providers/json-in-words.ts";
import {
  type OpenedResponses,
  openResponses as openApi,
  type ResponsesRuntime,
} from "../responses/api/open-responses.ts";
import type { ApiSettings } from "../responses/api/responses-settings.ts";
import { RESPONSE_BODY } from "../responses/kept/kept-response.ts";
import { keepModels } from "../responses/models/kept-models.ts";
import type { ModelTarget } from "../responses/models/model-target.ts";
import type { DelegatingRun, ResponsesParts } from "../responses/run/responses-parts.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import type { KeptRecord } from "../store/kept.ts";
import { limitShelf, type QuotaOf } from "../store/quota-shelf.ts";
import type { Shelf } from "../store/shelf.ts";
import type { Spending } from "../store/spending.ts";
import { VERSION } from "../version.ts";
import { AGENT_BODY, type AgentParts, createAgentBody, toModelOf } from "./agent-body.ts";
import { createAskers } from "./askers.ts";
import { toVendorMedia } from "./model-media.ts";
import { openGate } from "./open-gate.ts";
import { openNode } from "./open-node.ts";
import { type ModelRoutes, routeEmbeddings, routeModel } from "./served-models/model-routes.ts";
import { createUpstreams } from "./served-models/upstreams.ts";

export interface ResponsesSettings extends ApiSettings {
  readonly models: ModelRoutes;
  /** The model of `embedder`, which clients may name for embeddings of their own. */
  readonly embeddings?: ModelTarget | undefined;
  /** Where spending is booked on keys, for a record in memory. A file has its own. */
  readonly spending?: Pick<Spending, "settle"> | undefined;
  /** How many bytes a tenant may store; any number without it. */
  readonly quotaOf?: QuotaOf | undefined;
}

/** The parts of the runtime that it uses. */
export interface RuntimeInside {
  readonly engine: Engine;
  /** Books what runs have used on the server's own spending; undefined if the record does it. */
  readonly bookWith: KeptRecord["bookWith"];
  readonly shelf: Shelf;
  readonly chunks: ChunkStore;
  readonly clock: Clock;
  readonly agent: AgentParts;
  readonly openEmbeddings: ResponsesRuntime["openEmbeddings"];
}

export function openResponses(inside: RuntimeInside, settings: ResponsesSettings): OpenedResponses {
  const { shelf, chunks, engine, clock, bookWith } = inside;
  const { quotaOf, spending, models } = settings;
  if (spending) bookWith?.(spending);
  const agent = { ...inside.agent, openModel: keepModels(inside.agent.openModel) };
  const alone = toAlone(agent);
  const runtime: ResponsesRuntime = {
    durable: toParts(agent, engine),
    passing: toParts(alone, openPassing(alone, clock)),
    shelf: quotaOf ? limitShelf(shelf, quotaOf) : shelf,
    chunks,
    route: (name) => routeModel(models, name),
    upstreamOf: createUpstreams(models, agent),
    routeEmbeddings: (name) => routeEmbeddings(settings, name),
    openEmbeddings: inside.openEmbeddings,
    agents: agent.agents ?? [],
    version: VERSION,
  };
  return openApi(runtime, settings);
}

/** Responses that are not stored run in memory and leave nothing. */
function openPassing(agent: AgentParts, clock: Clock): Engine {
  const engine = createMemoryEngine({ clock });
  engine.define(AGENT_BODY, createAgentBody(agent).run);
  return engine;
}

/** A run in memory cannot be left to another process. */
function toAlone(agent: AgentParts): AgentParts {
  const { executor } = agent.delegation;
  if (executor !== "anywhere") return agent;
  return {
    ...agent,
    placeOf: undefined,
    delegation: { ...agent.delegation, executor: "in_process" },
  };
}

function toParts(agent: AgentParts, engine: Engine): ResponsesParts {
  const { clock, openModel, toolbox, safety, catalog, accounts = new Map() } = agent;
  return {
    engine,
    clock,
    accounts,
    openModel,
    mediaOf: (target) => toVendorMedia(target, catalog),
    askInWords,
    toolbox,
    openGate: ({ task, context }, tools) =>
      openGate(task, tools, { ...safety, ...createAskers(safety, clock).of(task, context) }),
    openNode: (run) => openResponseNode(agent, accounts, run),
  };
}

/** Every call of a response waits for its children, and none of them is a process of its own. */
function openResponseNode(
  agent: AgentParts,
  accounts: OpenAccounts,
  { children, ...run }: DelegatingRun,
): ReturnType<typeof openNode> {
  const { clock, delegation: settings, observe, agents = [], conversations, placeOf } = agent;
  const shared = {
    ...run,
    accounts,
    settings,
    clock,
    observe,
    processChildren: undefined,
    check: async () => {},
    modelOf: toModelOf(agent, run.task),
  };
  return children === "responses"
    ? openNode({ ...shared, body: RESPONSE_BODY, agents: [], conversations: undefined })
    : openNode({ ...shared, body: AGENT_BODY, agents, conversations, placeOf });
}
