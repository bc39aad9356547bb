/** A thread that compiles schemas and checks documents. Its parent ends it when it does not answer. */

import { parentPort } from "node:worker_threads";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { stepBack } from "../base/thread-time.ts";
import type { ThreadReply } from "../base/threads.ts";
import { compileSchema, type Validate } from "./compile-schema.ts";

/** A document as JSON, or undefined to check the schema alone. */
export interface SchemaJob {
  readonly schema: string;
  readonly value: string | undefined;
}

/** How many schemas of the last requests are kept: a document is checked right after its schema was. */
const MAX_KEPT = 16;
const kept = new Map<string, Validate>();

stepBack();
parentPort?.on("message", (job: SchemaJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});

async function answer({ schema, value }: SchemaJob): Promise<ThreadReply> {
  try {
    const validate = kept.get(schema) ?? (await compileSchema(JSON.parse(schema) as JsonObject));
    kept.delete(schema);
    kept.set(schema, validate);
    for (const [oldest] of kept) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(oldest);
    }
    return { done: value === undefined ? undefined : validate(JSON.parse(value) as Json) };
  } catch (thrown) {
    if (thrown instanceof Failure) return { refused: thrown.message };
    return { broke: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
