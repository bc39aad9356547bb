import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { bashFindTool } from "../../../src/tools/files/bash-find.ts";
import { createWorkspaceFolder, toContext, type WorkspaceFolder } from "../workspace-folder.ts";

interface Page {
  readonly results: readonly string[];
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly has_more: boolean;
  readonly returned: number;
}

async function find(folder: WorkspaceFolder, input: object = {}): Promise<Page> {
  const { output, failed } = await folder.call(bashFindTool, input);
  assert.ok(!failed, output);
  return JSON.parse(output) as Page;
}

async function results(folder: WorkspaceFolder, input: object): Promise<readonly string[]> {
  return (await find(folder, input)).results;
}

/** The same small project for every case, which changes nothing in it. */
const PROJECT = {
  "README.md": "",
  ".env": "",
  ".hidden/x.ts": "",
  "src/main.ts": "",
  "src/app/main.test.ts": "",
  "src/app/view.tsx": "",
  "src/app/deep/er/leaf.ts": "",
  "docs/main notes.md": "",
  "build/out.ts": "",
  ".ignore": "build/\n",
};

const ALL = [
  "README.md",
  "docs/main notes.md",
  "src/app/deep/er/leaf.ts",
  "src/app/main.test.ts",
  "src/app/view.tsx",
  "src/main.ts",
];
const FOLDERS = ["docs", "src", "src/app", "src/app/deep", "src/app/deep/er"];

describe("bash_find", () => {
  const cases: readonly [name: string, input: object, found: readonly string[]][] = [
    ["lists all files, sorted", {}, ALL],
    [
      "a glob matches the name",
      { name: "*.ts" },
      ["src/app/deep/er/leaf.ts", "src/app/main.test.ts", "src/main.ts"],
    ],
    [
      "a question mark is one character",
      { name: "????.ts" },
      ["src/app/deep/er/leaf.ts", "src/main.ts"],
    ],
    [
      "braces are either",
      { name: "*.{tsx,md}" },
      ["README.md", "docs/main notes.md", "src/app/view.tsx"],
    ],
    [
      "plain text matches a part of the name",
      { name: "main" },
      ["docs/main notes.md", "src/app/main.test.ts", "src/main.ts"],
    ],
    ["plain text does not match a folder above", { name: "app" }, []],
    ["a glob with a slash matches the path", { name: "src/*.ts" }, ["src/main.ts"]],
    [
      "two stars match any depth",
      { name: "src/**/*.ts" },
      ["src/app/deep/er/leaf.ts", "src/app/main.test.ts", "src/main.ts"],
    ],
    ["a part with a slash matches the path", { name: "app/main" }, ["src/app/main.test.ts"]],
    [
      "looks below a folder, paths from the workspace",
      { path: "src/app", name: "*.ts*" },
      ["src/app/deep/er/leaf.ts", "src/app/main.test.ts", "src/app/view.tsx"],
    ],
    ["`f` means files", { type_filter: "f", name: "*.md" }, ["README.md", "docs/main notes.md"]],
    ["`d` means folders", { type_filter: "d" }, FOLDERS],
    ["folders by a part of their name", { type_filter: "d", name: "de" }, ["src/app/deep"]],
    ["nothing is found", { name: "*.rs" }, []],
    [
      "hidden files when asked for",
      { extra_args: "--hidden", name: "*.ts", path: ".hidden" },
      [".hidden/x.ts"],
    ],
    ["ignored files when asked for", { extra_args: "--no-ignore", name: "out" }, ["build/out.ts"]],
    ["a depth", { extra_args: "--max-depth 1" }, ["README.md"]],
    [
      "a depth after an equals sign",
      { extra_args: "--max-depth=2", name: "*.ts" },
      ["src/main.ts"],
    ],
    ["a glob in quotes", { extra_args: "-g '*.tsx'" }, ["src/app/view.tsx"]],
    ["a glob that excludes", { extra_args: '-g "!src"' }, ["README.md", "docs/main notes.md"]],
    ["a kind of file", { extra_args: "--type md" }, ["README.md", "docs/main notes.md"]],
    [
      "several flags",
      { extra_args: "--hidden --no-ignore -g *.ts -d 2" },
      [".hidden/x.ts", "build/out.ts", "src/main.ts"],
    ],
  ];
  for (const [name, input, found] of cases) {
    it(`finds by name: ${name}`, async () => {
      using folder = createWorkspaceFolder(PROJECT);
      assert.deepEqual(await results(folder, input), found);
    });
  }

  it("hides what `.gitignore` hides, if there is a repository", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "", "b.log": "", ".gitignore": "*.log\n" });
    assert.deepEqual(await results(folder, {}), ["a.ts", "b.log"]);
    mkdirSync(join(folder.root, ".git"));
    assert.deepEqual(await results(folder, {}), ["a.ts"]);
  });

  it("keeps an equals sign in a value", async () => {
    using folder = createWorkspaceFolder({ "a=b=c": "", a: "" });
    assert.deepEqual(await results(folder, { extra_args: "--glob=a=b=c" }), ["a=b=c"]);
  });

  it("does not follow links", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "" });
    symlinkSync("/etc", join(folder.root, "out"));
    assert.deepEqual(await results(folder, {}), ["a.ts"]);
  });

  it("accepts a workspace that is itself a link", async () => {
    using folder = createWorkspaceFolder({ "src/a.ts": "" });
    const link = join(dirname(folder.root), "link");
    symlinkSync(folder.root, link);
    const page = (await bashFindTool.run(
      bashFindTool.parse({ path: "src" }),
      await toContext(link),
    )) as unknown as Page;
    assert.deepEqual(page.results, ["src/a.ts"]);
  });

  const pages: readonly [name: string, input: object, page: Page][] = [
    [
      "the first page",
      { limit: 2 },
      { results: ["f0", "f1"], total: 5, offset: 0, limit: 2, has_more: true, returned: 2 },
    ],
    [
      "a page in the middle",
      { limit: 2, offset: 2 },
      { results: ["f2", "f3"], total: 5, offset: 2, limit: 2, has_more: true, returned: 2 },
    ],
    [
      "the last page",
      { limit: 2, offset: 4 },
      { results: ["f4"], total: 5, offset: 4, limit: 2, has_more: false, returned: 1 },
    ],
    [
      "a page that ends with the list",
      { limit: 5 },
      {
        results: ["f0", "f1", "f2", "f3", "f4"],
        total: 5,
        offset: 0,
        limit: 5,
        has_more: false,
        returned: 5,
      },
    ],
    [
      "a page after the last",
      { offset: 9 },
      { results: [], total: 5, offset: 9, limit: 20, has_more: false, returned: 0 },
    ],
    [
      "no limit",
      { limit: 0, offset: 1 },
      {
        results: ["f1", "f2", "f3", "f4"],
        total: 5,
        offset: 1,
        limit: 0,
        has_more: false,
        returned: 4,
      },
    ],
    [
      "an empty list",
      { name: "x" },
      { results: [], total: 0, offset: 0, limit: 20, has_more: false, returned: 0 },
    ],
  ];
  for (const [name, input, page] of pages) {
    it(`counts on every page: ${name}`, async () => {
      using folder = createWorkspaceFolder({ f0: "", f1: "", f2: "", f3: "", f4: "" });
      assert.deepEqual(await find(folder, input), page);
    });
  }

  it("returns 20 results by default", async () => {
    const files = Array.from({ length: 25 }, (_, at) => [`f${at}`, ""] as const);
    using folder = createWorkspaceFolder(Object.fromEntries(files));
    const { returned, limit, total } = await find(folder);
    assert.deepEqual([returned, limit, total], [20, 20, 25]);
  });

  const refused = [
    "--pre ./evil",
    "--pre=./evil",
    "--hostname-bin x",
    "--search-zip",
    "-z",
    "--follow",
    "-L",
    "--ignore-file /etc/passwd",
    "--ignore-file=/etc/passwd",
    "--type-add x:include:y",
    "-f /etc/passwd",
    "--",
    "/etc",
    "../",
    "--hidden=x",
    "'--pre' x",
  ];
  for (const extra_args of refused) {
    it(`starts nothing with an unknown flag: ${extra_args}`, async () => {
      using folder = createWorkspaceFolder({ "a.ts": "" });
      const { output, thrown } = await folder.call(bashFindTool, { extra_args });
      assert.match(output, /^Error: `.+` is not allowed in extra_args\.$/);
      assert.equal(thrown, false);
    });
  }

  it("takes the word after a flag for its value, not for a flag", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "", "--pre": "" });
    assert.deepEqual(await results(folder, { extra_args: "-g --pre" }), ["--pre"]);
  });

  it("asks for the value that a flag needs", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "" });
    const { output } = await folder.call(bashFindTool, { extra_args: "--hidden -g" });
    assert.equal(output, "Error: `-g` in extra_args needs a value.");
  });

  it("reports an invalid value", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "" });
    const { output, thrown } = await folder.call(bashFindTool, { extra_args: "-t nonsense" });
    assert.match(output, /^Error: Command failed: .*nonsense/);
    assert.equal(thrown, false);
  });

  for (const path of ["..", "/etc", "no/such"]) {
    it(`refuses a folder outside or missing: ${path}`, async () => {
      using folder = createWorkspaceFolder({ "a.ts": "" });
      const { output } = await folder.call(bashFindTool, { path });
      assert.match(output, /^Error: (Path outside CWD not allowed|File not found): /);
    });
  }

  it("stops if the run is cancelled", async () => {
    using folder = createWorkspaceFolder({ "a.ts": "" });
    const control = new AbortController();
    const running = bashFindTool.run(
      bashFindTool.parse({}),
      await toContext(folder.root, control.signal),
    );
    control.abort();
    await assert.rejects(running, { code: "cancelled" });
  });
});
