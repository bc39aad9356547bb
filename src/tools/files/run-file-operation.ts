/** Implements `file_ops`, one function for each operation. */

import { Failure } from "../../base/failure.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { FILE_OPERATIONS, type FileOperation } from "./file-operations.ts";
import { MAX_TEXT_BYTES, readExactText, readIfThere, readText, replaceOnce } from "./text-file.ts";
import { toUnifiedDiff } from "./unified-diff.ts";

interface OperationInput {
  readonly operation: FileOperation;
  readonly path: string;
  readonly to: string | undefined;
  readonly content: string | undefined;
  readonly old_text: string | undefined;
  readonly new_text: string | undefined;
}

/** The arguments of an operation, which `checkNeeds` has checked. */
type Ready = { readonly [Name in keyof OperationInput]: string };
type Run = (input: Ready, workspace: Workspace) => Promise<string>;

export async function runFileOperation(
  input: OperationInput,
  workspace: Workspace,
): Promise<string> {
  checkNeeds(input);
  const { to = "", content = "", old_text = "", new_text = "" } = input;
  const ready = { ...input, to, content, old_text, new_text };
  return RUNS[input.operation](ready, workspace);
}

function checkNeeds(input: OperationInput): void {
  const { operation } = input;
  const missing = FILE_OPERATIONS[operation].needs.filter((name) => input[name] === undefined);
  if (missing.length === 0) return;
  const message = `The operation \`${operation}\` needs ${missing.join(" and ")}.`;
  throw new Failure("invalid_request", message);
}

const RUNS: Readonly<Record<FileOperation, Run>> = {
  async read({ path }, workspace) {
    return (await readText(workspace, path, MAX_TEXT_BYTES)) || "(empty file)";
  },
  async list({ path }, workspace) {
    return (await workspace.list(path)).join("\n") || "(empty folder)";
  },
  async write({ path, content }, workspace) {
    return change(workspace, path, { old: await readOld(workspace, path), content });
  },
  async create({ path, content }, workspace) {
    if ((await workspace.locate(path, "write")).exists) throw present(path);
    return change(workspace, path, { old: undefined, content });
  },
  async overwrite({ path, content }, workspace) {
    const old = await readExactText(workspace, path, MAX_TEXT_BYTES);
    return change(workspace, path, { old, content });
  },
  async append({ path, content }, workspace) {
    const old = await readOld(workspace, path);
    return change(workspace, path, { old, content: (old ?? "") + content });
  },
  async edit({ path, old_text, new_text }, workspace) {
    if (old_text === "") throw new Failure("invalid_request", "old_text must not be empty.");
    const old = await readExactText(workspace, path, MAX_TEXT_BYTES);
    const { content } = replaceOnce(old, { path, before: old_text, after: new_text });
    return change(workspace, path, { old, content });
  },
  async create_directory({ path }, workspace) {
    await workspace.makeFolder(path);
    return `Created ${path}`;
  },
  async copy({ path, to }, workspace) {
    const bytes = await workspace.readFile(path, MAX_TEXT_BYTES);
    if ((await workspace.locate(to, "write")).exists) throw present(to);
    await workspace.writeFile(to, bytes);
    return `Copied ${path} to ${to}`;
  },
  async move({ path, to }, workspace) {
    await workspace.move(path, to);
    return `Moved ${path} to ${to}`;
  },
  async delete({ path }, workspace) {
    await workspace.remove(path);
    return `Deleted ${path}`;
  },
};

function readOld(workspace: Workspace, path: string): Promise<string | undefined> {
  return readIfThere(workspace, path, () => readExactText(workspace, path, MAX_TEXT_BYTES));
}

interface Contents {
  readonly old: string | undefined;
  readonly content: string;
}

async function change(
  workspace: Workspace,
  path: string,
  { old, content }: Contents,
): Promise<string> {
  await workspace.writeFile(path, content);
  if (old === undefined && content === "") return `Created ${path}`;
  return toUnifiedDiff(path, old ?? "", content) || `Nothing changed in ${path}`;
}

function present(path: string): Failure {
  return new Failure("invalid_request", `There is something already: ${path}`);
}
