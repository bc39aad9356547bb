/** The `sandbox` level on macOS: tries `sandbox-exec` out and runs commands in it. */

import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { type Covers, createCoverSearch } from "./covers.ts";
import type { Holder, SandboxParts } from "./holder.ts";
import { withLimits } from "./limits.ts";
import type { PrivateFolder } from "./private-folder.ts";
import { programFolders, secretSettings } from "./programs.ts";
import type { SandboxCommand } from "./sandbox.ts";
import { seatbeltProfile } from "./seatbelt.ts";

const execute = promisify(execFile);

/** Part of the system. A program of that name on `PATH` could be anyone's. */
const PROGRAM = "/usr/bin/sandbox-exec";

const TRIAL_LIMIT_MS = 10_000;

/** Takes ownership of the private folder. Rejects with `Failure("invalid_request")`. */
export async function openSeatbelt(
  parts: SandboxParts,
  variables: Environment,
  folder: PrivateFolder,
): Promise<Holder> {
  const { root, env } = parts;
  const home = env["HOME"];
  const path = variables["PATH"] ?? "";
  const findCovers = createCoverSearch(parts);
  const profile = (command: Pick<SandboxCommand, "reads" | "writes">, covers: Covers): string =>
    seatbeltProfile({
      root,
      isWritable: parts.writable ?? true,
      hasNetwork: parts.network,
      // Also by their own paths, because a rule covers a path that does not exist yet.
      hidden: [
        ...inside(root, parts.hidden),
        ...covers.hidden.map((one) => one.path),
        ...secretSettings(home),
      ],
      readOnly: [
        ...inside(root, [...(parts.readOnly ?? []), ...(parts.findReadOnly?.() ?? [])]),
        ...covers.readOnly,
      ],
      privateFolder: folder.path,
      programs: programFolders(path, { home, root, seen: ["/usr", "/bin", "/sbin", root] }),
      reads: (command.reads ?? []).filter(existsSync).map((one) => realpathSync(one)),
      writes: (command.writes ?? []).filter(existsSync).map((one) => realpathSync(one)),
    });
  try {
    await tryOut(profile({}, { hidden: [], readOnly: [] }));
  } catch (thrown) {
    await folder.close();
    throw thrown;
  }
  return {
    async wrap(command) {
      const limited = withLimits(command.argv, undefined, parts.totals?.memoryBytes);
      const words = ["-p", profile(command, await findCovers())];
      return { argv: [PROGRAM, ...words, ...limited], env: folder.env };
    },
    close: folder.close,
  };
}

function inside(root: string, names: readonly string[]): string[] {
  return names.map((name) => resolve(root, name)).filter((path) => isWithin(root, path));
}

async function tryOut(profile: string): Promise<void> {
  const words = ["-p", profile, "/usr/bin/true"];
  await execute(PROGRAM, words, { timeout: TRIAL_LIMIT_MS, env: {} }).catch((cause: Error) => {
    const message = `The sandbox level \`sandbox\` is not available: ${PROGRAM} refused (${clip(cause.message, 200)}). Choose the level \`process\` or \`none\`.`;
    throw new Failure("invalid_request", message, { param: "sandbox", cause });
  });
}
