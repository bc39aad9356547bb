/** `offshoot skills`: the skills that runs may load, of the user and of the project. */

import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip, nearest, plural } from "../../base/text.ts";
import type { FoundSkill } from "../../tools/skills/load-skills.ts";
import { SKILL_FILE } from "../../tools/skills/skill.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openSkills } from "../open-skills.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  const [action = "list", name, extra] = words;
  const { found } = await openSkills(io);
  const isJson = options["json"] === true;
  if (extra !== undefined || (action !== "show" && name !== undefined)) {
    const word = extra ?? name ?? "";
    throw new Failure(
      "invalid_request",
      `\`skills ${action}\` does not take \`${clip(word, 60)}\`.`,
    );
  }
  if (action === "check") return await check(found, { io, isJson });
  if (action === "show") return await show(findSkill(found, name), { io, isJson });
  return await list(found, { io, isJson });
};

interface Shown {
  readonly io: Io;
  readonly isJson: boolean;
}

const STANDINGS = {
  used: "",
  shadowed: "another one of this name is used",
  broken: "broken",
} as const;

async function list(found: readonly FoundSkill[], { io, isJson }: Shown): Promise<number> {
  if (isJson) return await printJson(io, found.map(toShown));
  if (found.length === 0) {
    await io.stderr.write(
      "No skills yet. A skill is a folder with a SKILL.md, such as .agents/skills/NAME/SKILL.md here or in your home folder.\n",
    );
  }
  const width = Math.max(0, ...found.map(({ name }) => name.length));
  for (const { name, scope, standing, skill, problem } of found) {
    const mark = STANDINGS[standing] === "" ? "" : ` (${STANDINGS[standing]})`;
    const text = clip(skill?.description ?? problem, 100);
    await io.stdout.write(
      `${toOneLine(`${name.padEnd(width)}  ${scope.padEnd(7)}  ${text}${mark}`)}\n`,
    );
  }
  return 0;
}

function findSkill(found: readonly FoundSkill[], name: string | undefined): FoundSkill {
  if (name === undefined)
    throw new Failure("invalid_request", "Write `offshoot skills show NAME`.");
  const named = found.filter((one) => one.name === name);
  const best = named.find(({ standing }) => standing === "used") ?? named[0];
  if (best) return best;
  const near = nearest(
    name,
    found.map((one) => one.name),
  );
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  throw new Failure("not_found", `Unknown skill \`${clip(name, 64)}\`.${hint}`);
}

async function show(one: FoundSkill, { io, isJson }: Shown): Promise<number> {
  if (isJson) return await printJson(io, { ...toShown(one), instructions: one.body });
  const rows: readonly (readonly [string, string])[] = [
    ["file", join(one.folder, SKILL_FILE)],
    ["standing", STANDINGS[one.standing] || "used"],
    ...(one.problem === "" ? [] : [["problem", one.problem] as const]),
    ["description", one.skill?.description ?? "-"],
    ...(one.ignored.length === 0 ? [] : [["ignored", toIgnored(one)] as const]),
  ];
  for (const [key, value] of rows) {
    await io.stdout.write(`${key.padEnd(11)}  ${toOneLine(value)}\n`);
  }
  if (one.body !== "") await io.stdout.write(`\n${cleanForTerminal(one.body)}\n`);
  return 0;
}

/** Exit code 1 if one of them cannot be used. */
async function check(found: readonly FoundSkill[], { io, isJson }: Shown): Promise<number> {
  const broken = found.filter(({ standing }) => standing === "broken");
  if (isJson) await printJson(io, found.map(toShown));
  else {
    for (const one of found) {
      const path = join(one.folder, SKILL_FILE);
      if (one.standing === "broken")
        await io.stdout.write(`${toOneLine(`${path} ${one.problem}.`)}\n`);
      else if (one.ignored.length > 0)
        await io.stdout.write(`${toOneLine(`${path}: ${toIgnored(one)}.`)}\n`);
    }
    await io.stderr.write(`${toCounts(found.length, broken.length)}\n`);
  }
  return broken.length > 0 ? 1 : 0;
}

function toCounts(found: number, broken: number): string {
  if (found === 0) return "No skills to check.";
  const which = broken === 0 ? "none is" : broken === 1 ? "1 is" : `${broken} are`;
  return `${plural(found, "skill")} checked, ${which} broken.`;
}

function toIgnored({ ignored }: FoundSkill): string {
  return `${ignored.map((field) => `\`${field}\``).join(", ")}: a skill grants nothing here`;
}

function toShown({ name, scope, folder, standing, skill, problem, ignored }: FoundSkill): object {
  const description = skill?.description ?? null;
  return { name, scope, folder, standing, description, problem, ignored };
}

async function printJson(io: Io, value: unknown): Promise<number> {
  await io.stdout.write(`${JSON.stringify(value)}\n`);
  return 0;
}
