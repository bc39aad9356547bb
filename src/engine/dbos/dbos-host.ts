/**
 * DBOS in this process. It is a static class, so there is one for all engines here: the first that carries a run
 * launches it, the last that is closed shuts it down.
 */

import { AsyncResource } from "node:async_hooks";
import type { Pool } from "pg";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Carried } from "../carrier.ts";
import { openDbosPool } from "./dbos-pool.ts";
import type { Sdk } from "./dbos-sdk.ts";

/**
 * The version of journals. DBOS lets a process continue only workflows of its own version. It changes when a body
 * could not be repeated from a journal that an older program wrote. All applications that use DBOS in one database
 * must have versions of different names.
 */
const JOURNAL_VERSION = "offshoot-1";
const WORKFLOW = "offshoot.run";
/**
 * DBOS gives up a workflow that was begun more often than this. How often a run may be begun is not for DBOS to
 * decide.
 */
const MAX_ATTEMPTS = 1_000_000;

export interface DbosLaunch {
  readonly address: string;
  readonly workerId: string;
  /** The connections to use; opened here, and closed at the end, when left out. */
  readonly pool?: Pool | undefined;
}

export interface DbosHost {
  /**
   * Starts a workflow with this id that does the work. Resolves when it has begun; `recorded` resolves when DBOS has
   * written that it has ended. Rejects with `isTaken` if there is a workflow with this id.
   */
  start(id: string, work: () => Promise<Carried>): Promise<{ readonly recorded: Promise<unknown> }>;
  /** The ids of workflows that no process runs any more, at most about this many. */
  listOver(limit: number): Promise<string[]>;
  /** The ids of workflows that other processes run, or ran when they died. */
  listElsewhere(limit: number): Promise<string[]>;
  forget(ids: readonly string[]): Promise<void>;
  leave(): Promise<void>;
}

/** One for each class `DBOS`, which is one for each process. */
const hosts = new WeakMap<Sdk, Host>();

export async function joinDbos(sdk: Sdk, launch: DbosLaunch): Promise<DbosHost> {
  const host = hosts.get(sdk) ?? new Host(sdk);
  hosts.set(sdk, host);
  await host.join(launch);
  return host;
}

export function isTaken(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "DBOSWorkflowIDInUseError";
}

class Host implements DbosHost {
  readonly #sdk: Sdk;
  readonly #workflow: (token: string) => Promise<Carried>;
  /** Starts outside the calling workflow: a workflow that is started inside another counts as its step. */
  readonly #outside = new AsyncResource("offshoot.dbos");
  /** Work that was handed over and has not begun, by a token of its own. */
  readonly #handed = new Map<string, () => Promise<Carried>>();
  #tokens = 0;
  #users = 0;
  #launch: DbosLaunch | undefined;
  #launched: Promise<void> | undefined;
  #ownPool: Pool | undefined;

  constructor(sdk: Sdk) {
    this.#sdk = sdk;
    const options = { name: WORKFLOW, maxRecoveryAttempts: MAX_ATTEMPTS };
    this.#workflow = sdk.registerWorkflow((token: string) => this.#work(token), options);
  }

  async join(launch: DbosLaunch): Promise<void> {
    if (this.#users > 0 && this.#launch?.address !== launch.address) throw toSecondDatabase();
    this.#users++;
    if (this.#launched === undefined) {
      this.#launch = launch;
      this.#launched = this.#outside.runInAsyncScope(() => this.#open(launch));
    }
    try {
      await this.#launched;
    } catch (thrown) {
      this.#users--;
      this.#launched = undefined;
      throw thrown;
    }
  }

  async #open(launch: DbosLaunch): Promise<void> {
    const own = launch.pool ? undefined : await openDbosPool(launch.address);
    this.#ownPool = own;
    const pool = launch.pool ?? own;
    // If several processes create the tables at the same time, all but one would fail.
    configureDbos(this.#sdk, { ...launch, pool }, { runMigrations: false });
    try {
      await this.#sdk.launch();
    } catch (cause) {
      // So that the next try starts from the beginning.
      await this.#close().catch(() => {});
      throw toLaunchFailure(cause);
    }
  }

  async #close(): Promise<void> {
    const pool = this.#ownPool;
    this.#ownPool = undefined;
    await this.#sdk.shutdown();
    await pool?.end();
  }

  async start(
    id: string,
    work: () => Promise<Carried>,
  ): Promise<{ readonly recorded: Promise<unknown> }> {
    const token = String(this.#tokens++);
    this.#handed.set(token, AsyncResource.bind(work));
    try {
      const params = { workflowID: id, workflowIDReusePolicy: "reject" } as const;
      const handle = await this.#outside.runInAsyncScope(() =>
        this.#sdk.startWorkflow(this.#workflow, params)(token),
      );
      return { recorded: handle.getResult().catch(() => {}) };
    } finally {
      this.#handed.delete(token);
    }
  }

  async listOver(limit: number): Promise<string[]> {
    return await this.#list({ status: ["SUCCESS", "ERROR", "CANCELLED"], limit });
  }

  async listElsewhere(limit: number): Promise<string[]> {
    return await this.#list({ status: ["PENDING", "ENQUEUED"], limit });
  }

  async forget(ids: readonly string[]): Promise<void> {
    await this.#outside.runInAsyncScope(() => this.#sdk.deleteWorkflows([...ids]));
  }

  async leave(): Promise<void> {
    this.#users--;
    if (this.#users > 0) return;
    this.#launched = undefined;
    await this.#outside.runInAsyncScope(() => this.#close());
  }

  async #list(query: { status: Status[]; limit: number }): Promise<string[]> {
    const wanted = { ...query, workflowName: WORKFLOW, loadInput: false, loadOutput: false };
    const found = await this.#outside.runInAsyncScope(() => this.#sdk.listWorkflows(wanted));
    return found.map(({ workflowID }) => workflowID);
  }

  /** Called by DBOS. An unknown token belongs to a process that is gone. */
  async #work(token: string): Promise<Carried> {
    const work = this.#handed.get(token);
    this.#handed.delete(token);
    if (!work) throw new Failure("internal", "DBOS began a run that was not handed to it.");
    return await work();
  }
}

type Status = "SUCCESS" | "ERROR" | "CANCELLED" | "PENDING" | "ENQUEUED";

export function configureDbos(
  sdk: Sdk,
  { address, workerId, pool }: DbosLaunch,
  { runMigrations }: { readonly runMigrations: boolean },
): void {
  sdk.setConfig({
    name: "offshoot",
    systemDatabaseUrl: address,
    ...(pool && { systemDatabasePool: pool }),
    executorID: workerId,
    applicationVersion: JOURNAL_VERSION,
    // Nothing is ever queued in DBOS: runs wait in the store.
    listenQueues: [],
    useListenNotify: false,
    enableOTLP: false,
    logger: SILENT,
    runMigrations,
  });
}

/** Errors are reported by rejections. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** The message of DBOS may name the user of the database. */
function toLaunchFailure(cause: unknown): Failure {
  if (/requires \d+|schema version/.test(toFailure(cause).message)) {
    const message =
      "The store has no tables of DBOS, or those of an older version. Run `offshoot store migrate` with `engine` set to `dbos`.";
    return new Failure("invalid_request", message, { cause });
  }
  const message = "DBOS could not be started on the store. Check that its database answers.";
  return new Failure("store_busy", message, { cause });
}

function toSecondDatabase(): Failure {
  const message =
    "A process has one DBOS, and this one uses another database already. Use the engine `own`, or another process.";
  return new Failure("invalid_request", message);
}
