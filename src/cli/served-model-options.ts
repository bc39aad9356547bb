/** The model of a server, as flags: what `serve` and `ui` share. */

import { WIRES } from "../providers/wires.ts";

/** Every wire, and the embedded model; `PROVIDERS` has the same and would cost start-up. */
export const PROVIDER_NAMES = [...Object.keys(WIRES), "embedded"];

/** Which model a server asks where a request names none. */
export const SERVED_MODEL_OPTIONS = {
  model: {
    type: "string",
    short: "m",
    value: "VENDOR/MODEL",
    complete: "models",
    summary: "The model to ask where a request names none",
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
