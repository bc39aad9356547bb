/** An `Io` that keeps what is written, over folders of a test's own. */

import type { Io } from "../../src/cli/io.ts";

export interface FakeIo extends Io {
  readonly written: { stdout: string; stderr: string };
}

export function createFakeIo(
  parts: Partial<Pick<Io, "env" | "cwd" | "home" | "stdin" | "openTerminal">> = {},
): FakeIo {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): Io["stdout"] => ({
    isTerminal: false,
    columns: 80,
    write: (text) => {
      written[name] += text;
    },
  });
  return {
    env: {},
    cwd: "/nowhere/project",
    home: "/nowhere",
    stdin: { isTerminal: true, isPiped: false, readAll: async () => Buffer.alloc(0) },
    openTerminal: () => undefined,
    openKeys: () => undefined,
    ...parts,
    stdout: output("stdout"),
    stderr: output("stderr"),
    onInterrupt: () => () => {},
    onReaderGone: () => () => {},
    leave: (exitCode) => {
      throw new Error(`left with ${exitCode}`);
    },
    written,
  };
}
