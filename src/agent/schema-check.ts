/**
 * Checks documents against schemas without blocking the event loop. A schema of a few plain words is compiled here,
 * which takes a millisecond; any other may be made to take long, and goes to a thread.
 */

import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { createThreads, type Threads } from "../base/threads.ts";
import { ABOUT, compileSchema } from "./compile-schema.ts";
import type { SchemaJob } from "./schema-worker.ts";

/** Returns undefined when the document fits, otherwise what is wrong with it. */
export type CheckValue = (value: Json) => Promise<string | undefined>;

/** Owners take turns at the threads. Rejects with `invalid_request` if the schema is not valid. */
export async function createSchemaCheck(schema: JsonObject, owner: string): Promise<CheckValue> {
  const text = JSON.stringify(schema);
  if (text.length <= MAX_PLAIN_CHARS && isPlainSchema(schema)) {
    const validate = await compileSchema(schema);
    return async (value) =>
      JSON.stringify(value).length > MAX_PLAIN_VALUE_CHARS
        ? await checkInThread(owner, { schema: text, value: JSON.stringify(value) })
        : validate(value);
  }
  await checkInThread(owner, { schema: text, value: undefined });
  return (value) => checkInThread(owner, { schema: text, value: JSON.stringify(value) });
}

const MAX_PLAIN_CHARS = 8000;
const MAX_PLAIN_VALUE_CHARS = 200_000;

/** Keywords whose work is not limited by the sizes of the schema and of the document. */
const COSTLY: ReadonlySet<string> = new Set(
  "pattern patternProperties propertyNames $ref $dynamicRef $recursiveRef uniqueItems contains".split(
    " ",
  ),
);

/** Also matches a property with such a name: that costs it a thread, and nothing else. */
function isPlainSchema(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every((one: Json) => isPlainSchema(one));
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([key, value]) => !COSTLY.has(key) && isPlainSchema(value));
}

/**
 * Two threads for one tenant, so that a slow schema does not block all others; more would take the cores of the event
 * loop. The other two are for other tenants: when one tenant had all threads, a harmless schema of another waited for
 * 20 s on a busy machine, in place of 60 ms (`schemas` of bench/tenants.ts). The work itself is limited to a second
 * inside: the minute is for work that cannot be stopped there, and for the start of a thread.
 */
const THREADS = {
  program: "schema-worker",
  size: 4,
  sizeForOne: 2,
  limitMs: 60_000,
  heapMib: 256,
} as const;
let threads: Threads | undefined;

async function checkInThread(owner: string, job: SchemaJob): Promise<string | undefined> {
  threads ??= createThreads(THREADS);
  return (await threads.run(owner, job, ABOUT)) as string | undefined;
}
