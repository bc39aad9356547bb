/** How Google rejects a request: its status twice, and details of a known type. */

import type { JsonObject } from "../../base/json.ts";
import { type Exchange, textExchange } from "../exchange/exchange.ts";

export interface GeminiRejection {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly JsonObject[];
}

/** Checks yield every rejection they find; the first one is the answer. */
export type GeminiCheck = Generator<GeminiRejection, void>;

export function geminiRejectionExchange(error: GeminiRejection): Exchange {
  return textExchange(error.code, JSON.stringify({ error }), {
    "content-type": "application/json; charset=UTF-8",
  });
}

export function invalidArgument(message: string): GeminiRejection {
  return { code: 400, status: "INVALID_ARGUMENT", message };
}

/** `field` is in the service's spelling: `generation_config.thinking_config`. */
export function invalidField(field: string, problem: string): GeminiRejection {
  return invalidArgument(`* GenerateContentRequest.${field}: ${problem}\n`);
}

/** `place` is the path of the object; empty for the request itself. */
export function unknownName(name: string, place: string): GeminiRejection {
  const at = place === "" ? "" : ` at '${place}'`;
  const description = `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
  const violation = { field: place, description };
  return {
    ...invalidArgument(description),
    details: [
      { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [violation] },
    ],
  };
}

export const NO_KEY: GeminiRejection = {
  code: 403,
  status: "PERMISSION_DENIED",
  message:
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
};

export const WRONG_KEY: GeminiRejection = {
  ...invalidArgument("API key not valid. Please pass a valid API key."),
  details: [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "API_KEY_INVALID",
      domain: "googleapis.com",
      metadata: { service: "generativelanguage.googleapis.com" },
    },
  ],
};

export const WRONG_TOKEN: GeminiRejection = {
  code: 401,
  status: "UNAUTHENTICATED",
  message:
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
};

export const NOT_JSON: GeminiRejection = invalidArgument(
  "Invalid JSON payload received. Unexpected token.",
);

export function notFound(what: string): GeminiRejection {
  const message = `${what} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`;
  return { code: 404, status: "NOT_FOUND", message };
}

export function internal(message: string): GeminiRejection {
  return { code: 500, status: "INTERNAL", message };
}
