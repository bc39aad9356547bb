/** The facts of the model that a name stands for, before it is asked: its server, and how much it reads and writes. */

import type { Model } from "../../providers/models/facts.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../../providers/models/model-ref.ts";
import { findModel } from "../../providers/models/models.ts";
import { CATALOG } from "../../providers/vendors/catalog.ts";
import type { UpstreamFacts } from "../../responses/messages/messages-wishes.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { AgentParts } from "../agent-body.ts";
import { type ModelRoutes, routeModel } from "./model-routes.ts";

/** How many names are kept at most: clients can send any name. */
const MAX_KEPT = 200;

/** Vendors that are Anthropic, or serve its models: they know its tools, its thinking and its metadata. */
const VENDORS: ReadonlySet<string> = new Set(["anthropic", "claudeaws"]);

type Known = Pick<AgentParts, "catalog" | "overrides">;

/** Looked up once for each name: the table of models is long. */
export function createUpstreams(
  models: ModelRoutes,
  known: Known,
): (name: string | null | undefined) => UpstreamFacts {
  const kept = new Map<string, UpstreamFacts>();
  return (name) => {
    const key = name ?? "";
    const found = kept.get(key);
    if (found) return found;
    const upstream = findUpstream(models, name, known);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, upstream);
    return upstream;
  };
}

const UNKNOWN: UpstreamFacts = {
  isVendor: false,
  canStopThinking: false,
  maxOutputTokens: undefined,
  contextTokens: undefined,
};

/** An unknown name is refused when the request is created, with its own message. */
function findUpstream(
  models: ModelRoutes,
  name: string | null | undefined,
  known: Known,
): UpstreamFacts {
  let target: ModelTarget;
  try {
    target = routeModel(models, name);
  } catch {
    return UNKNOWN;
  }
  const all = (target.deployments ?? [target]).map((one) => toUpstream(one, known));
  return {
    isVendor: all.every(({ isVendor }) => isVendor),
    canStopThinking: all.some(({ canStopThinking }) => canStopThinking),
    maxOutputTokens: least(all.map(({ maxOutputTokens }) => maxOutputTokens)),
    contextTokens: least(all.map(({ contextTokens }) => contextTokens)),
  };
}

function toUpstream(
  target: Pick<ModelTarget, "model" | "url" | "provider">,
  known: Known,
): UpstreamFacts {
  const { catalog = CATALOG, overrides } = known;
  const { model, url, provider } = target;
  const { vendor, model: name } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return UNKNOWN;
  const { like, wire, quirks } = catalog.of(vendor);
  const facts: Model = findModel(vendor, name, overrides, like);
  const isVendor = VENDORS.has(vendor) && (provider ?? wire) === "anthropic";
  const isChat = (provider ?? wire) === "openai-chat";
  const hasWord = !isChat || quirks?.effortNone === true || quirks?.thinkingOff !== undefined;
  const { maxOutputTokens, contextTokens } = facts;
  return { isVendor, canStopThinking: facts.reasoning && hasWord, maxOutputTokens, contextTokens };
}

/** Any of the deployments may answer, so the smallest limit counts. */
function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
