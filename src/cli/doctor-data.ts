/** Checks of `offshoot doctor` that look at what is stored: the data folder, the record, its database. */

import { constants } from "node:fs";
import { access, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toFailure } from "../base/failure.ts";
import { clip, plural } from "../base/text.ts";
import { withoutPassword } from "../runtime/config/address-text.ts";
import type { Config } from "../runtime/config/config.ts";
import { toStoreAddress } from "../runtime/config/store-address.ts";
import { userPaths } from "../runtime/paths.ts";
import { JOURNAL_VERSION } from "../store/journal-version.ts";
import { isPostgres, openKept } from "../store/open-kept.ts";
import { broken, type DoctorCheck, type DoctorSurroundings, gap, ok } from "./doctor-check.ts";

/** Checks the nearest folder that exists: the missing ones are made when a run is first stored. */
export async function checkData(
  { home, env }: DoctorSurroundings,
  config: Config | undefined,
): Promise<DoctorCheck> {
  const address = config && toStoreAddress(config, env);
  if (address !== undefined && isPostgres(address)) return await checkDatabase(address);
  const own = config?.get("store_path");
  // The folder does not depend on the settings, so it is known even if their file cannot be read.
  const { dataDir } = config?.paths ?? userPaths(env, home);
  const folder = own === undefined ? dataDir : dirname(own);
  let at = folder;
  while (at !== dirname(at) && !(await canAccess(at, constants.F_OK))) at = dirname(at);
  const isFolder = (await stat(at)).isDirectory();
  const isWritable = await canAccess(at, constants.W_OK);
  if (isFolder && isWritable && (at === folder || (await canMakeFolder(at)))) {
    return await checkRecord(own ?? config?.paths.runsFile ?? join(folder, "runs.db"), folder);
  }
  const problem = isFolder ? "cannot be written to" : "is not a folder";
  return broken(
    "data",
    `${at} ${problem}`,
    "Fix that, set `OFFSHOOT_DATA` to another folder, or run with --no-store.",
  );
}

/**
 * Tried and removed again: some file systems refuse new folders without reporting it in advance.
 */
async function canMakeFolder(at: string): Promise<boolean> {
  try {
    await rmdir(await mkdtemp(join(at, ".offshoot-")));
    return true;
  } catch {
    return false;
  }
}

/** Opened and read as every command does. A record that does not exist yet is not created. */
async function checkRecord(file: string, folder: string): Promise<DoctorCheck> {
  if (!(await canAccess(file, constants.F_OK))) return ok("data", folder);
  try {
    await (await openKept(file)).maintenance.probe();
    return ok("data", folder);
  } catch (thrown) {
    const reason = clip(toFailure(thrown).message, 120);
    return broken(
      "data",
      `${file} cannot be opened: ${reason}`,
      "Every command that keeps or reads runs fails. Restore a backup, or move the file away.",
    );
  }
}

async function checkDatabase(address: string): Promise<DoctorCheck> {
  const name = withoutPassword(address);
  const kept = await openKept(address);
  try {
    await kept.maintenance.refuseDamaged(0);
    await kept.maintenance.checkWritable();
    const found = `${name}, Postgres ${await kept.maintenance.version()}`;
    const unfinished = await (await kept.record()).listUnfinished();
    const newer = unfinished.filter(({ journal }) => journal > JOURNAL_VERSION).length;
    if (newer === 0) return ok("data", found);
    const left = `${plural(newer, "unfinished run")} of a newer Offshoot`;
    return gap("data", `${found}; ${left}`, "This version leaves them alone: update it.");
  } catch (thrown) {
    return broken(
      "data",
      clip(toFailure(thrown).message, 160),
      "Every command that keeps or reads runs fails.",
    );
  } finally {
    await kept.close();
  }
}

export async function checkSqlite(): Promise<DoctorCheck> {
  try {
    const { maintenance } = await openKept("sqlite:");
    return ok("sqlite", await maintenance.version());
  } catch (thrown) {
    const reason = clip(toFailure(thrown).message, 120);
    return broken("sqlite", reason, "Install Offshoot again, or run with --no-store.");
  }
}

export async function canAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
