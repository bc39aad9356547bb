/** The flags for the model of a server, shared by `serve` and `ui`. */

import { WIRES } from "../providers/wires.ts";

/** All wires, and the embedded model. `PROVIDERS` has the same names but would slow the start. */
export const PROVIDER_NAMES = [...Object.keys(WIRES), "embedded"];

/** Flags for the model of requests that name none. */
export const SERVED_MODEL_OPTIONS = {
  model: {
    type: "string",
    short: "m",
    value: "VENDOR/MODEL",
    complete: "models",
    summary: "The model for requests that name none",
  },
  provider: {
    type: "string",
    value: "NAME",
    offers: PROVIDER_NAMES,
    summary: "The API to speak to it",
  },
  url: { type: "string", value: "URL", summary: "Its server's base URL" },
  "api-key-name": {
    type: "string",
    value: "VARIABLE",
    summary: "The environment variable that holds its key",
  },
} as const;
