/**
 * Opens the record for a command: to read, with an engine that runs nothing but can act on runs.
 */

import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { Config } from "../runtime/config/config.ts";
import { toRecordAddress } from "../runtime/config/store-address.ts";
import type { KeptRecord } from "../store/kept.ts";
import { openKept } from "../store/open-kept.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { Io } from "./io.ts";

export interface OpenedRecord {
  readonly record: RunReader;
  /** Knows which process owns a run, and how to reach it. Starts no run. */
  readonly engine: Engine;
  /** For a command that needs an engine of its own (`withEngine`). */
  readonly kept: Pick<KeptRecord, "runs" | "index">;
  close(): Promise<void>;
}

type OpenedPart = "record" | "index" | "runs" | "close";

/** The caller must close it. */
export async function openRecord(config: Config, { env }: Pick<Io, "env">): Promise<OpenedRecord> {
  return await toOpened(await openKept(toRecordAddress(config, env)));
}

/** Wraps an opened record for commands. */
export async function toOpened(kept: Pick<KeptRecord, OpenedPart>): Promise<OpenedRecord> {
  const record = await kept.record();
  const engine = await openEngine(kept, { isShared: true });
  return {
    record,
    engine,
    kept,
    async close() {
      await engine.stop();
      await kept.close();
    },
  };
}
