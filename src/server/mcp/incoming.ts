/**
 * Reads lines as messages of a client, alone or in batches, and refuses what is none. It knows which requests wait for
 * an answer, and which answers belong together.
 */

import { ErrorCode, type JSONRPCMessage, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { tryParseJson } from "../../base/json.ts";
import { type AnswerBatch, createBatch, idsOf, readAgreedVersion, refuseBatch } from "./batches.ts";
import { type ReadMessage, type Refusal, readMessage } from "./read-message.ts";

export interface IncomingLines {
  receive(line: string): void;
  /** Answers with an error that belongs to no known request. */
  refuse(message: string): void;
  /** Called with each message to the client. True if it is kept, to be sent with the others of its batch. */
  keep(message: JSONRPCMessage): boolean;
}

interface IncomingParts {
  /** Called with each message of the client. */
  readonly deliver: (message: JSONRPCMessage) => void;
  /** Sends an answer, or the answers to a batch. */
  readonly say: (answers: object) => void;
}

/** Of a longer array, no message is answered by itself. */
const MAX_REFUSED = 100;

/** The protocol requires null if it cannot be known which request was meant. */
const UNKNOWN = { id: null, code: ErrorCode.InvalidRequest } as const;
const NOT_JSON: Refusal = { id: null, code: ErrorCode.ParseError, message: "A line is not JSON." };
const TWICE: Refusal = {
  ...UNKNOWN,
  message: "A request has the id of one that is not answered.",
};
const ALONE = {
  code: ErrorCode.InvalidRequest,
  message: "`initialize` must be sent alone, not in a batch.",
} as const;

export function createIncoming(parts: IncomingParts): IncomingLines {
  return new ClientMessages(parts);
}

class ClientMessages implements IncomingLines {
  readonly #parts: IncomingParts;
  readonly #inFlight = createInFlight();
  /** The version of the protocol that was agreed on. */
  #version: string | undefined;
  /** The id of the newest `initialize`. */
  #hello: RequestId | undefined;

  constructor(parts: IncomingParts) {
    this.#parts = parts;
  }

  receive(line: string): void {
    const value = tryParseJson(line);
    if (value === undefined) return this.#refuse(NOT_JSON);
    if (Array.isArray(value)) return this.#receiveAll(value);
    const read = this.#take(value, undefined);
    if ("refusal" in read) return this.#refuse(read.refusal);
    this.#parts.deliver(read.message);
  }

  refuse(message: string): void {
    this.#refuse({ ...UNKNOWN, message });
  }

  keep(message: JSONRPCMessage): boolean {
    if (!("id" in message) || message.id === undefined || "method" in message) return false;
    if (message.id === this.#hello) this.#version = readAgreedVersion(message) ?? this.#version;
    const batch = this.#inFlight.answer(message.id);
    batch?.answer(message, message.id);
    return batch !== undefined;
  }

  #receiveAll(values: readonly unknown[]): void {
    const refused = refuseBatch(values, this.#version);
    if (refused) return this.#refuseEach(values, refused);
    const batch = createBatch(this.#parts.say);
    // All are taken before the first is worked on: it may be answered at once.
    const taken = values.map((value) => this.#take(value, batch));
    for (const one of taken) if ("refusal" in one) batch.answer(toAnswer(one.refusal));
    for (const one of taken) if ("message" in one) this.#parts.deliver(one.message);
    batch.seal();
  }

  /** Under the id of each request, so that none waits; once, if that is not possible. */
  #refuseEach(values: readonly unknown[], why: Omit<Refusal, "id">): void {
    const all = values.length > MAX_REFUSED ? [] : idsOf(values);
    const ids = all.filter((id) => !this.#inFlight.has(id));
    for (const id of ids.length > 0 ? ids : [null]) this.#refuse({ ...why, id });
  }

  /** Reads a message, and refuses a request under the id of one that has no answer yet. */
  #take(value: unknown, batch: AnswerBatch | undefined): ReadMessage {
    const read = readMessage(value);
    if ("refusal" in read) {
      const { refusal } = read;
      return { refusal: this.#inFlight.has(refusal.id) ? { ...refusal, id: null } : refusal };
    }
    const { message } = read;
    if ("method" in message && "id" in message && message.method === "initialize") {
      if (batch) return { refusal: { ...ALONE, id: message.id } };
      this.#hello = message.id;
    }
    return this.#inFlight.receive(message, batch) ? read : { refusal: TWICE };
  }

  #refuse(refusal: Refusal): void {
    this.#parts.say(toAnswer(refusal));
  }
}

function toAnswer({ id, code, message }: Refusal): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

interface InFlight {
  /** True if a request with this id has no answer yet. */
  has(id: RequestId | null): boolean;
  /** False for a request under the id of another one that has no answer yet: two answers could not be told apart. */
  receive(message: JSONRPCMessage, batch: AnswerBatch | undefined): boolean;
  /** Called when a request is answered; returns its batch. */
  answer(id: RequestId): AnswerBatch | undefined;
}

function createInFlight(): InFlight {
  const open = new Map<unknown, AnswerBatch | undefined>();
  const forget = (id: RequestId): void => {
    open.get(id)?.forget(id);
    // A request that was taken back is not answered.
    open.delete(id);
  };
  return {
    has: (id) => open.has(id),
    receive(message, batch) {
      if (!("method" in message)) return true;
      if ("id" in message) {
        if (open.has(message.id)) return false;
        open.set(message.id, batch);
        batch?.await(message.id);
      } else if (message.method === "notifications/cancelled") {
        forget(message.params?.["requestId"] as RequestId);
      }
      return true;
    },
    answer(id) {
      const batch = open.get(id);
      open.delete(id);
      return batch;
    },
  };
}
