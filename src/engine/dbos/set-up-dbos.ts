/** Makes DBOS's tables in the schema `dbos`: once, by `offshoot store migrate`, and never by a process that runs. */

import { Failure, toFailure } from "../../base/failure.ts";
import { loadSdk } from "./dbos-sdk.ts";

export async function setUpDbos(address: string): Promise<void> {
  const sdk = await loadSdk();
  try {
    await sdk.migrate(address);
  } catch (cause) {
    const { message } = toFailure(cause);
    throw new Failure("store_failed", `DBOS could not make its tables: ${message}`, { cause });
  }
}
