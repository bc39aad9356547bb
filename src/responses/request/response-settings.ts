/** What a run that answers a request of the Responses API knows of it: how its answer looks. */

import type { JsonObject } from "../../base/json.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { RunSettings } from "../../protocol/run-events.ts";

/** The fields of an answer that repeat its request. */
export type Echo = Omit<
  EmittedResponse,
  | ("id" | "object" | "created_at" | "access_programs")
  | ("status" | "completed_at" | "error" | "incomplete_details")
  | ("output" | "output_text" | "usage" | "offshoot")
>;

export interface ResponseSettings {
  readonly echo: Echo;
  /** What the client asked to see that is left out by default. */
  readonly include: readonly string[];
  /** What of the request was left out, by name. */
  readonly ignored: readonly string[];
  /** Which agent of a team the run is; undefined where there is no team. */
  readonly agent?: string | undefined;
}

export function encodeResponseSettings(settings: ResponseSettings): JsonObject {
  return settings as unknown as JsonObject;
}

/** Undefined for a run that answers no request. What this package wrote is taken at its word. */
export function readResponseSettings({ response }: RunSettings): ResponseSettings | undefined {
  return response as unknown as ResponseSettings | undefined;
}
