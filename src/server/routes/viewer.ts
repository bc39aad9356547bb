/** Reads from a request which runs it may see and what it asks of them. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Viewer } from "../../runtime/record/found-runs.ts";
import { type RouteCall, readOptional } from "../route.ts";

/**
 * A key sees the runs of its tenant. A key with `admin` sees those of all tenants, or of the one that it names.
 */
export function viewerOf({ caller, scopes, query }: RouteCall): Viewer {
  const asked = query.get("tenant") || undefined;
  if (scopes.includes("admin")) return { tenant: asked };
  if (asked === undefined || asked === caller.tenant) return { tenant: caller.tenant };
  const message =
    "Only a key with the scope `admin` sees runs of other tenants. Leave out `tenant`.";
  throw new Failure("forbidden", message, { param: "tenant" });
}

export function idOf({ params }: RouteCall): string {
  return params["id"] ?? "";
}

/** The body as an object; an empty one without a body. */
export async function readObject(call: RouteCall): Promise<JsonObject> {
  const body = await readOptional(call);
  if (isJsonObject(body)) return body;
  throw new Failure("invalid_request", "The body is not a JSON object.");
}

/** Rejects what is not text, and an empty text. */
export function requireText(body: JsonObject, field: string): string {
  const value = body[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Failure("invalid_request", `\`${field}\` is missing or is not text.`, { param: field });
}

export function optionalText(body: JsonObject, field: string): string | undefined {
  return body[field] === undefined || body[field] === null ? undefined : requireText(body, field);
}

/** These answers must not be cached or taken for a page. */
export const PRIVATE_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;
