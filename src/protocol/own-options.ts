/**
 * `options`: fields of a vendor's API that our vocabulary has no word for, spelled as that API spells them.
 * They cannot change what Offshoot itself writes into a request.
 */

import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";

/** Puts options over a body: maps are merged, everything else is replaced. */
export function layOver(body: JsonObject, own: JsonObject | undefined): JsonObject {
  if (!own) return body;
  const joined: Record<string, Json | undefined> = { ...body };
  for (const [name, value] of Object.entries(own)) {
    const old = joined[name];
    joined[name] = isJsonObject(old) && isJsonObject(value) ? layOver(old, value) : value;
  }
  return joined;
}

/** Two sets of options, the second over the first; undefined if there are none. */
export function joinOptions(
  below: JsonObject | null | undefined,
  above: JsonObject | null | undefined,
): JsonObject | undefined {
  if (!below || !above) return above ?? below ?? undefined;
  return layOver(below, above);
}

interface OwnedRow {
  /** In any spelling: `max_tokens` is `maxTokens` too. A dot leads into a map. */
  readonly names: readonly string[];
  /** Why they cannot be set, and what to use. */
  readonly why: string;
}

/**
 * The fields that the runtime writes, in the words of all APIs. Options with these fields could send
 * another request than the one that was checked, recorded and paid for.
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
      // Variables of a template are allowed; the template and what fills it are not.
      ...["chat_template", "tokenize", "messages", "conversation", "tools"].map(
        (name) => `chat_template_kwargs.${name}`,
      ),
    ],
    why: "Offshoot writes the prompt and the name of the model",
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

/** The problem of a set of options, for a sentence that begins with their place. */
export function findOptionsProblem(options: unknown): string | undefined {
  if (!isJsonObject(options)) return "must be a map of fields for the request's body";
  const found = findOwned(options);
  return found && `cannot set \`${found.name}\`: ${found.why}`;
}

/** Maps that are themselves a request body, for the model that an API passes it to. */
const BODIES: ReadonlySet<string> = new Set(["additionalmodelrequestfields"]);

/**
 * `within` is the map that contains the fields, as the table names it; `shown` is its name for a person.
 */
function findOwned(
  options: JsonObject,
  within = "",
  shown = "",
): { readonly name: string; readonly why: string } | undefined {
  for (const [name, value] of Object.entries(options)) {
    const plain = toPlain(within + name);
    const why = OWNED.get(plain) ?? (name === "__proto__" ? "it is not a field" : undefined);
    if (why !== undefined) return { name: shown + name, why };
    // Names in the table lead into one map at most.
    if (within !== "" || !isJsonObject(value)) continue;
    const inner = findOwned(value, BODIES.has(plain) ? "" : `${name}.`, `${shown}${name}.`);
    if (inner) return inner;
  }
  return undefined;
}

/** Google accepts both spellings of each name. */
function toPlain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
