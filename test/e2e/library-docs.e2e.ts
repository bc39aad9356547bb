/** docs/library.md: each program on it fits the package's own types, and prints what the page says. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const page = await readFile(join(ROOT, "docs/library.md"), "utf8");
const programs = readPrograms(page);

/** As strict as a reader may configure it, with the package's own types. */
const PROJECT = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023"],
    types: ["node"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    rootDir: ".",
    outDir: "js",
  },
  include: ["*.ts"],
};

interface Program {
  /** The heading above it. */
  readonly title: string;
  readonly code: string;
  readonly printed: string;
}

function readPrograms(text: string): Program[] {
  return text.split(/^## /m).flatMap((section) => {
    const [title = ""] = section.split("\n", 1);
    const found = section.matchAll(/```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g);
    return [...found].map(([, code = "", printed = ""]) => ({ title, code, printed }));
  });
}

describe("docs/library.md", () => {
  /** Inside the package, so that `offshoot` is what an installation would have. */
  let folder = "";
  before(async () => {
    await mkdir(join(ROOT, "build"), { recursive: true });
    folder = await mkdtemp(join(ROOT, "build/library-page-"));
    for (const [at, { code }] of programs.entries()) {
      await writeFile(join(folder, `${at}.ts`), code);
    }
  });
  after(() => rm(folder, { recursive: true }));

  it("has a program and its output for every block of code", () => {
    assert.ok(programs.length > 10);
    assert.equal(programs.length, page.match(/^```ts$/gm)?.length);
  });

  it("has programs that fit the types", async () => {
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(PROJECT));
    assert.equal(await compile(), "");
  });

  for (const [at, { title, printed }] of programs.entries()) {
    it(`prints what the page says: ${title} (${at})`, async () => {
      const cwd = await mkdtemp(join(tmpdir(), "offshoot-library-"));
      try {
        await writeFile(join(cwd, "package.json"), '{ "name": "garden", "private": true }\n');
        const env = { HOME: cwd, PATH: process.env["PATH"] };
        const program = join(folder, "js", `${at}.js`);
        const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd, env });
        assert.equal(stdout, printed);
      } finally {
        await rm(cwd, { recursive: true });
      }
    });
  }

  /** The compiler's output; empty if there are no errors. */
  async function compile(): Promise<string> {
    const tsc = join(ROOT, "tooling/node_modules/typescript/bin/tsc");
    const run = promisify(execFile)(process.execPath, [tsc, "-p", folder], { cwd: ROOT });
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    return stdout;
  }
});

const PRINTED: Readonly<Record<string, RegExp>> = {
  "own-tool": /Oslo: 7 °C, rain\n$/,
  "scripted-model": /^Hello from the script\.\n$/,
};

describe("the examples that the page names", () => {
  const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = block.trim().split("\n");

  it("are compiled first", () => {
    // The tests that run were compiled by this.
    assert.equal(lines[0], "node scripts/compile.js");
    assert.equal(lines.length, 3);
  });

  for (const line of lines.slice(1)) {
    it(`print something: ${line}`, async () => {
      const [, program = "", words = ""] =
        /^node build\/examples\/([\w-]+)\.js ?(.*)$/.exec(line) ?? [];
      const file = join(ROOT, `build/examples/${program}.js`);
      const args = words === "" ? [] : words.split(" ");
      const env = { PATH: process.env["PATH"] };
      const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { env });
      assert.match(stdout, PRINTED[program] ?? assert.fail(program));
      assert.ok(page.includes(`examples/${program}.ts`), "is linked");
    });
  }
});
