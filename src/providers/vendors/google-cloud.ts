/** Finds the project of Google Cloud that pays for a request and its region, and makes the address. */

import { Failure } from "../../base/failure.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** In the order in which they are read; Google's own names before those of other tools. */
const PROJECT_VARIABLES = [
  "GOOGLE_CLOUD_PROJECT",
  "GCLOUD_PROJECT",
  "ANTHROPIC_VERTEX_PROJECT_ID",
  "CLOUDSDK_CORE_PROJECT",
] as const;
const LOCATION_VARIABLES = [
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_CLOUD_REGION",
  "CLOUD_ML_REGION",
] as const;

/** Served from any region with free capacity. A certain region must be set. */
const DEFAULT_LOCATION = "global";

/**
 * The base URL of a project in a region: a wire appends `/publishers/…`. Rejects with `key_missing` if no
 * variable names the project.
 */
export function vertexBaseUrl(env: Env): string {
  const project = firstOf(env, PROJECT_VARIABLES);
  if (!project) {
    const names = PROJECT_VARIABLES.map((name) => `\`${name}\``).join(", ");
    throw new Failure(
      "key_missing",
      `Vertex AI needs the name of a Google Cloud project. Looked at ${names}: none is set.`,
    );
  }
  const location = firstOf(env, LOCATION_VARIABLES) ?? DEFAULT_LOCATION;
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw new Failure("invalid_request", `\`${location}\` is not a region of Google Cloud.`);
  }
  const place = `projects/${encodeURIComponent(project)}/locations/${location}`;
  return `https://${hostOf(location)}/v1/${place}`;
}

/** `us` and `eu` are groups of regions, with hosts of another form. */
function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}

function firstOf(env: Env, names: readonly string[]): string | undefined {
  return names.map((name) => env[name]?.trim()).find(Boolean);
}
