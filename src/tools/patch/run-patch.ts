/** Runs one operation of a patch on the workspace. If it does not match, nothing is changed. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { patchText, toNewText } from "./v4a.ts";

export type PatchType = "update_file" | "create_file" | "delete_file";

export interface PatchOperation {
  readonly type: PatchType;
  readonly path: string;
  readonly diff: string;
}

/** A larger file was not written by hand. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Returns one line that says what was done. */
export async function runPatch(
  workspace: Workspace,
  { type, path, diff }: PatchOperation,
): Promise<string> {
  switch (type) {
    case "create_file": {
      const { exists } = await workspace.locate(path, "write");
      if (exists) throw invalid(`There is a file \`${clip(path, 80)}\` already: use update_file.`);
      await workspace.writeFile(path, toNewText(diff));
      return `Created ${path}.`;
    }
    case "update_file": {
      const before = (await workspace.readFile(path, MAX_BYTES)).toString("utf8");
      if (before.includes("\ufffd")) throw invalid(`\`${clip(path, 80)}\` is not a text file.`);
      await workspace.writeFile(path, patchText(before, diff));
      return `Updated ${path}.`;
    }
    case "delete_file": {
      const { exists, isFolder } = await workspace.locate(path, "write");
      if (!exists) throw new Failure("not_found", `There is no file \`${clip(path, 80)}\`.`);
      if (isFolder) throw invalid(`\`${clip(path, 80)}\` is a folder.`);
      await workspace.remove(path);
      return `Deleted ${path}.`;
    }
  }
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
