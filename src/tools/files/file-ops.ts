/** `file_ops`: all work with files in one tool. Changes are returned as a diff. */

import { defineBuiltin, oneOf, optionalText, text } from "../builtin-tool.ts";
import type { Targets, Tool } from "../tool.ts";
import { FILE_OPERATIONS, type FileOperation } from "./file-operations.ts";

const NAMES = Object.keys(FILE_OPERATIONS) as [FileOperation, ...FileOperation[]];

export const fileOpsTool: Tool = defineBuiltin({
  name: "file_ops",
  description:
    "Work with files: read, list, write (create or replace), create (must be new), overwrite (must exist), append, edit (old_text must occur once), create_directory, copy, move, delete (a file or an empty folder). Changes to a text return a unified diff.",
  parameters: {
    operation: oneOf("What to do.", NAMES),
    path: text("The file or folder, relative to the working directory.", { minLength: 1 }),
    to: optionalText("copy, move: the new place, where nothing may be yet."),
    content: optionalText("write, create, overwrite, append: the text."),
    old_text: optionalText("edit: what to replace, exactly as it stands in the file."),
    new_text: optionalText("edit: what to put in its place."),
  },
  readOnly: false,
  effect: "write",
  effectOf: ({ operation }) => (operation === "read" || operation === "list" ? "read" : "write"),
  targets: ({ operation, path, to }) => toTargets(operation, path, to),
  async run(input, { workspace }) {
    const { runFileOperation } = await import("./run-file-operation.ts");
    return runFileOperation(input, workspace);
  },
});

function toTargets(operation: FileOperation, path: string, to: string | undefined): Targets {
  const { touches } = FILE_OPERATIONS[operation];
  const changes = to === undefined || (operation !== "copy" && operation !== "move") ? [] : [to];
  if (touches === "reads") return { reads: [path], writes: changes };
  return { writes: [path, ...changes] };
}
