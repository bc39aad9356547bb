/**
 * The recipes of docs/clients.md, each unchanged, with the built server: only its address and its key
 * differ. A recipe must print what the page says.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Typed } from "../../e2e/shell.ts";
import { type Lack, programLack, unless } from "../../needs.ts";
import { untilTrue } from "../../patience.ts";
import { type ClientBench, KEY, serveEmbedded, TIMEOUT } from "./client-fixture.ts";
import { createClientFolder, MODULES } from "./client-folder.ts";

// From build/test/clients/e2e/ up to the checkout.
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const ADDRESS = "http://127.0.0.1:8484";
const SHOWN_KEY = "osk_…";

interface Block {
  readonly language: string;
  readonly text: string;
  /** Where in the home it is written, if a comment above it says so. */
  readonly file: string | undefined;
}

interface Recipe {
  readonly client: string;
  /** The files that it needs, and the program, which comes last. */
  readonly blocks: readonly Block[];
  readonly prints: string;
}

const page = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
const [intro = "", ...sections] = page.split(/^## /m);
const variables = blocksOf(intro).find(({ language }) => language === "sh")?.text ?? "";
const recipes = sections.map(toRecipe);

/** Programs that are not installed with the tests. */
const OTHERS: ReadonlySet<string> = new Set(["claude", "pi", "opencode"]);

describe("the recipes of docs/clients.md", () => {
  let bench: ClientBench | undefined;
  before(async () => {
    bench = await serveEmbedded();
  });
  after(() => bench?.[Symbol.asyncDispose]());

  it("the recipes of docs/clients.md cover every client", () => {
    const links = [...intro.matchAll(/^\| \[([^\]]+)\]/gm)].map(([, client = ""]) => client);
    assert.deepEqual(
      recipes.map(({ client }) => client.replace("AI SDK with ", "")),
      links,
    );
    assert.equal(links.length, 13);
  });

  for (const recipe of recipes) {
    const [name, options] = unless(lackOf(recipe))(`${recipe.client} prints what the page says`);
    it(name, { ...TIMEOUT, ...options }, async () => {
      const { served } = bench ?? assert.fail();
      const asked = served.lines().length;
      const { code, stdout, stderr } = await cook(recipe, served.url);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, recipe.prints, stderr);
      await untilTrue(() => served.lines().length > asked, "the server's note of the request");
    });
  }

  it(...unless(programLack("python3"))("openai for Python is a program of Python"), () => {
    const { blocks } = recipes.find(({ client }) => client.includes("Python")) ?? assert.fail();
    const check = "import ast, sys; ast.parse(sys.stdin.read())";
    const { status, stderr } = spawnSync("python3", ["-c", check], {
      input: blocks.at(-1)?.text ?? assert.fail(),
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
  });
});

function blocksOf(text: string): Block[] {
  const blocks = text.matchAll(/^(?:<!-- file ~\/(\S+) -->\n)?```(\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, file, language = "", code = ""]) => ({ language, text: code, file }));
}

function toRecipe(section: string): Recipe {
  const [client = ""] = section.split("\n", 1);
  const blocks = blocksOf(section);
  const printed = blocks.at(-1);
  assert.equal(printed?.language, "text", `${client}: the last block is what is printed`);
  return { client, blocks: blocks.slice(0, -1), prints: printed.text };
}

/** What the recipe needs and this machine does not have. */
function lackOf({ blocks }: Recipe): Lack {
  const { language, text } = blocks.at(-1) ?? assert.fail();
  if (language === "js") {
    const names = [...text.matchAll(/ from "((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = ""]) => name);
    const missing = names.find((name) => !existsSync(join(MODULES, name)));
    return missing && `${missing} is not among the clients that are installed`;
  }
  if (language === "python") {
    const found = spawnSync("python3", ["-c", "import openai"], { stdio: "ignore" });
    return found.status === 0 ? undefined : "the openai package for Python is not installed";
  }
  const [last = ""] = text.trim().split("\n").slice(-1);
  const [program = ""] = last.split(" ", 1);
  if (program === "codex") return programLack("git");
  return OTHERS.has(program) ? programLack(program) : programLack("curl", "grep");
}

const PROGRAMS: Readonly<Record<string, { readonly file: string; readonly command: string }>> = {
  sh: { file: "recipe.sh", command: ". ./recipe.sh" },
  js: { file: "recipe.mjs", command: `'${process.execPath}' recipe.mjs` },
  python: { file: "recipe.py", command: "python3 recipe.py" },
};

/** Runs it in a shell that has set the page's variables. */
async function cook({ blocks }: Recipe, url: string): Promise<Typed> {
  const here = (text: string): string => text.replaceAll(ADDRESS, url).replaceAll(SHOWN_KEY, KEY);
  await using folder = await createClientFolder();
  let command = "";
  for (const { language, text, file } of blocks) {
    const program = PROGRAMS[language];
    const path = program ? join(folder.cwd, program.file) : join(folder.home, file ?? fileOf(text));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, here(text));
    command = program?.command ?? "";
  }
  return await folder.run(`${here(variables)}\n${command}`);
}

/** A file begins with a comment with its path. */
function fileOf(text: string): string {
  return /^# ~\/(\S+)$/m.exec(text)?.[1] ?? assert.fail(`no file is named in ${text}`);
}
