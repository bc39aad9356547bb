/** What is known of the model behind a name before it is asked: whose server it is, and how much it takes and says. */

import { EMBEDDED, GGUF, parseModelRef } from "../../providers/models/model-ref.ts";
import { findModel, type Model } from "../../providers/models/models.ts";
import { CATALOG } from "../../providers/vendors/catalog.ts";
import type { Upstream } from "../../responses/messages/parse-messages.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { AgentParts } from "../agent-body.ts";
import { type ModelRoutes, routeModel } from "./model-routes.ts";

/** Names are clients' to send: no more than these are kept. */
const MAX_KEPT = 200;

/** Vendors that are Anthropic, or speak for it: they know its tools, its thinking and its metadata. */
const VENDORS: ReadonlySet<string> = new Set(["anthropic", "claudeaws"]);

type Known = Pick<AgentParts, "catalog" | "overrides">;

/** Looked up once for each name: the table of models is long. */
export function createUpstreams(
  models: ModelRoutes,
  known: Known,
): (name: string | null | undefined) => Upstream {
  const kept = new Map<string, Upstream>();
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

const UNKNOWN: Upstream = {
  ...{ isVendor: false, canStopThinking: false },
  ...{ maxOutputTokens: undefined, contextTokens: undefined },
};

/** A name that is nobody's is refused where the request is created, in its own words. */
function findUpstream(
  models: ModelRoutes,
  name: string | null | undefined,
  known: Known,
): Upstream {
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
): Upstream {
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

/** Whoever answers must be able to. */
function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
