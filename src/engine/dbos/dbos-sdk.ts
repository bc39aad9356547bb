/**
 * DBOS Transact, as this room uses it: its class `DBOS`, of which there is one for each process. Loaded by the first
 * run of a process whose engine is `dbos`.
 */

import type { DBOS } from "@dbos-inc/dbos-sdk";
import { Failure } from "../../base/failure.ts";

/** The version that the suites of the contract run on. */
const PACKAGE = "@dbos-inc/dbos-sdk@5.3.0";

export type Sdk = Pick<
  typeof DBOS,
  | "setConfig"
  | "launch"
  | "shutdown"
  | "isInitialized"
  | "registerWorkflow"
  | "startWorkflow"
  | "listWorkflows"
  | "deleteWorkflows"
>;

/** Rejects if the package is not installed. It is an optional peer: few use it, and it takes 11 MB. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    return DBOS;
  } catch (cause) {
    const message = `The engine \`dbos\` needs a package that is not installed: npm i ${PACKAGE}`;
    throw new Failure("invalid_request", message, { param: "engine", cause });
  }
}
