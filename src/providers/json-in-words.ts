/**
 * Asks for a JSON object of any shape from an API without a mode for it. The caller must check the answer:
 * a model with instructions alone may write something else.
 */

import { JSON_RULE } from "./json-rule.ts";
import { type ModelRequest, type Provider, TEXT_FORMAT } from "./provider.ts";
import type { WireName } from "./wire.ts";

/** Asks for JSON in the prompt. Returns the provider unchanged if its API has a JSON mode. */
export function askInWords(provider: Provider): Provider {
  const { name } = provider;
  const reword = REWORDINGS[name as WireName];
  if (!reword) return provider;
  return {
    name,
    stream: (request, call) => {
      const isAsked = request.format.type === "json_object";
      return provider.stream(isAsked ? reword(request) : request, call);
    },
  };
}

type Reword = (request: ModelRequest) => ModelRequest;

const RULE = `${JSON_RULE} It is an object, with no code fence around it.`;

const inInstructions: Reword = ({ instructions, ...request }) => ({
  ...request,
  instructions: instructions ? `${instructions}\n\n${RULE}` : RULE,
  format: TEXT_FORMAT,
});

/**
 * Wraps the format in a schema that is not strict: some APIs make a tool of it, and a tool's input is
 * always an object.
 */
const asSchema: Reword = (request) => ({
  ...request,
  format: { type: "json_schema", name: "object", schema: { type: "object" }, strict: false },
});

const REWORDINGS: Readonly<Partial<Record<WireName, Reword>>> = {
  anthropic: inInstructions,
  "vertexai-anthropic": inInstructions,
  bedrock: asSchema,
};
