/** The runs that index files: written down before the file's thing, ended and removed with it. */

import { Failure, toFailure } from "../../base/failure.ts";
import { storedObject } from "../../base/stored.ts";
import { clip } from "../../base/text.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Chunking } from "./chunk-text.ts";

export interface IndexJob {
  readonly tenant: string;
  readonly store: string;
  readonly file: string;
  readonly chunking: Chunking;
  /** The key that pays for its embeddings. */
  readonly key_id: string | null;
}

export const INDEX_JOB = storedObject<IndexJob>("a file to index", ["tenant", "store", "file"]);

/** The name of the body that indexes files, in the record. */
export const INDEX_BODY = "index";

export interface IndexRuns {
  /**
   * Writes the run down under an id. It starts with `begin`, or later by itself if this process dies.
   */
  promise(run: string, job: IndexJob, filename: string): Promise<void>;
  /** Call it once the file's thing names the run. False if the run is already over. */
  begin(run: string): Promise<boolean>;
  /** Ends the run and removes it. Resolves when it no longer writes. */
  remove(run: string): Promise<void>;
}

export function createIndexRuns(engine: Engine): IndexRuns {
  return {
    async promise(run, job, filename) {
      const title = clip(`Index ${filename}`, 80);
      const input = INDEX_JOB.write(job);
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
        // Another process has claimed it; or it found no thing that names it, and has ended.
        if (code !== "conflict") throw thrown;
        return (await engine.status(run))?.status === "running";
      }
      return true;
    },
    async remove(run) {
      const { status, owner = null } = (await engine.status(run)) ?? {};
      // A queued run has no owner, and writes nothing.
      if (status !== "running" || owner === null) return await engine.delete(run);
      try {
        await engine.cancel(run, { tree: true });
        await engine.ended(run);
      } catch (thrown) {
        if (!(thrown instanceof Failure) || !isOver(thrown)) throw thrown;
      }
      await engine.delete(run);
    },
  };
}

/** True if the indexing run has ended, or was removed with the file's thing. */
function isOver({ code }: Failure): boolean {
  return code === "conflict" || code === "not_found" || code === "fenced";
}
