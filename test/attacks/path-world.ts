/** The folders for path attacks, and the columns of their table. */

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tool } from "../../src/tools/tool.ts";

export const MARKER = "MARKER-of-what-must-not-be-seen";

export interface PathRow {
  readonly name: string;
  /** A program that `setUp` starts. */
  readonly needs?: string;
  /** Creates what the call needs, in a workspace of `makeSurroundings`. */
  setUp?(root: string): void;
  /** Done between the check of a path and its use, once. */
  swap?(root: string): void;
  readonly tool: Tool;
  readonly input: object | ((root: string) => object);
  /** The code of its refusal. With `nothing` it answers, and shows nothing protected. */
  readonly outcome: "forbidden" | "not_found" | "invalid_request" | "nothing";
}

/** The workspace, and its neighbour, which must not change. */
export function makeSurroundings(root: string): void {
  const outside = join(dirname(root), "outside");
  mkdirSync(join(outside, "folder"), { recursive: true });
  writeFileSync(join(outside, "secret.txt"), `${MARKER}\n`);
  writeFileSync(join(outside, "folder/inner.txt"), `${MARKER}\n`);
  for (const path of PROTECTED_FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${MARKER}\n`);
  }
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "export const a = 1;\n");
}

const PROTECTED_FILES = [".git/config", ".offshoot/config.yaml", ".ssh/id_rsa", "lib/.svn/entries"];

export const link =
  (target: string, path: string) =>
  (root: string): void =>
    symlinkSync(target, join(root, path));
