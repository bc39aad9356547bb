/**
 * Addresses of Azure OpenAI from before its v1 API. They carry a dated `api-version`, and name the
 * deployment in the path: `https://me.openai.azure.com/openai/deployments/NAME?api-version=2024-10-21`.
 */

import { toPathSegment } from "../path-segment.ts";
import type { WireName } from "../wire.ts";

/** True if an address asks for a dated version. `api-version=preview` belongs to the v1 API. */
export function isVersioned(baseUrl: string): boolean {
  const version = new URL(baseUrl).searchParams.get("api-version");
  return version !== null && /^\d{4}-\d{2}-\d{2}/.test(version);
}

/** The base URL of a deployment. If the address names a deployment, it is used, whatever the model's name. */
export function toDeploymentBase(baseUrl: string, wire: WireName, model: string): string {
  const { origin, pathname, search } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, "");
  if (path.includes("/deployments/")) return `${origin}${path}${search}`;
  // Earlier code added the path of the v1 API to a bare host.
  const root = path.replace(/\/v1$/, "") || "/openai";
  const place = wire === "openai-chat" ? `/deployments/${toPathSegment(model)}` : "";
  return `${origin}${root}${place}${search}`;
}
