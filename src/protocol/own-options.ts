/**
 * `options`: fields of a vendor's own, which our vocabulary has no word for. Whoever asks writes them as
 * they stand in the vendor's API. What Offshoot itself writes into a request is not theirs to change.
 */

import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";

/** Maps are joined, all else is replaced. */
export function layOver(body: JsonObject, own: JsonObject | undefined): JsonObject {
  if (!own) return body;
  const joined: Record<string, Json | undefined> = { ...body };
  for (const [name, value] of Object.entries(own)) {
    const old = joined[name];
    joined[name] = isJsonObject(old) && isJsonObject(value) ? layOver(old, value) : value;
  }
  return joined;
}

/** Two sets of options, the second over the first; undefined where there are none. */
export function joinOptions(
  below: JsonObject | null | undefined,
  above: JsonObject | null | undefined,
): JsonObject | undefined {
  if (!below || !above) return above ?? below ?? undefined;
  return layOver(below, above);
}

interface OwnedRow {
  /** In any spelling: `max_tokens` is `maxTokens` too. A point leads into a map. */
  readonly names: readonly string[];
  /** Why they are not to be set, and what to use. */
  readonly why: string;
}

/**
 * What the runtime writes, in the words of all APIs: options that named it could send another request
 * than the one that was checked, recorded and paid for.
 */
export const OWNED_FIELDS: readonly OwnedRow[] = [
  {
    names: ["stream", "stream_options", "background", "store"],
    why: "Offshoot decides how an answer is read",
  },
  {
    names: [
      ...["model", "messages", "input", "contents", "system", "instructions", "prompt"],
      ...["system_instruction", "previous_response_id", "conversation"],
      // Variables of a template, and not the template or what it is filled with.
      ...["chat_template", "tokenize", "messages", "conversation", "tools"].map(
        (name) => `chat_template_kwargs.${name}`,
      ),
    ],
    why: "Offshoot writes what is asked, and of whom",
  },
  {
    names: [...["tools", "tool_choice", "tool_config", "functions", "function_call"]],
    why: "tools are offered through Offshoot's own gate",
  },
  {
    names: [
      ...["n", "best_of", "num_return_sequences", "max_tokens", "max_completion_tokens"],
      ...["max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "n_predict"],
      ...["num_predict", "options.num_predict", "inference_config.max_tokens"],
      ...["generation_config.max_output_tokens", "generation_config.candidate_count"],
    ],
    why: "budgets rely on the length of an answer; use `max_output_tokens` or `--max-tokens`",
  },
  {
    names: [
      ...["headers", "extra_headers", "extra_body", "extra_query", "authorization"],
      ...["api_key", "api_base", "base_url"],
    ],
    why: "keys and addresses are settings; use `models` with `headers`",
  },
];

const OWNED: ReadonlyMap<string, string> = new Map(
  OWNED_FIELDS.flatMap(({ names, why }) => names.map((name) => [toPlain(name), why] as const)),
);

/** What is wrong with a set of options, for a sentence that begins with where it stands. */
export function findOptionsProblem(options: unknown): string | undefined {
  if (!isJsonObject(options)) return "must be a map of fields for the request's body";
  const found = findOwned(options);
  return found && `cannot set \`${found.name}\`: ${found.why}`;
}

/** Maps that are themselves a body, of the model behind an API. */
const BODIES: ReadonlySet<string> = new Set(["additionalmodelrequestfields"]);

/** `within` is the map that the fields stand in, as the table names it; `shown` as a person does. */
function findOwned(
  options: JsonObject,
  within = "",
  shown = "",
): { readonly name: string; readonly why: string } | undefined {
  for (const [name, value] of Object.entries(options)) {
    const plain = toPlain(within + name);
    const why = OWNED.get(plain) ?? (name === "__proto__" ? "it is not a field" : undefined);
    if (why !== undefined) return { name: shown + name, why };
    // Names of the table lead into one map at most.
    if (within !== "" || !isJsonObject(value)) continue;
    const inner = findOwned(value, BODIES.has(plain) ? "" : `${name}.`, `${shown}${name}.`);
    if (inner) return inner;
  }
  return undefined;
}

/** Google takes both spellings of each name. */
function toPlain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
