/**
 * Batches: several messages in one array. Versions of the protocol up to 2025-03-26 have them, later ones do not. The
 * answers to a batch go back as one array, when all of them are there.
 */

import { ErrorCode, type JSONRPCMessage, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject } from "../../base/json.ts";
import { plural } from "../../base/text.ts";
import type { Refusal } from "./read-message.ts";

/** The most messages of one batch. */
export const MAX_BATCH = 20;

/** The newest version that has batches. Versions are dates, so they sort as text. */
const LAST_VERSION = "2025-03-26";

/** Why no message of this array is taken. Undefined if it is a batch; before `initialize` no version is known. */
export function refuseBatch(
  values: readonly unknown[],
  version: string | undefined,
): Pick<Refusal, "code" | "message"> | undefined {
  const code = ErrorCode.InvalidRequest;
  if (values.length === 0) return { code, message: "The batch has no messages." };
  if (values.length > MAX_BATCH) {
    const message = `A batch has ${plural(values.length, "message")}; ${MAX_BATCH} at most are taken.`;
    return { code, message };
  }
  if (version !== undefined && version <= LAST_VERSION) return undefined;
  const why =
    version === undefined
      ? "No batch is taken before `initialize` was answered."
      : `Version ${version} of the protocol has no batches.`;
  return { code, message: `${why} Write each message on a line of its own.` };
}

/** The version that an answer to `initialize` has agreed on; undefined for any other message. */
export function readAgreedVersion(message: JSONRPCMessage): string | undefined {
  if (!("result" in message)) return undefined;
  const { protocolVersion } = message.result;
  return typeof protocolVersion === "string" ? protocolVersion : undefined;
}

/** The ids of the requests among these values: those that wait for an answer. */
export function idsOf(values: readonly unknown[]): RequestId[] {
  return values.flatMap((value) => {
    const { id, method } = isJsonObject(value) ? value : {};
    const isId = typeof id === "string" || typeof id === "number";
    return isId && typeof method === "string" ? [id] : [];
  });
}

export interface AnswerBatch {
  /** The answer to this request will come. */
  await(id: RequestId): void;
  /** No answer to this request will come. */
  forget(id: RequestId): void;
  /** Keeps an answer, until all are there. */
  answer(answer: object, id?: RequestId): void;
  /** All its messages were read. */
  seal(): void;
}

/** `write` is called once with all answers, unless there is none. */
export function createBatch(write: (answers: readonly object[]) => void): AnswerBatch {
  const open = new Set<RequestId>();
  const answers: object[] = [];
  let isSealed = false;
  const check = (): void => {
    if (isSealed && open.size === 0 && answers.length > 0) write(answers.splice(0));
  };
  return {
    await: (id) => void open.add(id),
    forget(id) {
      if (open.delete(id)) check();
    },
    answer(answer, id) {
      answers.push(answer);
      if (id !== undefined) open.delete(id);
      check();
    },
    seal() {
      isSealed = true;
      check();
    },
  };
}
