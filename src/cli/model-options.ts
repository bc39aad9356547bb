/** The flags that name a model and where it is asked. */

import { WIRES } from "../providers/wires.ts";
import type { CliCommand } from "./command.ts";

/** All wires, and the embedded model. `PROVIDERS` has the same names but would slow the start. */
export const PROVIDER_NAMES = [...Object.keys(WIRES), "embedded"];

/** For commands that ask a model: `run` and `chat`. */
export const MODEL_OPTIONS = {
  model: {
    type: "string",
    short: "m",
    value: "VENDOR/MODEL",
    complete: "models",
    summary: "The model to ask",
  },
  provider: {
    type: "string",
    value: "NAME",
    summary: "The API to speak, in place of the vendor's own",
    offers: PROVIDER_NAMES,
  },
  url: {
    type: "string",
    value: "URL",
    summary: "The server's base URL, in place of the vendor's",
  },
  "api-key-name": {
    type: "string",
    value: "VARIABLE",
    summary: "The environment variable that holds the key",
  },
} as const satisfies CliCommand["options"];

/** For `serve` and `ui`: the model of requests that name none. */
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
