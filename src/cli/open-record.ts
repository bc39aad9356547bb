/** The record as a command has it: to read, with an engine that runs nothing for what is to be done to runs. */

import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { Config } from "../runtime/config/config.ts";
import { toRecordAddress } from "../runtime/config/store-address.ts";
import type { Kept } from "../store/kept.ts";
import { openKept } from "../store/open-kept.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { Io } from "./io.ts";

export interface OpenedRecord {
  readonly record: RunReader;
  /** Knows who has a run, and how to reach whoever has it. Begins none. */
  readonly engine: Engine;
  /** For a command that needs an engine of its own (`withEngine`). */
  readonly kept: Pick<Kept, "runs" | "index">;
  close(): Promise<void>;
}

type OpenedPart = "record" | "index" | "runs" | "close";

/** Whoever opens it closes it. */
export async function openRecord(config: Config, { env }: Pick<Io, "env">): Promise<OpenedRecord> {
  return await toOpened(await openKept(toRecordAddress(config, env)));
}

/** What is kept, as commands have it. */
export async function toOpened(kept: Pick<Kept, OpenedPart>): Promise<OpenedRecord> {
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
