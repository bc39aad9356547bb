/**
 * The files for bubblewrap: its options, the filter of system calls, and the texts of a made-up user. They
 * are in a private folder as long as they are needed, and no command sees that folder.
 *
 * Options are in a file because every command can read bubblewrap's own arguments (`/proc/1/cmdline`),
 * which name folders of this machine and hidden paths.
 */

import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isWithin } from "../../base/paths.ts";
import { FILTER_DESCRIPTOR, type Hidden, OPTIONS_DESCRIPTOR, type View } from "./bubblewrap.ts";
import type { SandboxParts } from "./holder.ts";
import { PERSONA_FILES } from "./persona.ts";
import { openPrivateFolder } from "./private-folder.ts";
import { seccompFilter } from "./seccomp.ts";

export interface Inputs {
  /** The filter's file; undefined on a processor without one. */
  readonly filter: string | undefined;
  /** Files for a made-up user: their path, and the path at which they are seen. */
  readonly files: View["files"];
  /** The folder itself, if it is in the workspace. */
  readonly hidden: readonly Hidden[];
  /** The words that start a command in bubblewrap. `release` is called when it has ended. */
  prepare(start: BubblewrapStart): Promise<Prepared>;
  close(): Promise<void>;
}

export interface BubblewrapStart {
  readonly program: string;
  readonly options: readonly string[];
  readonly command: readonly string[];
}

interface Prepared {
  readonly argv: readonly [string, ...string[]];
  release(): Promise<void>;
}

/** The caller closes it. */
export async function openInputs({
  root,
  tempDir,
  stranger,
  totals,
}: SandboxParts): Promise<Inputs> {
  const folder = await openPrivateFolder(tempDir);
  try {
    const write = async (name: string, content: string | Buffer): Promise<string> => {
      const path = join(folder.path, name);
      await writeFile(path, content);
      return path;
    };
    const program = seccompFilter(process.arch, { countable: totals !== undefined });
    const filter = program && (await write("filter", program));
    const files: [string, string][] = [];
    for (const [place, text] of stranger ? Object.entries(PERSONA_FILES) : []) {
      files.push([await write(basename(place), text), place]);
    }
    const hidden = isWithin(root, folder.path) ? [{ path: folder.path, isFolder: true }] : [];
    return {
      filter,
      files,
      hidden,
      async prepare({ program: bubblewrap, options, command }) {
        const words = options.map((word) => `${word}\0`).join("");
        const file = await write(`options-${randomBytes(8).toString("hex")}`, words);
        const start = [bubblewrap, "--args", String(OPTIONS_DESCRIPTOR), "--", ...command] as const;
        return {
          argv: withDescriptors([file, ...(filter === undefined ? [] : [filter])], start),
          release: () => rm(file, { force: true }),
        };
      },
      close: folder.close,
    };
  } catch (thrown) {
    await folder.close();
    throw thrown;
  }
}

/** A shell that cannot open one of the files exits, so nothing runs without its filter. */
function withDescriptors(
  files: readonly string[],
  argv: readonly [string, ...string[]],
): [string, ...string[]] {
  const descriptors = [OPTIONS_DESCRIPTOR, FILTER_DESCRIPTOR];
  const opened = files.map((_, index) => `${descriptors[index]}<"$${index + 1}"`).join(" ");
  // A shell sets its current folder in variables, which the command would find in the first process's
  // environment.
  const script = `unset PWD OLDPWD; exec ${opened} && shift ${files.length} && exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", ...files, ...argv];
}
