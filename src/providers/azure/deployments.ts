/**
 * Addresses of Azure OpenAI from before its v1 API: they carry a dated `api-version`, and name the
 * deployment in the path: `https://me.openai.azure.com/openai/deployments/NAME?api-version=2024-10-21`.
 */

import { toPathSegment } from "../http/path-segment.ts";
import type { WireName } from "../wires.ts";

/** Whether an address asks for a dated version. `api-version=preview` is the v1 API's. */
export function isVersioned(baseUrl: string): boolean {
  const version = new URL(baseUrl).searchParams.get("api-version");
  return version !== null && /^\d{4}-\d{2}-\d{2}/.test(version);
}

/** The base of a deployment. One that the address names already is taken, whatever the model's name. */
export function toDeploymentBase(baseUrl: string, wire: WireName, model: string): string {
  const { origin, pathname, search } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, "");
  if (path.includes("/deployments/")) return `${origin}${path}${search}`;
  // A bare host was given the path of the v1 API.
  const root = path.replace(/\/v1$/, "") || "/openai";
  const place = wire === "openai-chat" ? `/deployments/${toPathSegment(model)}` : "";
  return `${origin}${root}${place}${search}`;
}
