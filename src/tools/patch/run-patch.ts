/** One operation of a patch on the workspace. Nothing is changed where it does not fit. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { PatchType } from "./apply-patch.ts";
import { patchText, toNewText } from "./v4a.ts";

export interface PatchOperation {
  readonly type: PatchType;
  readonly path: string;
  readonly diff: string;
}

/** A larger file was not written by hand. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Returns what was done, in a line. */
export async function runPatch(
  workspace: Workspace,
  { type, path, diff }: PatchOperation,
): Promise<string> {
  switch (type) {
    case "create_file": {
      const { exists } = await workspace.locate(path, "write");
      if (exists) throw wrong(`There is a file \`${clip(path, 80)}\` already: use update_file.`);
      await workspace.writeFile(path, toNewText(diff));
      return `Created ${path}.`;
    }
    case "update_file": {
      const before = (await workspace.readFile(path, MAX_BYTES)).toString("utf8");
      if (before.includes("\ufffd")) throw wrong(`\`${clip(path, 80)}\` is no text.`);
      await workspace.writeFile(path, patchText(before, diff));
      return `Updated ${path}.`;
    }
    case "delete_file": {
      const { exists, isFolder } = await workspace.locate(path, "write");
      if (!exists) throw new Failure("not_found", `There is no file \`${clip(path, 80)}\`.`);
      if (isFolder) throw wrong(`\`${clip(path, 80)}\` is a folder.`);
      await workspace.remove(path);
      return `Deleted ${path}.`;
    }
  }
}

function wrong(message: string): Failure {
  return new Failure("invalid_request", message);
}
