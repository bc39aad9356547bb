/**
 * The models that clients may name: the server's own names, those of the server that the settings give an
 * address of, and what is known of vendors whose key is set.
 */

import type { IncomingMessage } from "node:http";
import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import { EMBEDDED, EMBEDDED_MODEL } from "../../providers/models/model-ref.ts";
import { MODELS } from "../../providers/models/model-table.ts";
import { isVendor, vendorOf } from "../../providers/vendors/catalog.ts";
import type { Upstream } from "../../responses/messages/parse-messages.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { type ModelRoutes, toUnknownModel } from "../../runtime/served-models/model-routes.ts";
import type { ListModels } from "../../runtime/served-models/upstream-models.ts";
import { type Route, toJson } from "../route.ts";

interface ModelParts {
  readonly routes: ModelRoutes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the server at the settings' address has; nothing where there is none. */
  readonly listUpstream?: ListModels | undefined;
  /** The model that vectors are made with for files, by the name that clients may ask it. */
  readonly embeddings?: string | undefined;
  /** How much the model behind a name takes and says. */
  readonly sizesOf?: ((name: string) => ModelSizes) | undefined;
}

type ModelSizes = Pick<Upstream, "contextTokens" | "maxOutputTokens">;

/** As the API has it. */
interface ShownModel {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

export function createModelRoutes(parts: ModelParts): Route[] {
  const list = createList(parts);
  const find = async (id: string, caller: Caller): Promise<ShownModel> => {
    const model = (await list()).find((one) => one.id === id && isAllowed(id, caller));
    if (model) return model;
    throw toUnknownModel(id);
  };
  return [
    {
      method: "GET",
      path: "/v1/models",
      summary: "The models that may be asked",
      scope: "models",
      async handle({ caller, request, query }) {
        const data = (await list()).filter(({ id }) => isAllowed(id, caller));
        return toJson(
          speaksMessages(request) ? toMessagesList(data, query, parts) : { object: "list", data },
        );
      },
    },
    {
      method: "GET",
      path: "/v1/models/:id",
      summary: "One model",
      scope: "models",
      handle: async ({ params, caller, request }) =>
        toJson(toShape(await find(params["id"] ?? "", caller), request, parts)),
    },
    {
      method: "GET",
      path: "/v1/models/:vendor/:id",
      summary: "One model, where its slash was not escaped",
      scope: "models",
      handle: async ({ params, caller, request }) =>
        toJson(toShape(await find(`${params["vendor"]}/${params["id"]}`, caller), request, parts)),
    },
  ];
}

/** The two APIs share the addresses; clients of one of them name its version. */
function speaksMessages({ headers }: IncomingMessage): boolean {
  return "anthropic-version" in headers;
}

function toShape(model: ShownModel, request: IncomingMessage, parts: ModelParts): object {
  return speaksMessages(request) ? toMessagesModel(model, parts) : model;
}

/** As the Messages API has it. */
interface MessagesModel {
  readonly type: "model";
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly lifecycle: "active";
  /** Null where nobody knows. */
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  /** What the vendor says of its own models alone. */
  readonly capabilities: null;
  readonly line: null;
  readonly deprecated_at: null;
  readonly retires_at: null;
}

function toMessagesModel({ id, created }: ShownModel, { sizesOf }: ModelParts): MessagesModel {
  const created_at = new Date(created * 1000).toISOString().replace(".000Z", "Z");
  const sizes = sizesOf?.(id);
  return {
    ...{ type: "model", id, display_name: id, created_at, lifecycle: "active" },
    max_input_tokens: sizes?.contextTokens ?? null,
    max_tokens: sizes?.maxOutputTokens ?? null,
    ...{ capabilities: null, line: null, deprecated_at: null, retires_at: null },
  };
}

const USUAL_LIMIT = 20;
const MOST_LIMIT = 1000;

/** Paged by ids, as that API pages: `after_id`, `before_id`, `limit`. */
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

/** In this order: names of the settings, the upstream's own, what else is known. The first of a name counts. */
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

function listModels({ routes: { named, usual }, env, embeddings }: ModelParts): Listed {
  // A name with a star in it is a rule and not a model.
  const names = named.map(([name]) => name).filter((name) => !name.includes("*"));
  const own = [...names, ...(embeddings === undefined ? [] : [embeddings])].map((name) =>
    toShown(name, "offshoot"),
  );
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

/** Nobody knows when; the API wants a number. */
function toShown(id: string, owned_by: string): ShownModel {
  return { id, object: "model", created: 0, owned_by };
}
