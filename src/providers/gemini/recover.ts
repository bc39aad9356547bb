/**
 * Refusals of Gemini that another request mends: a signature that this model or service did not make,
 * and a schema it cannot hold the model to (too large, or together with functions on older models).
 */

import type { Failure } from "../../base/failure.ts";
import { JSON_RULE } from "../json-rule.ts";
import type { ModelRequest } from "../provider.ts";
import { unsealPart } from "./sealed-part.ts";

export function recover(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_rejected") return undefined;
  if (/(invalid|corrupted) thought.?signature/i.test(failure.message)) {
    return withoutSignatures(request);
  }
  if (/schema|response mime type/i.test(failure.message)) return withSchemaInWords(request);
  return undefined;
}

function withoutSignatures(request: ModelRequest): ModelRequest | undefined {
  const items = request.items.filter(
    (item) => item.type !== "reasoning" || !unsealPart(item.encrypted_content),
  );
  return items.length < request.items.length ? { ...request, items } : undefined;
}

/** The answer is checked against the schema here in either case. */
function withSchemaInWords(request: ModelRequest): ModelRequest | undefined {
  const { format, instructions } = request;
  if (format.type === "text") return undefined;
  const rule =
    format.type === "json_schema"
      ? `${JSON_RULE} It fits this JSON schema:\n${JSON.stringify(format.schema)}`
      : JSON_RULE;
  return {
    ...request,
    instructions: instructions === undefined ? rule : `${instructions}\n\n${rule}`,
    format: { type: "text" },
  };
}
