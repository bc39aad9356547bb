/**
 * Temporary files of the unit tests in memory, where the system has a folder for that. They open hundreds of
 * databases, and a tenth of their time was waiting for a disk to have written what is deleted at once.
 * What a crash leaves on a disk is tested by `*.e2e.ts`, on a disk.
 */
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const IN_MEMORY = "/dev/shm";
/** Containers often have 64 MB there, which is not enough. */
const LEAST_BYTES = 2 ** 30;

/** For this process and those it starts, until it ends. Does nothing where there is no such folder. */
export function useQuickFolder(): void {
  const folder = makeFolder();
  if (folder === undefined) return;
  process.env["TMPDIR"] = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}

function makeFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize < LEAST_BYTES) return undefined;
    return mkdtempSync(join(IN_MEMORY, "offshoot-tests-"));
  } catch {
    return undefined;
  }
}
