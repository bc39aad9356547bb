/** Who looks at runs: whose they see, and what an address asks of them. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Viewer } from "../../runtime/record/found-runs.ts";
import { type RouteCall, readOptional } from "../route.ts";

/** A key sees the runs of its tenant; one with `admin` those of all, or of the tenant that it names. */
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

/** The body as an object; an empty one where there is none. */
export async function readObject(call: RouteCall): Promise<JsonObject> {
  const body = await readOptional(call);
  if (isJsonObject(body)) return body;
  throw new Failure("invalid_request", "The body is not a JSON object.");
}

/** Rejects what is not text, and an empty one. */
export function requireText(body: JsonObject, field: string): string {
  const value = body[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Failure("invalid_request", `\`${field}\` is missing or is not text.`, { param: field });
}

export function optionalText(body: JsonObject, field: string): string | undefined {
  return body[field] === undefined || body[field] === null ? undefined : requireText(body, field);
}

/** Data of this kind stays in no cache, and is never taken for a page. */
export const PRIVATE_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;
