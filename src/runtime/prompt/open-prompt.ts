/**
 * The prompt of the command line before the conversation: how to work, where it is, the project notes, which
 * skills there are, and what the user says. Made once, before the run is written down: its text is in the task.
 */

import { dirname } from "node:path";
import { joinParts, SKILL_TOOL, type ToldPrompt, type ToldText } from "../../agent/told-parts.ts";
import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { readOwnText } from "../../base/own-text.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type { Skill } from "../../tools/skills/skill.ts";
import { toSkillsText } from "../../tools/skills/skills-text.ts";
import { userPaths } from "../paths.ts";
import { type PlaceFacts, readBranch, toDate, toPlaceText } from "./place-facts.ts";
import { findProjectRoot, readProjectNotes } from "./project-notes.ts";

export interface PromptWish extends Pick<PlaceFacts, "approve" | "sandbox"> {
  readonly cwd: string;
  readonly home: string;
  readonly env: Environment;
  readonly clock: Clock;
  /** The names of the tools that the run will have. */
  readonly tools: readonly string[];
  /** The user's instructions (`--system`), and where they come from: a flag, a file, an agent. */
  readonly system: string | null;
  readonly systemSource: string;
  /** Replaces the package's own words, with its source; undefined to use those. */
  readonly base?: { readonly text: string; readonly source: string } | undefined;
  /** True to use nothing except what the user says. */
  readonly isBare: boolean;
  /** True to read AGENTS.md. */
  readonly readsNotes: boolean;
  readonly skills: readonly Skill[];
}

export interface OpenedPrompt extends ToldPrompt {
  /** Notes that were refused or shortened, a line each. */
  readonly warnings: readonly string[];
}

export async function openPrompt(wish: PromptWish): Promise<OpenedPrompt> {
  const system: ToldText = {
    part: "system",
    source: wish.systemSource,
    text: wish.system?.trim() ?? "",
  };
  if (wish.isBare) return { ...joinParts([system]), warnings: [] };
  const { cwd, home, env, clock, tools, approve, sandbox } = wish;
  const root = findProjectRoot(cwd, home);
  const [notes, branch] = await Promise.all([readNotes(wish), readBranch(root)]);
  const { platform, arch } = process;
  const place = { folder: cwd, platform: `${platform} ${arch}`, date: toDate(clock), branch };
  const skills = tools.includes(SKILL_TOOL) ? toSkillsText(wish.skills) : "";
  const parts: ToldText[] = [
    ...toBaseParts(wish),
    { part: "place", source: "offshoot", text: toPlaceText({ ...place, approve, sandbox }) },
    ...notes.parts,
    { part: "skills", source: dirname(userPaths(env, home).configFile), text: skills },
    system,
  ];
  return { ...joinParts(parts), warnings: notes.warnings };
}

function toBaseParts({ base, tools }: PromptWish): ToldText[] {
  if (base) return [{ part: "base", source: base.source, text: base.text.trim() }];
  const mayDelegate = tools.some(isDelegating);
  return [
    { part: "base", source: "prompts/base.md", text: readOwnText("base.md") },
    {
      part: "delegation",
      source: "prompts/delegation.md",
      text: mayDelegate ? readOwnText("delegation.md") : "",
    },
  ];
}

async function readNotes({ cwd, home, env, readsNotes }: PromptWish) {
  if (!readsNotes) return { parts: [], warnings: [] };
  const userFolder = dirname(userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home).configFile);
  return await readProjectNotes({ cwd, home, userFolder, uid: process.getuid?.() });
}
