/** Parameters that are left out of a request after a server refused them, on every wire. */

import type { Failure } from "../../base/failure.ts";
import type { ModelCall, ModelRequest } from "../provider.ts";
import { carryFields } from "./carried-fields.ts";

interface Refused {
  readonly options: { readonly vendor: string; readonly wire: { readonly name: string } };
  readonly request: ModelRequest;
  readonly call: ModelCall;
}

/** The request without what the server refuses; undefined if nothing can be left out. */
export function withoutRefused(refused: Refused, failure: Failure): ModelRequest | undefined {
  return (
    withoutBudgetLength(refused, failure) ??
    withoutEffort(refused, failure) ??
    withoutExtras(refused, failure)
  );
}

/** Names of an answer's length at different servers: `max_tokens`, `maxOutputTokens`, `maximum tokens`. */
const LENGTH = /max(imum)?[ _]?((completion|output|new)[ _]?)?tokens/i;

/**
 * The request without the length that a budget pays for. A server whose window is not known refuses a
 * length beyond it, so its answer is shorter than that length and the budget covers it.
 */
function withoutBudgetLength({ request }: Refused, failure: Failure): ModelRequest | undefined {
  if (!request.is_length_of_budget || request.max_output_tokens === undefined) return undefined;
  const { code, message, param } = failure;
  const isMeant = code === "provider_rejected" && LENGTH.test(`${param ?? ""} ${message}`);
  if (code !== "context_exceeded" && !isMeant) return undefined;
  return { ...request, max_output_tokens: undefined };
}

/** The request without `effort: none`, which models that always think refuse. The caller gets a notice. */
function withoutEffort({ request, call }: Refused, failure: Failure): ModelRequest | undefined {
  const { reasoning } = request;
  if (reasoning.effort !== "none" || failure.code !== "provider_rejected") return undefined;
  if (!/reasoning|thinking/i.test(`${failure.param ?? ""} ${failure.message}`)) return undefined;
  const message = "`reasoning.effort` left out: the model does not stop thinking.";
  call.notice?.({ code: "dropped", message, params: ["reasoning.effort"] });
  return { ...request, reasoning: { ...reasoning, effort: undefined } };
}

/**
 * The request without the extra fields of the client, if the server refuses one of them: an unknown server
 * may accept none. The caller gets a notice.
 */
function withoutExtras(
  { options, request, call }: Refused,
  failure: Failure,
): ModelRequest | undefined {
  if (failure.code !== "provider_rejected" || !request.extras) return undefined;
  const { vendor, wire } = options;
  const { taken } = carryFields(request.extras, { vendor, wire: wire.name, model: request.model });
  const isMeant = taken.flat().some((name) => failure.param === name || says(failure, name));
  if (!isMeant) return undefined;
  const params = taken.map(([name]) => name);
  const message = `${params.map((name) => `\`${name}\``).join(", ")} left out: the server refuses it.`;
  call.notice?.({ code: "dropped", message, params });
  return { ...request, extras: undefined };
}

/** True if the message has the name as a word of its own: some names are one letter. */
function says({ message }: Failure, name: string): boolean {
  return message.split(/[^A-Za-z0-9_]+/).includes(name);
}
