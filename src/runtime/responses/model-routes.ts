/**
 * Which model a client means: a name of the server's own list, else one of the server that the usual
 * model's address is, else `vendor/model` as everywhere. What runs inside of this server is never asked
 * for at that address; other vendors' names may be its own (`openai/gpt-oss-20b`).
 */

import type { AgentTask } from "../../agent/task.ts";
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
import { isVendor } from "../../providers/vendors/catalog.ts";

export type ModelTarget = Pick<AgentTask, "model" | "provider" | "url" | "api_key_name">;

export interface ModelRoutes {
  /** Names that clients may use, in the order they are looked through; `*` in a name fits anything. */
  readonly named: readonly (readonly [string, ModelTarget])[];
  /** Asked where a request names no model; undefined where each must. */
  readonly usual: ModelTarget | undefined;
}

/** Rejects with `model_not_found` for a name that is nobody's. */
export function routeModel(
  { named, usual }: ModelRoutes,
  name: string | null | undefined,
): ModelTarget {
  if (name === null || name === undefined || name === "") {
    if (usual) return usual;
    throw new Failure("invalid_request", "`model` is missing.", { param: "model" });
  }
  const row = named.find(([pattern]) => matchesGlob(name, pattern));
  if (row) return row[1];
  if (usual && (usual.model === name || usual.model.endsWith(`/${name}`))) return usual;
  return routeOwn(usual, name) ?? routeVendor(name);
}

/** A server at an address of one's own has models whose names nobody else knows. */
function routeOwn(usual: ModelTarget | undefined, name: string): ModelTarget | undefined {
  if (!usual?.url) return undefined;
  const [own, vendor] = [vendorOf(usual.model), findVendor(name)];
  if (vendor === EMBEDDED || vendor === GGUF) return undefined;
  const model = vendor === own ? name.slice(own.length + 1) : name;
  return model === "" ? usual : { ...usual, model: `${own}/${model}` };
}

function routeVendor(name: string): ModelTarget {
  // Files of this machine are not for clients to name.
  if (findVendor(name) === GGUF) throw toUnknownModel(name);
  try {
    const model = formatModelRef(parseModelRef(name === EMBEDDED_MODEL ? EMBEDDED : name));
    return { model, provider: null, url: null, api_key_name: null };
  } catch (cause) {
    throw toUnknownModel(name, cause);
  }
}

export function toUnknownModel(name: string, cause?: unknown): Failure {
  const message = `The model \`${clip(name, 80)}\` does not exist or is not served here.`;
  return new Failure("model_not_found", message, { param: "model", cause });
}

/** The vendor that a name says it is of; undefined for a plain name. */
function findVendor(name: string): string | undefined {
  if (name.startsWith(`${GGUF}:`)) return GGUF;
  if (name === EMBEDDED_MODEL) return EMBEDDED;
  const head = name.split("/", 1)[0] ?? "";
  return head === EMBEDDED || isVendor(head) ? head : undefined;
}

function vendorOf(ref: string): string {
  return ref.slice(0, Math.max(0, ref.indexOf("/")));
}
