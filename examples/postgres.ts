/**
 * Several programs on one Postgres database: one starts a run, another reads its answer. In a clone:
 * `node scripts/compile.js`, then `node build/examples/postgres.js postgres://USER:PASSWORD@HOST/DATABASE`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "offshoot";

/** Starts a run whose record is in the database, and returns its id. The first use creates the tables. */
export async function ask(database: string, input: string): Promise<string> {
  const runtime = await createRuntime({ storePath: database });
  try {
    const run = await runtime.run({ model: "embedded/offline", input });
    await run.result();
    return run.id;
  } finally {
    await runtime.close();
  }
}

/** Any program with the same database can read the run, follow it, steer it or cancel it. */
export async function readAnswer(database: string, id: string): Promise<string> {
  const runtime = await createRuntime({ storePath: database });
  try {
    return (await (await runtime.attach(id)).result()).output_text;
  } finally {
    await runtime.close();
  }
}

const [, program, database] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  if (!database) console.error("Usage: postgres.js postgres://USER:PASSWORD@HOST/DATABASE");
  else console.log(await readAnswer(database, await ask(database, "compute 6*7")));
}
