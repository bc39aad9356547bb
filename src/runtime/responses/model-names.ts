/** The setting `server.models`: names that clients may ask, and the models that they mean. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { formatModelRef, parseModelRef } from "../../providers/models/model-ref.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";
import { checkProvider } from "../../providers/vendors/provider-names.ts";
import type { ModelRoutes, ModelTarget } from "./model-routes.ts";

const FIELDS = ["model", "provider", "url", "api_key_name"] as const;

/** Gives the map back when every row of it can be used. */
export function checkModelNames(
  names: JsonObject,
  where: string,
  catalog: Catalog = CATALOG,
): JsonObject {
  for (const [name, row] of Object.entries(names)) {
    try {
      toTarget(row, catalog);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${where}: \`${clip(name, 60)}\`: ${reason}`;
      throw new Failure("invalid_request", message, { cause });
    }
  }
  return names;
}

/** The rows for `routeModel`, of a map that `checkModelNames` has passed; in the file's order. */
export function toNamedModels(
  names: JsonObject | undefined,
  catalog: Catalog = CATALOG,
): ModelRoutes["named"] {
  return Object.entries(names ?? {}).map(([name, row]) => [name, toTarget(row, catalog)] as const);
}

/** `vendor/model`, or a map of it with a server of one's own. */
function toTarget(row: Json | undefined, catalog: Catalog): ModelTarget {
  if (typeof row === "string") return toTarget({ model: row }, catalog);
  if (!isJsonObject(row)) {
    throw new Failure("invalid_request", `It must be \`vendor/model\`, or a map with ${SHOWN}.`);
  }
  for (const [field, value] of Object.entries(row)) checkField(field, value);
  const { model, provider = null, url = null, api_key_name = null } = row as TargetRow;
  if (model === undefined) throw new Failure("invalid_request", "`model` is missing.");
  if (provider !== null) checkProvider(provider);
  const otherwise = url === null ? undefined : "custom";
  const ref = formatModelRef(parseModelRef(model, otherwise, catalog));
  return { model: ref, provider, url, api_key_name };
}

type TargetRow = { readonly [Field in (typeof FIELDS)[number]]?: string };

const SHOWN = FIELDS.join(", ");

function checkField(field: string, value: Json | undefined): void {
  if (!(FIELDS as readonly string[]).includes(field)) {
    const guess = nearest(field, FIELDS);
    const hint = guess === undefined ? ` It takes ${SHOWN}.` : ` Did you mean \`${guess}\`?`;
    throw new Failure("invalid_request", `There is no \`${clip(field, 40)}\`.${hint}`);
  }
  if (typeof value === "string" && value.trim() !== "") return;
  throw new Failure("invalid_request", `\`${field}\` must be text.`);
}
