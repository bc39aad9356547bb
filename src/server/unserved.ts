/**
 * Addresses that the published API or similar servers have, and this server does not. The answer to such a request
 * says what to use instead.
 */

interface Unserved {
  /** The address. It also stands for all that begin with it and a slash. */
  readonly path: string;
  /** The purpose of the address. */
  readonly what: string;
  /** The advice what to use instead, as a sentence. */
  readonly instead: string;
}

const RESPONSES = "Use `POST /v1/responses`.";

export const UNSERVED: readonly Unserved[] = [
  {
    path: "/v1/completions",
    what: "completions of a bare prompt",
    instead: "Use `POST /v1/chat/completions` or `POST /v1/responses`.",
  },
  {
    path: "/v1/messages/batches",
    what: "batches of messages",
    instead: "Send each message to `POST /v1/messages`; several at once are fine.",
  },
  {
    path: "/v1/images",
    what: "pictures",
    instead: "Use the tool `image_generation` of `POST /v1/responses`.",
  },
  {
    path: "/v1/audio",
    what: "speech and transcription",
    instead: "A model that hears takes `input_audio` in `POST /v1/responses`.",
  },
  {
    path: "/v1/videos",
    what: "videos",
    instead: "Ask the vendor's own API.",
  },
  {
    path: "/v1/moderations",
    what: "moderation",
    instead:
      "Ask the vendor's own API; `moderation` of a request is passed on to vendors that know it.",
  },
  {
    path: "/v1/batches",
    what: "batches",
    instead: "Use `POST /v1/responses` with `background: true`.",
  },
  {
    path: "/v1/uploads",
    what: "uploads in parts",
    instead: "Use `POST /v1/files`, which takes a file in one piece.",
  },
  {
    path: "/v1/fine_tuning",
    what: "training",
    instead: "Train where the model is; serve the result under a name of `server.models`.",
  },
  {
    path: "/v1/evals",
    what: "evaluations",
    instead: "Run them as a client of `POST /v1/responses`.",
  },
  {
    path: "/v1/rerank",
    what: "ranking of texts",
    instead: "Use `POST /v1/vector_stores/{id}/search`, or `POST /v1/embeddings` and compare.",
  },
  {
    path: "/v1/realtime",
    what: "sessions of speech",
    instead: "`GET /v1/responses` with `Upgrade: websocket` has the events of responses.",
  },
  { path: "/v1/assistants", what: "assistants", instead: RESPONSES },
  {
    path: "/v1/threads",
    what: "threads",
    instead: "Use `POST /v1/conversations` and `POST /v1/responses`.",
  },
  {
    path: "/v1/organization",
    what: "administration",
    instead: "Use `offshoot keys` and `offshoot runs cost` on the server's machine.",
  },
];

const BASE_PATHS =
  /^\/(responses|chat\/completions|models|embeddings|conversations|files|vector_stores|containers|messages)(\/|$)/;

/** Says why an address does not exist, and what exists instead. */
export function toNothingThere(path: string): string {
  const found = UNSERVED.find((row) => path === row.path || path.startsWith(`${row.path}/`));
  if (found) return `\`${found.path}\` (${found.what}) is not served here. ${found.instead}`;
  if (path.startsWith("/v1/v1/")) {
    return `There is nothing at \`${path}\`. Write the base URL of this client without \`/v1\`: it adds that itself.`;
  }
  // Clients append `/responses` to their base URL.
  if (BASE_PATHS.test(path)) {
    return `There is nothing at \`${path}\`. The base URL of a client ends in \`/v1\`: \`/v1${path}\`.`;
  }
  return `There is nothing at \`${path}\`. \`GET /openapi.json\` lists what is served.`;
}
