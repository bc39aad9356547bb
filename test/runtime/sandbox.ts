/** A home and a project in a folder of their own, removed when the test ends. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

export interface Sandbox {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly userFile: string;
  readonly projectFile: string;
  readonly trustFile: string;
}

export function createSandbox(t: TestContext): Sandbox {
  const home = mkdtempSync(join(tmpdir(), "offshoot-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  return {
    home,
    cwd,
    env: {},
    userFile: join(home, ".config/offshoot/config.yaml"),
    projectFile: join(cwd, ".offshoot/config.yaml"),
    trustFile: join(home, ".local/share/offshoot/trusted.json"),
  };
}

export function put(file: string, text: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
