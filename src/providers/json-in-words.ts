/**
 * A JSON object of any shape, from an API that has no mode for it. Whoever uses this checks the answer:
 * a model that is told in words alone may write something else.
 */

import { JSON_RULE } from "./json-rule.ts";
import { type ModelRequest, type Provider, TEXT_FORMAT } from "./provider.ts";
import type { WireName } from "./wires.ts";

/** The provider as it is where its API has such a mode. */
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

/** A schema that is no more than a wish becomes a tool's there, and whatever a tool takes is an object. */
const asSchema: Reword = (request) => ({
  ...request,
  format: { type: "json_schema", name: "object", schema: { type: "object" }, strict: false },
});

const REWORDINGS: Readonly<Partial<Record<WireName, Reword>>> = {
  anthropic: inInstructions,
  "vertexai-anthropic": inInstructions,
  bedrock: asSchema,
};
