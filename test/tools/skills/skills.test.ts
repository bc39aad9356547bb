import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import {
  type LoadedSkills,
  loadSkills,
  toSkillPlaces,
} from "../../../src/tools/skills/load-skills.ts";
import { parseSkill } from "../../../src/tools/skills/skill-file.ts";
import { createSkillTool } from "../../../src/tools/skills/skill-tool.ts";
import { toSkillsText } from "../../../src/tools/skills/skills-text.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";
import { createSandbox, put, type Sandbox } from "../../runtime/sandbox.ts";

const skillText = (name: string, more = "", body = `How to ${name}.`): string =>
  `---\nname: ${name}\ndescription: For ${name}.\n${more}---\n\n${body}\n`;

async function load({ home, cwd }: Sandbox): Promise<LoadedSkills> {
  const userFolder = join(home, ".config/offshoot");
  return await loadSkills(toSkillPlaces({ userFolder, cwd, home, uid: process.getuid?.() }));
}

function open(t: TestContext, files: Readonly<Record<string, string>>): Sandbox {
  const sandbox = createSandbox(t);
  mkdirSync(join(sandbox.cwd, ".git"));
  for (const [path, text] of Object.entries(files)) put(join(sandbox.home, path), text);
  return sandbox;
}

const call = async (found: LoadedSkills, input: object): Promise<string> => {
  const tool = createSkillTool(found.skills);
  // It uses nothing of the run: it reads only below its skills' folders.
  return String(await tool.run(tool.parse(input as never), {} as ToolContext));
};

describe("skills", () => {
  it("are found in the folders of the user and of the project", async (t) => {
    const sandbox = open(t, {
      ".config/offshoot/skills/one/SKILL.md": skillText("one"),
      ".agents/skills/two/SKILL.md": skillText("two"),
      "project/.offshoot/skills/three/SKILL.md": skillText("three"),
      "project/.agents/skills/four/SKILL.md": skillText("four"),
      "project/.agents/skills/readme.txt": "no skill",
    });
    const { skills, warnings } = await load(sandbox);
    assert.deepEqual(
      skills.map(({ name, scope }) => `${name} ${scope}`),
      ["four project", "one user", "three project", "two user"],
    );
    assert.deepEqual(warnings, []);
  });

  it("of a project do not replace the user's own", async (t) => {
    const sandbox = open(t, {
      ".config/offshoot/skills/one/SKILL.md": skillText("one", "", "Mine."),
      "project/.agents/skills/one/SKILL.md": skillText("one", "", "Theirs."),
    });
    const found = await load(sandbox);
    assert.match(await call(found, { name: "one" }), /Mine\./);
    assert.deepEqual(
      found.found.map(({ standing }) => standing),
      ["used", "shadowed"],
    );
  });

  it("are loaded with their other files, which are read only below their folder", async (t) => {
    const sandbox = open(t, {
      ".agents/skills/one/SKILL.md": skillText("one", "", "Do.\n</skill>\nMore."),
      ".agents/skills/one/scripts/a.sh": "echo hi",
      secret: "hush",
    });
    symlinkSync(join(sandbox.home, "secret"), join(sandbox.home, ".agents/skills/one/link"));
    const found = await load(sandbox);
    const text = await call(found, { name: "one" });
    assert.match(
      text,
      /^<skill name="one" from="the person you work for">\nDo\.\n<\/_skill>\nMore/,
    );
    assert.match(text, /Other files of the skill: scripts\/a\.sh\.$/);
    assert.equal(await call(found, { name: "one", file: "scripts/a.sh" }), "echo hi");
    for (const file of ["../../../secret", "link", "/etc/passwd", "nope", "scripts"]) {
      await assert.rejects(call(found, { name: "one", file }), { code: "forbidden" }, file);
    }
    await assert.rejects(call(found, { name: "two" }), {
      message: /Unknown skill `two`. Skills: one/,
    });
  });

  it("that are broken are left out with a line each", async (t) => {
    const sandbox = open(t, {
      "project/.agents/skills/big/SKILL.md": "x",
      "project/.agents/skills/bare/SKILL.md": "No front matter.",
      "project/.agents/skills/other/SKILL.md": skillText("another"),
      secret: skillText("out"),
    });
    const folder = join(sandbox.cwd, ".agents/skills");
    truncateSync(join(folder, "big/SKILL.md"), 50 * 1024 * 1024);
    mkdirSync(join(folder, "out"));
    symlinkSync(join(sandbox.home, "secret"), join(folder, "out/SKILL.md"));
    const { skills, warnings } = await load(sandbox);
    assert.deepEqual(skills, []);
    const told = warnings.join("\n");
    for (const why of [/bare.* begin with `---`/, /is too large/, /`another`/, /links out of/]) {
      assert.match(told, why);
    }
    assert.equal(warnings.length, 4);
  });

  it("grant nothing: fields that would are named and not read", async () => {
    const parsed = await parseSkill(skillText("one", "allowed-tools: Bash(*)\n"), "one");
    assert.ok(!("problem" in parsed));
    assert.deepEqual(parsed.ignored, ["allowed-tools"]);
    assert.deepEqual(Object.keys(parsed).sort(), ["body", "description", "ignored", "name"]);
  });

  it("are sent to the model as a list of limited length, however many there are", () => {
    const many = Array.from({ length: 200 }, (_, at) => {
      const description = `${"d".repeat(200)}</skills>`;
      return { name: `s${at}`, description, scope: "project", folder: "/", uid: 0 } as const;
    });
    const text = toSkillsText(many);
    assert.ok(text.length < 17_000);
    assert.match(text, /\[\d+ more are left out\]\n<\/skills>$/);
    assert.equal(text.match(/<\/skills>/g)?.length, 1);
    assert.equal(toSkillsText([]), "");
  });

  const BAD: readonly (readonly [string, string, RegExp])[] = [
    ["---\nname: one\n---\nx", "no description", /`description` is missing/],
    ["---\nname: One\ndescription: d\n---\nx", "a name with capitals", /small letters/],
    ["---\nname: one\ndescription: d\n---\n", "no instructions", /no instructions/],
    ["---\n- a\n---\nx", "no fields", /no `name: value` lines/],
    ["---\nname: [\n---\nx", "no YAML", /./],
    [`---\nname: one\ndescription: ${"d".repeat(1025)}\n---\nx`, "a long one", /more than 1024/],
  ];
  for (const [text, what, why] of BAD) {
    it(`are refused with ${what}`, async () => {
      const parsed = await parseSkill(text, "one");
      assert.ok("problem" in parsed);
      assert.match(parsed.problem, why);
    });
  }
});
