/** The setting `server.models`: names that clients may ask for, and the models that they mean. */

import type { Deployment } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { formatModelRef, parseModelRef } from "../../providers/models/model-ref.ts";
import { checkProvider, wireFor } from "../../providers/models/provider-names.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { ModelRoutes } from "./model-routes.ts";

/** Returns the map when every row of it is valid. */
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

/** The rows for `routeModel`, from a map that `checkModelNames` has accepted; in the file's order. */
export function toNamedModels(
  names: JsonObject | undefined,
  catalog: Catalog = CATALOG,
): ModelRoutes["named"] {
  return Object.entries(names ?? {}).map(([name, row]) => [name, toTarget(row, catalog)] as const);
}

/** `vendor/model`, a map of it with a server of the user's own, or a list of deployments. */
function toTarget(row: Json | undefined, catalog: Catalog): ModelTarget {
  return Array.isArray(row) ? toDeployments(row, catalog) : toSingle(row, TARGET_FIELDS, catalog);
}

function toSingle(row: Json | undefined, fields: Fields, catalog: Catalog): ModelTarget {
  if (typeof row === "string") return toSingle({ model: row }, fields, catalog);
  if (!isJsonObject(row)) {
    const list = fields === TARGET_FIELDS ? ", or a list of these" : "";
    const message = `It must be \`vendor/model\`, or a map with ${namesOf(fields)}${list}.`;
    throw new Failure("invalid_request", message);
  }
  for (const [field, value] of Object.entries(row)) checkField(fields, field, value);
  const { model, provider = null, url = null, api_key_name = null } = row as TargetRow;
  if (model === undefined) throw new Failure("invalid_request", "`model` is missing.");
  const ref = parseModelRef(model, url === null ? undefined : "custom", catalog);
  if (provider !== null) checkSpoken(ref.vendor, provider, catalog);
  return { model: formatModelRef(ref), provider, url, api_key_name };
}

/** Finds an API that the vendor does not speak before a request does. */
function checkSpoken(vendor: string, provider: string, catalog: Catalog): void {
  if (catalog.has(vendor)) wireFor(vendor, provider, catalog);
  else checkProvider(provider);
}

/** The first that is not a fallback represents all where one is needed: a list of one is that one. */
function toDeployments(rows: readonly Json[], catalog: Catalog): ModelTarget {
  const deployments = rows.map((row, at) => {
    try {
      return toDeployment(row, catalog);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Failure("invalid_request", `Row ${at + 1}: ${reason}`, { cause });
    }
  });
  const first = deployments.find(({ fallback }) => !fallback);
  if (!first) {
    const message = "At least one deployment must be listed that is not a `fallback`.";
    throw new Failure("invalid_request", message);
  }
  checkDistinct(deployments);
  const { weight: _, fallback: __, ...target } = first;
  return deployments.length === 1 ? target : { ...target, deployments };
}

function toDeployment(row: Json, catalog: Catalog): Deployment {
  const target = toSingle(row, DEPLOYMENT_FIELDS, catalog);
  const { weight = 1, fallback = false } = isJsonObject(row) ? (row as DeploymentRow) : {};
  if (fallback && isJsonObject(row) && row["weight"] !== undefined) {
    const message =
      "`weight` and `fallback` exclude each other: fallbacks are asked in their order.";
    throw new Failure("invalid_request", message);
  }
  return { ...target, weight, fallback };
}

/** Two rows of one deployment would be asked twice in a row when it fails; a weight says the same. */
function checkDistinct(deployments: readonly Deployment[]): void {
  const seen = new Map<string, number>();
  for (const [at, { model, provider, url, api_key_name }] of deployments.entries()) {
    const key = JSON.stringify([model, provider, url, api_key_name]);
    const before = seen.get(key);
    if (before !== undefined) {
      const message = `Rows ${before + 1} and ${at + 1} are the same deployment. Give one of them a larger \`weight\`.`;
      throw new Failure("invalid_request", message);
    }
    seen.set(key, at);
  }
}

type TargetRow = { readonly [Field in keyof typeof TARGET_FIELDS]?: string };
type DeploymentRow = { readonly weight?: number; readonly fallback?: boolean };

/** The rule for each field, and the check for it. */
type Fields = Readonly<Record<string, FieldRule>>;

interface FieldRule {
  readonly must: string;
  readonly fits: (value: Json | undefined) => boolean;
}

const TEXT: FieldRule = {
  must: "text",
  fits: (value) => typeof value === "string" && value.trim() !== "",
};

const TARGET_FIELDS = {
  model: TEXT,
  provider: TEXT,
  url: TEXT,
  api_key_name: TEXT,
} as const satisfies Fields;

const DEPLOYMENT_FIELDS = {
  ...TARGET_FIELDS,
  weight: {
    must: "a number above 0",
    fits: (value) => typeof value === "number" && value > 0 && Number.isFinite(value),
  },
  fallback: { must: "`true` or `false`", fits: (value) => typeof value === "boolean" },
} as const satisfies Fields;

function namesOf(fields: Fields): string {
  return Object.keys(fields).join(", ");
}

function checkField(fields: Fields, field: string, value: Json | undefined): void {
  const rule = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!rule) throw new Failure("invalid_request", toUnknownField(fields, field));
  if (rule.fits(value)) return;
  throw new Failure("invalid_request", `\`${field}\` must be ${rule.must}.`);
}

function toUnknownField(fields: Fields, field: string): string {
  if (Object.hasOwn(DEPLOYMENT_FIELDS, field)) {
    return `\`${field}\` belongs to one of several deployments: write the rows as a list.`;
  }
  const guess = nearest(field, Object.keys(fields));
  const hint = guess === undefined ? `It takes ${namesOf(fields)}.` : `Did you mean \`${guess}\`?`;
  return `There is no \`${clip(field, 40)}\`. ${hint}`;
}
