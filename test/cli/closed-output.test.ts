import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isOutputClosed, type ProcessFiles } from "../../src/cli/closed-output.ts";

const OURS = {
  "self/fd/1": "/dev/null",
  "self/fdinfo/1": "pos:\t0\nflags:\t02100002\nmnt_id:\t24\n",
};
const SHELL = { "7/comm": "bash\n", "7/fd": "" };

/** `/proc` with these links and files; what is undefined may not be looked at. */
function toFiles(files: Readonly<Record<string, string | undefined>>): ProcessFiles {
  const read = (path: string): string => {
    if (path in files && files[path] === undefined)
      throw Object.assign(new Error(), { code: "EACCES" });
    return files[path] ?? missing();
  };
  return { parentId: 7, readLink: read, readText: read };
}

function missing(): never {
  throw Object.assign(new Error("not there"), { code: "ENOENT" });
}

describe("a standard output that was closed", () => {
  const closed: Readonly<Record<string, Record<string, string | undefined>>> = {
    "of a command of a shell": { ...OURS, ...SHELL, "7/fd/1": "/dev/pts/1" },
    "of a command of a shell in a pipe": { ...OURS, ...SHELL, "7/fd/1": "pipe:[12]" },
    "of the parent too": { ...OURS, "7/comm": "timeout\n", "7/fd/0": "/dev/pts/1" },
  };
  for (const [what, files] of Object.entries(closed)) {
    it(`is seen ${what}`, () => assert.ok(isOutputClosed(toFiles(files))));
  }

  const open: Readonly<Record<string, Record<string, string | undefined>>> = {
    "a file": { ...OURS, ...SHELL, "self/fd/1": "/tmp/out", "7/fd/1": "/dev/pts/1" },
    "/dev/null for writing": {
      ...OURS,
      ...SHELL,
      "7/fd/1": "/dev/pts/1",
      "self/fdinfo/1": "pos:\t0\nflags:\t02100001\n",
    },
    "/dev/null of a program that wants no output": {
      ...OURS,
      "7/comm": "python3\n",
      "7/fd/0": "x",
      "7/fd/1": "pipe:[12]",
    },
    "/dev/null of the shell itself": { ...OURS, ...SHELL, "7/fd/1": "/dev/null" },
    "/dev/null of a parent that may not be looked at": {
      ...OURS,
      "7/comm": "sudo\n",
      "7/fd/0": undefined,
      "7/fd/1": undefined,
    },
    "anything where there is no /proc": {},
  };
  for (const [what, files] of Object.entries(open)) {
    it(`is not seen ${what}`, () => assert.ok(!isOutputClosed(toFiles(files))));
  }

  it("is not seen in a process whose parent is gone", () => {
    const files = toFiles({ ...OURS, "1/comm": "sh\n", "1/fd/1": "pipe:[1]" });
    assert.ok(!isOutputClosed({ ...files, parentId: 1 }));
  });
});
