/**
 * The one error type of this package, and the table that says what each code means at every edge.
 *
 * Code that fails throws `new Failure(code, message)`. Code at an edge (HTTP, CLI, retry) looks the code up
 * in `FAILURES`. Code never compares messages, and there is no second error class.
 */

interface Meaning {
  /** The HTTP status a server answers with. */
  readonly status: number;
  /** The exit code of a command that ends with it. 2 means that nothing was sent. */
  readonly exit: number;
  /** True if sending the same request again may help. */
  readonly retryable: boolean;
  /** One line for `docs/errors.md`. */
  readonly summary: string;
}

export const FAILURES = {
  invalid_request: {
    status: 400,
    exit: 2,
    retryable: false,
    summary:
      "The input is wrong: a flag, a file, a schema, a configuration value. Nothing was sent.",
  },
  not_found: {
    status: 404,
    exit: 2,
    retryable: false,
    summary: "The named run, file or tool does not exist.",
  },
  model_not_found: {
    status: 404,
    exit: 1,
    retryable: false,
    summary: "The model that a request names does not exist, or its server does not serve it.",
  },
  previous_response_not_found: {
    status: 400,
    exit: 2,
    retryable: false,
    summary: "A request continues a response that does not exist, was deleted or was not stored.",
  },
  forbidden: {
    status: 403,
    exit: 1,
    retryable: false,
    summary: "A grant, a rule or a guard refuses it: a path, a host, a command, a tool.",
  },
  key_missing: {
    // The key is this server's: a client that gets 401 would look at its own.
    status: 503,
    exit: 2,
    retryable: false,
    summary: "The vendor needs a key and its environment variable is not set. Nothing was sent.",
  },
  conflict: {
    status: 409,
    exit: 2,
    retryable: false,
    summary: "The run is owned by another process, or has ended already.",
  },
  idempotency_key_reused: {
    status: 422,
    exit: 2,
    retryable: false,
    summary:
      "An `Idempotency-Key` was sent before with another request. Each request needs its own.",
  },
  fenced: {
    status: 409,
    exit: 1,
    retryable: false,
    summary: "Another process has taken this run over; later writes of this process were refused.",
  },
  cancelled: {
    status: 499,
    exit: 130,
    retryable: false,
    summary: "The run was cancelled by its user.",
  },
  timeout: {
    status: 504,
    exit: 124,
    retryable: false,
    summary: "The run's own time limit passed. What was done before is kept.",
  },
  budget_exceeded: {
    status: 429,
    exit: 4,
    retryable: false,
    summary: "The run, or the tree it belongs to, has used up its budget. What was done is kept.",
  },
  provider_unreachable: {
    status: 502,
    exit: 1,
    retryable: true,
    summary: "No connection to the model's server: refused, reset, or a TLS error.",
  },
  host_unknown: {
    status: 502,
    exit: 2,
    retryable: false,
    summary: "The host name of the model's server does not resolve. Nothing was sent.",
  },
  provider_timeout: {
    status: 504,
    exit: 1,
    retryable: true,
    summary: "The model's server did not connect, answer or continue within its time limit.",
  },
  provider_rejected: {
    status: 400,
    exit: 1,
    retryable: false,
    summary: "The model's server refused the request itself (4xx).",
  },
  provider_unauthorized: {
    status: 502,
    exit: 1,
    retryable: false,
    summary: "The model's server did not accept the key or the account (401, 402 or 403).",
  },
  provider_overloaded: {
    status: 429,
    exit: 1,
    retryable: true,
    summary: "The model's server is busy or limits the rate (408, 409, 429, 503, 529).",
  },
  provider_failed: {
    status: 502,
    exit: 1,
    retryable: true,
    summary:
      "The model's server failed inside (5xx), said so in the middle of a stream, or could not read its model's call.",
  },
  provider_broke_protocol: {
    status: 502,
    exit: 1,
    retryable: false,
    summary:
      "The model's server does not keep to its API: an incomplete answer, a web page, unreadable bytes.",
  },
  empty_answer: {
    status: 502,
    exit: 1,
    retryable: true,
    summary: "The model said nothing, called nothing and gave no reason. It is asked again first.",
  },
  broken_answer: {
    status: 502,
    exit: 1,
    retryable: true,
    summary:
      "The model's answer cannot be used: a call without a name, an ending that announces a call but contains none, a call that its server could not read, or fields of wrong types. The request is sent again first, except for fields of wrong types.",
  },
  answer_too_large: {
    status: 502,
    exit: 1,
    retryable: false,
    summary:
      "An answer is larger than `max_answer_bytes`. What came before that is kept as partial work.",
  },
  context_exceeded: {
    status: 400,
    exit: 1,
    retryable: false,
    summary: "The conversation is longer than the model's context window.",
  },
  output_invalid: {
    status: 422,
    exit: 1,
    retryable: false,
    summary: "The model's answer does not fit the schema, also after being told why.",
  },
  tool_failed: {
    status: 500,
    exit: 1,
    retryable: false,
    summary: "A tool failed where its failure ends the run (the SSE form of `offshoot run`).",
  },
  connector_failed: {
    status: 424,
    exit: 1,
    retryable: true,
    summary: "An MCP server that a request names cannot be reached, or does not list its tools.",
  },
  store_failed: {
    status: 500,
    exit: 1,
    retryable: false,
    summary: "The record of runs cannot be read or written, for example because it is damaged.",
  },
  store_full: {
    status: 507,
    exit: 1,
    retryable: false,
    summary: "The record of runs cannot grow: its disk, a quota or a file size limit is full.",
  },
  store_busy: {
    status: 503,
    exit: 1,
    retryable: true,
    summary: "Another program held a write lock on the record of runs for too long.",
  },
  store_refused: {
    // Not the fault of a client's request, although the command of an operator can correct it.
    status: 503,
    exit: 2,
    retryable: false,
    summary:
      "The database of the record refuses the user, the password or the connection, or the user lacks rights in it.",
  },
  unauthorized: {
    status: 401,
    exit: 2,
    retryable: false,
    summary: "The request has no key for the server, or an unknown one.",
  },
  rate_limited: {
    status: 429,
    exit: 1,
    retryable: true,
    summary: "The key has reached its limit for this time; the answer says when to try again.",
  },
  unsupported_encoding: {
    status: 415,
    exit: 2,
    retryable: false,
    summary: "The body of the request is compressed or encoded, which the server does not read.",
  },
  too_large: {
    status: 413,
    exit: 2,
    retryable: false,
    summary: "The request, or something in it, is larger than the server accepts.",
  },
  slow_request: {
    status: 408,
    exit: 1,
    retryable: true,
    summary: "The request did not arrive in time.",
  },
  wrong_method: {
    status: 405,
    exit: 2,
    retryable: false,
    summary: "The address exists, but does not accept this method.",
  },
  draining: {
    status: 503,
    exit: 1,
    retryable: true,
    summary:
      "The server is about to stop: it accepts no new requests, or had no time left to finish an answer.",
  },
  internal: {
    status: 500,
    exit: 70,
    retryable: false,
    summary: "A defect in Offshoot. Please report it.",
  },
} as const satisfies Record<string, Meaning>;

export type FailureCode = keyof typeof FAILURES;

interface FailureDetails {
  /** The request field at fault, if the caller can fix it: `input[2].call_id`. */
  readonly param?: string | undefined;
  /** The code that the outside service gave, word for word: `previous_response_not_found`. */
  readonly vendorCode?: string | undefined;
  /** How long the other side asked us to wait before the next try. */
  readonly retryAfterMs?: number | undefined;
  /**
   * Set if this failure differs from others of its code: a proxy's refusal stays the same the next time.
   */
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  readonly param: string | undefined;
  readonly vendorCode: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** True if sending the same request again may help. */
  readonly retryable: boolean;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.param = details.param;
    this.vendorCode = details.vendorCode;
    this.retryAfterMs = details.retryAfterMs;
    this.retryable = details.retryable ?? FAILURES[code].retryable;
  }
}

/** Turns whatever was thrown into a `Failure`, keeping the original as its cause. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof Error && thrown.name === "AbortError") {
    return new Failure("cancelled", "The run was cancelled.", { cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Failure("internal", message, { cause: thrown });
}

/** Closes a union: the compiler refuses the call when a case was forgotten. */
export function unreachable(value: never): never {
  throw new Failure("internal", `Unexpected value: ${JSON.stringify(value)}`);
}
