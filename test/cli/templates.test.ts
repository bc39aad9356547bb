import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { readUserMessage } from "../../src/cli/input.ts";
import { main } from "../../src/cli/main.ts";
import { findTemplate } from "../../src/cli/open-templates.ts";
import {
  fillTemplate,
  parseTemplate,
  parseVariables,
  type Template,
} from "../../src/cli/templates/template.ts";
import { createFakeIo, type FakeIo } from "./fake-io.ts";

const REVIEW = `---
description: Review a file
model: openai/gpt-5.1
variables:
  language: English
  focus:
---
Review {{input}} for {{ focus }}, in {{language}}. {{notclosed} {{ }}
`;

async function parse(text: string): Promise<Template> {
  const parsed = await parseTemplate("review", text);
  assert.ok(!("problem" in parsed), JSON.stringify(parsed));
  return parsed;
}

/** `files` by their paths below the home folder, in which the project is `work`. */
async function place(t: TestContext, files: Readonly<Record<string, string>>): Promise<FakeIo> {
  const home = await mkdtemp(join(tmpdir(), "offshoot-templates-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const cwd = join(home, "work");
  await mkdir(cwd);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  return createFakeIo({ home, cwd, env: { OFFSHOOT_PROBE_LOCAL: "false" } });
}

const USER = ".config/offshoot/templates";
const PROJECT = "work/.offshoot/templates";

describe("a template", () => {
  it("is filled with its variables and the input", async () => {
    const template = await parse(REVIEW);
    const given = parseVariables(["focus=speed={{language}}"]);
    assert.equal(
      fillTemplate(template, given, "a {{focus}} file"),
      "Review a {{focus}} file for speed={{language}}, in English. {{notclosed} {{ }}",
    );
  });

  it("gets the input after its text if it has no place for it", async () => {
    assert.equal(fillTemplate(await parse("Be brief."), new Map(), "Hello"), "Be brief.\n\nHello");
    assert.equal(fillTemplate(await parse("Be brief."), new Map(), ""), "Be brief.");
  });

  it("refuses a variable that it does not have, and one that is missing, naming those that exist", async () => {
    const template = await parse(REVIEW);
    assert.throws(() => fillTemplate(template, new Map([["lang", "x"]]), ""), {
      message: "The template `review` has no variable `lang`. It has: focus, language.",
    });
    assert.throws(() => fillTemplate(template, new Map(), ""), {
      message: "The template `review` needs focus. Give --var focus=…. It has: focus, language.",
    });
    assert.throws(() => parseVariables(["focus"]), { message: /Write --var NAME=VALUE\./ });
  });

  const broken: readonly [text: string, problem: RegExp][] = [
    ["---\ndescription: x\nno end", /has no second line/],
    [
      "---\ntools: [shell]\n---\nx",
      /has the field `tools`\. There are: description, model, variables/,
    ],
    ["---\nvariables: 3\n---\nx", /has `variables` that are not/],
    ["---\nvariables: {input: x}\n---\nx", /has a variable `input` that cannot be one/],
    ["---\na: [\n---\nx", /has a head that cannot be read/],
    ["  \n", /has no text/],
  ];
  for (const [text, problem] of broken) {
    it(`is broken: ${JSON.stringify(text)}`, async () => {
      const parsed = await parseTemplate("review", text);
      assert.match("problem" in parsed ? parsed.problem : "", problem);
    });
  }
});

describe("templates as files", () => {
  it("of the user may name a model, those of a project may not until they are trusted", async (t) => {
    const io = await place(t, { [`${USER}/mine.md`]: REVIEW, [`${PROJECT}/theirs.md`]: REVIEW });
    const mine = await findTemplate({ template: "mine" }, io);
    assert.equal(mine?.layer?.settings.get("model"), "openai/gpt-5.1");
    const theirs = await findTemplate({ template: "theirs" }, io);
    assert.equal(theirs?.layer, undefined);
    assert.match(theirs?.warnings[0] ?? "", /is not trusted, so its `model` is ignored/);
    assert.equal(await main(["templates", "trust", "theirs"], io), 0);
    const trusted = await findTemplate({ template: "theirs" }, io);
    assert.equal(trusted?.layer?.settings.get("model"), "openai/gpt-5.1");
    await writeFile(join(io.home, PROJECT, "theirs.md"), REVIEW.replace("openai", "evil"));
    assert.equal((await findTemplate({ template: "theirs" }, io))?.layer, undefined);
  });

  it("of the user win over those of a project", async (t) => {
    const io = await place(t, {
      [`${USER}/review.md`]: "Mine.",
      [`${PROJECT}/review.md`]: "Theirs.",
    });
    assert.equal((await findTemplate({ template: "review" }, io))?.fill(""), "Mine.");
    assert.equal(await main(["templates", "list"], io), 0);
    assert.match(io.written.stdout, /review +project +.*another one of this name is used/);
  });

  it("that are unknown or broken are refused in one line that names those that exist", async (t) => {
    const io = await place(t, { [`${USER}/review.md`]: "x", [`${USER}/bad.md`]: "---\n" });
    await assert.rejects(findTemplate({ template: "reveiw" }, io), {
      message: "Unknown template `reveiw`. Did you mean `review`? Available: bad, review.",
    });
    await assert.rejects(findTemplate({ template: "bad" }, io), {
      message: /bad\.md has no second/,
    });
    await assert.rejects(findTemplate({ var: ["a=b"] }, io), { message: /give -t NAME too/ });
  });

  it("are made by `new`, once, and shown", async (t) => {
    const io = await place(t, {});
    assert.equal(await main(["templates", "new", "review"], io), 0);
    assert.equal(await main(["templates", "new", "review"], io), 2);
    assert.match(io.written.stderr, /review\.md exists already\./);
    assert.equal(await main(["templates", "show", "review"], io), 0);
    assert.match(io.written.stdout, /^variables +language \(English\)$/m);
    assert.equal(await main(["completions", "words", "templates"], io), 0);
    assert.match(io.written.stdout, /^review$/m);
  });
});

describe("a prompt with a template", () => {
  const template = {
    name: "review",
    needsInput: true,
    fill: (input: string) => `Review ${input}.`,
  };

  it("has the words and what is piped in its place, and the files before it", async (t) => {
    const io = await place(t, { "work/a.txt": "alpha" });
    const piped = {
      ...io,
      stdin: { ...io.stdin, isPiped: true, readAll: async () => Buffer.from("piped") },
    };
    const message = await readUserMessage(
      { words: ["these", "@a.txt"], files: [], template },
      piped,
    );
    const [part] = message.content as { text: string }[];
    assert.equal(part?.text, "--- a.txt ---\nalpha\n\n---\n\nReview these\n\npiped.");
  });

  it("names the files if nothing else is given", async (t) => {
    const io = await place(t, { "work/a.txt": "alpha" });
    const message = await readUserMessage({ words: ["@a.txt"], files: [], template }, io);
    assert.match(JSON.stringify(message.content), /Review a\.txt\./);
  });

  it("is refused if it needs an input and there is none", async (t) => {
    const io = await place(t, {});
    await assert.rejects(readUserMessage({ words: [], files: [], template }, io), {
      message: /The template `review` needs an input/,
    });
  });
});
