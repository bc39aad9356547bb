/** `apply_patch`: creates one file of the workspace, changes it by a diff, or deletes it. */

import { defineBuiltin, oneOf, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import type { PatchType } from "./run-patch.ts";

export const PATCH_TYPES = [
  "update_file",
  "create_file",
  "delete_file",
] as const satisfies readonly PatchType[];

export const applyPatchTool: Tool = defineBuiltin({
  name: "apply_patch",
  description:
    "Creates, changes or deletes one file. A diff has lines that begin with a space (context), - (removed) or + (added); a line that begins with @@ starts the next place, and may name a line above it. To create a file, begin each line with +.",
  parameters: {
    type: oneOf("What to do.", PATCH_TYPES),
    path: text("The file, relative to the working directory.", { minLength: 1 }),
    diff: text("The diff; nothing to delete a file.", { default: "" }),
  },
  readOnly: false,
  effect: "write",
  targets: ({ type, path }) =>
    type === "update_file" ? { reads: [path], writes: [path] } : { writes: [path] },
  async run({ type, path, diff }, { workspace }) {
    const { runPatch } = await import("./run-patch.ts");
    return await runPatch(workspace, { type, path, diff });
  },
});
