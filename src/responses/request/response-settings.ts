/** The settings of a run that answers a request: the form of its answer. */

import { asJsonObject, type JsonObject } from "../../base/json.ts";
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
  /** Optional fields that the client asked for. */
  readonly include: readonly string[];
  /** Names of the request's fields that were left out. */
  readonly ignored: readonly string[];
  /** The name of the run's agent in a team; undefined without a team. */
  readonly agent?: string | undefined;
}

export function encodeResponseSettings(settings: ResponseSettings): JsonObject {
  return asJsonObject(settings);
}

/**
 * Undefined for a run that answers no request. Only this package writes it, so it is not checked again.
 */
export function readResponseSettings({ response }: RunSettings): ResponseSettings | undefined {
  return response as unknown as ResponseSettings | undefined;
}
