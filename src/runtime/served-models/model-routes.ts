/**
 * Which model a client means: a name of the server's own list; otherwise, if the usual model has an address, a name of
 * the server there; otherwise `vendor/model`. Models that run inside this server are never asked for at that address;
 * other vendors' names may be that server's own (`openai/gpt-oss-20b`).
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";
import {
  EMBEDDED,
  EMBEDDED_MODEL,
  formatModelRef,
  GGUF,
  parseModelRef,
} from "../../providers/models/model-ref.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";

/** A server at an address from the settings, without the model. */
export type OwnServer = Omit<ModelTarget, "model" | "deployments" | "fell_back"> & {
  /** The vendor whose models it has; `custom` if that is not known. */
  readonly vendor: string;
  readonly url: string;
};

export interface ModelRoutes {
  /** Names that clients may use, in the order they are tried; `*` in a name matches anything. */
  readonly named: readonly (readonly [string, ModelTarget])[];
  /** Used if a request names no model; undefined if each must. */
  readonly usual: ModelTarget | undefined;
  /** The server that all other names belong to; that of the usual model when left out. */
  readonly own?: OwnServer | undefined;
  /** The vendors that may be named; ours alone when left out. */
  readonly catalog?: Catalog | undefined;
}

export function ownServerOf({ own, usual }: ModelRoutes): OwnServer | undefined {
  if (own || !usual?.url) return own;
  const { model, url, provider, api_key_name } = usual;
  return { vendor: vendorOf(model), url, provider, api_key_name };
}

/** Rejects with `model_not_found` for an unknown name. */
export function routeModel(routes: ModelRoutes, name: string | null | undefined): ModelTarget {
  const { named, usual, catalog = CATALOG } = routes;
  const own = ownServerOf(routes);
  if (name === null || name === undefined || name === "") {
    if (usual) return usual;
    throw new Failure("invalid_request", "`model` is missing.", { param: "model" });
  }
  const row = named.find(([pattern]) => matchesGlob(name, toGlob(pattern)));
  if (row) return atOwn(own, row[1]);
  if (usual && (usual.model === name || usual.model.endsWith(`/${name}`))) return chosen(usual);
  return routeOwn({ own, usual, catalog }, name) ?? routeVendor(name, catalog);
}

/** A client that names the model has chosen it, even if it is the one that is used when nothing else was found. */
function chosen({ fell_back: _, ...target }: ModelTarget): ModelTarget {
  return target;
}

/** Which model of embeddings a client means: the model of vector stores is used for its own name. */
export function routeEmbeddings(
  { models, embeddings }: EmbeddingRoutes,
  name: string,
): ModelTarget {
  if (!embeddings) return routeModel(models, name);
  const isNamed = models.named.some(([pattern]) => pattern === name);
  const isOwn = embeddings.model.slice(embeddings.model.indexOf("/") + 1) === name;
  return isOwn && !isNamed ? embeddings : routeModel(models, name);
}

interface EmbeddingRoutes {
  readonly models: ModelRoutes;
  readonly embeddings?: ModelTarget | undefined;
}

/** A star matches slashes too: names of models have them, and they are not folders. */
function toGlob(pattern: string): string {
  return pattern.includes("{") ? pattern : pattern.replaceAll("*", "{**}");
}

/** The address from the settings applies to every model of its vendor. */
function atOwn(own: OwnServer | undefined, target: ModelTarget): ModelTarget {
  if (!own || !target.deployments) return addressedAt(own, target);
  const deployments = target.deployments.map((one) => ({ ...one, ...addressedAt(own, one) }));
  return { ...addressedAt(own, target), deployments };
}

function addressedAt(own: OwnServer | undefined, target: ModelTarget): ModelTarget {
  if (!own || target.url !== null || vendorOf(target.model) !== own.vendor) return target;
  const { url, provider, api_key_name } = own;
  return {
    model: target.model,
    url,
    provider: target.provider ?? provider,
    api_key_name: target.api_key_name ?? api_key_name,
  };
}

/** A server at an address of the user's own has models that only it knows. */
function routeOwn(
  { own, usual, catalog }: Pick<ModelRoutes, "own" | "usual"> & { readonly catalog: Catalog },
  name: string,
): ModelTarget | undefined {
  if (!own) return undefined;
  const vendor = findVendor(name, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return undefined;
  // A vendor's name that the settings define means that vendor.
  if (vendor !== undefined && vendor !== own.vendor && catalog.own.includes(vendor))
    return undefined;
  const model = vendor === own.vendor ? name.slice(vendor.length + 1) : name;
  if (model === "") return usual;
  const { url, provider, api_key_name } = own;
  return { model: `${own.vendor}/${model}`, provider, url, api_key_name };
}

function routeVendor(name: string, catalog: Catalog): ModelTarget {
  // Clients must not name files of this machine.
  const vendor = findVendor(name, catalog);
  // No address is set for it.
  if (vendor === GGUF || vendor === CUSTOM) throw toUnknownModel(name);
  try {
    const asked = name === EMBEDDED_MODEL ? EMBEDDED : name;
    const model = formatModelRef(parseModelRef(asked, undefined, catalog));
    return { model, provider: null, url: null, api_key_name: null };
  } catch (cause) {
    throw toUnknownModel(name, cause);
  }
}

const CUSTOM = "custom";

export function toUnknownModel(name: string, cause?: unknown): Failure {
  const message = `The model \`${clip(name, 80)}\` does not exist or is not served here.`;
  return new Failure("model_not_found", message, { param: "model", cause });
}

/** The vendor in a name; undefined for a plain name. */
function findVendor(name: string, catalog: Catalog): string | undefined {
  if (name.startsWith(`${GGUF}:`)) return GGUF;
  if (name === EMBEDDED_MODEL) return EMBEDDED;
  const head = name.split("/", 1)[0] ?? "";
  return head === EMBEDDED || catalog.has(head) ? head : undefined;
}

function vendorOf(ref: string): string {
  return ref.slice(0, Math.max(0, ref.indexOf("/")));
}
