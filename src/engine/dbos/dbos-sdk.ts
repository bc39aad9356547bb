/**
 * DBOS Transact, as this room uses it: its class `DBOS`, of which there is one for each process. Loaded by the first
 * run of a process whose engine is `dbos`.
 */

import type { DBOS } from "@dbos-inc/dbos-sdk";

export type Sdk = Pick<
  typeof DBOS,
  | "migrate"
  | "setConfig"
  | "launch"
  | "shutdown"
  | "isInitialized"
  | "registerWorkflow"
  | "startWorkflow"
  | "listWorkflows"
  | "deleteWorkflows"
>;

export async function loadSdk(): Promise<Sdk> {
  const { DBOS } = await import("@dbos-inc/dbos-sdk");
  return DBOS;
}
