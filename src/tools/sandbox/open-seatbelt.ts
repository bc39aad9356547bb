/** The `sandbox` level on macOS: tries `sandbox-exec` out and puts commands into it. */

import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { type Covers, createCoverSearch } from "./covers.ts";
import type { Variables } from "./environment.ts";
import type { Holder, SandboxParts } from "./holder.ts";
import { withLimits } from "./limits.ts";
import type { PrivateFolder } from "./private-folder.ts";
import { programFolders, secretSettings } from "./programs.ts";
import type { Command } from "./sandbox.ts";
import { seatbeltProfile } from "./seatbelt.ts";

const execute = promisify(execFile);

/** Part of the system; one found on `PATH` could be anybody's. */
const PROGRAM = "/usr/bin/sandbox-exec";

const TRIAL_LIMIT_MS = 10_000;

/** Owns the private folder from here on. Rejects with `Failure("invalid_request")`. */
export async function openSeatbelt(
  parts: SandboxParts,
  variables: Variables,
  folder: PrivateFolder,
): Promise<Holder> {
  const { root, env } = parts;
  const home = env["HOME"];
  const path = variables["PATH"] ?? "";
  const findCovers = createCoverSearch(parts);
  const profile = (command: Pick<Command, "reads" | "writes">, covers: Covers): string =>
    seatbeltProfile({
      root,
      isWritable: parts.writable ?? true,
      hasNetwork: parts.network,
      // By their own paths too: a rule also holds for what is not there yet.
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
