/**
 * Routes of the models that clients may name: the server's own names, those of the server at the settings' address,
 * and the known models of vendors whose key is set.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import { EMBEDDED, EMBEDDED_MODEL } from "../../providers/models/model-ref.ts";
import { MODELS } from "../../providers/models/model-table.ts";
import { isVendor, vendorOf } from "../../providers/vendors/catalog.ts";
import type { UpstreamFacts } from "../../responses/messages/messages-wishes.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { type ModelRoutes, toUnknownModel } from "../../runtime/served-models/model-routes.ts";
import type { ListModels } from "../../runtime/served-models/upstream-models.ts";
import { checkVersion, speaksMessages, toMessagesJson } from "../messages-headers.ts";
import { type JsonAnswer, type Route, type RouteCall, toJson } from "../route.ts";

interface ModelParts {
  readonly routes: ModelRoutes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Lists the models of the server at the settings' address; nothing if there is none. */
  readonly listUpstream?: ListModels | undefined;
  /** The embedding model of vector stores, by the name that clients use. */
  readonly embeddings?: string | undefined;
  /** Agents that may be named as models: `agent/reviewer`. */
  readonly agents?: readonly string[] | undefined;
  /** How much the model of a name reads and writes. */
  readonly sizesOf?: ((name: string) => ModelSizes) | undefined;
}

type ModelSizes = Pick<UpstreamFacts, "contextTokens" | "maxOutputTokens">;

/** A model in the API's form. */
interface ShownModel {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

export function createModelRoutes(parts: ModelParts): Route[] {
  const list = createList(parts);
  const show = async (id: string, { caller, request }: RouteCall): Promise<JsonAnswer> => {
    checkVersion(request);
    const model = (await list()).find((one) => one.id === id && isAllowed(id, caller));
    if (!model) throw toUnknownModel(id);
    return speaksMessages(request) ? toMessagesJson(toMessagesModel(model, parts)) : toJson(model);
  };
  return [
    {
      method: "GET",
      path: "/v1/models",
      summary: "The models that may be asked",
      scope: "models",
      async handle({ caller, request, query }) {
        checkVersion(request);
        const data = (await list()).filter(({ id }) => isAllowed(id, caller));
        if (speaksMessages(request)) return toMessagesJson(toMessagesList(data, query, parts));
        return toJson({ object: "list", data });
      },
    },
    {
      method: "GET",
      path: "/v1/models/:id",
      summary: "One model",
      scope: "models",
      handle: (call) => show(call.params["id"] ?? "", call),
    },
    {
      method: "GET",
      path: "/v1/models/:vendor/:id",
      summary: "One model, by a name with an unescaped slash",
      scope: "models",
      handle: (call) => show(`${call.params["vendor"]}/${call.params["id"]}`, call),
    },
  ];
}

/** A model in the Messages API's form. */
interface MessagesModel {
  readonly type: "model";
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly lifecycle: "active";
  /** Null if it is not known. */
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  /** Only the vendor knows this of its own models. */
  readonly capabilities: null;
  readonly line: null;
  readonly deprecated_at: null;
  readonly retires_at: null;
}

function toMessagesModel({ id, created }: ShownModel, { sizesOf }: ModelParts): MessagesModel {
  const created_at = new Date(created * 1000).toISOString().replace(".000Z", "Z");
  const sizes = sizesOf?.(id);
  return {
    type: "model",
    id,
    display_name: id,
    created_at,
    lifecycle: "active",
    max_input_tokens: sizes?.contextTokens ?? null,
    max_tokens: sizes?.maxOutputTokens ?? null,
    capabilities: null,
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

const USUAL_LIMIT = 20;
const MOST_LIMIT = 1000;

/** Paged by ids as in the Messages API: `after_id`, `before_id`, `limit`. */
function toMessagesList(
  models: readonly ShownModel[],
  query: URLSearchParams,
  parts: ModelParts,
): object {
  const limit = readLimit(query.get("limit"));
  const [after, before] = ["after_id", "before_id"].map((name) => {
    const id = query.get(name);
    return id === null ? -1 : models.findIndex((model) => model.id === id);
  }) as [number, number];
  const isBack = query.get("before_id") !== null && before >= 0;
  const rest = isBack ? models.slice(0, before) : models.slice(after + 1);
  const page = isBack ? rest.slice(-limit) : rest.slice(0, limit);
  const data = page.map((model) => toMessagesModel(model, parts));
  return {
    data,
    has_more: rest.length > page.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function readLimit(text: string | null): number {
  if (text === null) return USUAL_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LIMIT) return limit;
  const message = `\`limit\` must be a whole number from 1 to ${MOST_LIMIT}.`;
  throw new Failure("invalid_request", message, { param: "limit" });
}

function isAllowed(id: string, { models }: Caller): boolean {
  return !models || models.some((pattern) => matchesGlob(id, pattern));
}

/**
 * In this order: names of the settings, the upstream's own names, other known models. Of equal names the first one
 * counts.
 */
function createList(parts: ModelParts): () => Promise<readonly ShownModel[]> {
  const { own, known } = listModels(parts);
  return async () => {
    const upstream = (await parts.listUpstream?.()) ?? [];
    const shown = upstream.map(({ id, created, owned_by }): ShownModel => {
      return { id, object: "model", created, owned_by };
    });
    const byId = new Map<string, ShownModel>();
    for (const model of [...own, ...shown, ...known]) {
      if (!byId.has(model.id)) byId.set(model.id, model);
    }
    return [...byId.values()];
  };
}

interface Listed {
  readonly own: readonly ShownModel[];
  readonly known: readonly ShownModel[];
}

function listModels({
  routes: { named, usual },
  env,
  embeddings,
  agents = [],
}: ModelParts): Listed {
  // A name with a star in it is a rule and not a model.
  const names = named.map(([name]) => name).filter((name) => !name.includes("*"));
  const stored = embeddings === undefined ? [] : [embeddings];
  const own = [...names, ...agents, ...stored].map((name) => toShown(name, "offshoot"));
  const refs = [
    ...(usual ? [usual.model] : []),
    ...MODELS.filter(({ vendor, name }) => !name.endsWith("*") && isReachable(vendor, env)).map(
      ({ vendor, name }) => `${vendor}/${name}`,
    ),
    `${EMBEDDED}/${EMBEDDED_MODEL}`,
  ];
  return {
    own,
    known: refs.map((ref) => toShown(ref, ref.slice(0, Math.max(0, ref.indexOf("/"))))),
  };
}

function isReachable(vendor: string, env: ModelParts["env"]): boolean {
  return isVendor(vendor) && !vendorOf(vendor).local && keyVariableIn(vendor, env) !== undefined;
}

/** The date is not known; the API requires a number. */
function toShown(id: string, owned_by: string): ShownModel {
  return { id, object: "model", created: 0, owned_by };
}
