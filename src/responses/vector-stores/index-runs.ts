/** The runs that index files: written down before the file's thing, ended and removed with it. */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Engine } from "../../engine/engine.ts";
import type { IndexJob } from "./index-body.ts";
import { INDEX_BODY } from "./kept-store.ts";

export interface IndexRuns {
  /** Writes the run down under an id. It starts with `begin`, or later by itself should this process die. */
  promise(run: string, job: IndexJob, filename: string): Promise<void>;
  /** Call it once the file's thing names the run. False where the run is over already. */
  begin(run: string): Promise<boolean>;
  /** Ends the run and removes it. Resolves when it writes no more. */
  remove(run: string): Promise<void>;
}

export function createIndexRuns(engine: Engine): IndexRuns {
  return {
    async promise(run, job, filename) {
      const title = clip(`Index ${filename}`, 80);
      const input = job as unknown as Json;
      const { tenant } = job;
      await engine.submit(INDEX_BODY, input, { id: run, title, tenant, isHeld: true });
    },
    async begin(run) {
      try {
        await engine.resume(run);
      } catch (thrown) {
        const { code } = toFailure(thrown);
        // The file was added a second time meanwhile, or removed: its run is gone.
        if (code === "not_found") return true;
        // Another process has found it; or it found no thing that names it, and has ended.
        if (code !== "conflict") throw thrown;
        return (await engine.status(run))?.status === "running";
      }
      return true;
    },
    async remove(run) {
      const { status, owner = null } = (await engine.status(run)) ?? {};
      // One that waits for its turn belongs to nobody, and writes nothing.
      if (status !== "running" || owner === null) return await engine.delete(run);
      try {
        await engine.cancel(run, { tree: true });
        await engine.result(run);
      } catch (thrown) {
        if (!(thrown instanceof Failure) || !isOver(thrown)) throw thrown;
      }
      await engine.delete(run);
    },
  };
}

/** It has ended, or went with the file's thing. */
function isOver({ code }: Failure): boolean {
  return code === "conflict" || code === "not_found" || code === "fenced";
}
