/**
 * Assembles what `run` tells its model, by the settings: the base prompt or the user's own, AGENTS.md, skills,
 * `--system`.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import type { Config } from "../runtime/config/config.ts";
import { withOrigin } from "../runtime/config/setting-origin.ts";
import { type OpenedPrompt, openPrompt } from "../runtime/prompt/open-prompt.ts";
import type { Skill } from "../tools/skills/skill.ts";
import type { Io } from "./io.ts";

interface Prompting {
  readonly io: Io;
  readonly tools: readonly string[];
  readonly skills: readonly Skill[];
  readonly clock?: Clock | undefined;
}

export async function openRunPrompt(
  config: Config,
  { io, tools, skills, clock = systemClock }: Prompting,
): Promise<OpenedPrompt> {
  const { cwd, home, env } = io;
  const file = config.get("system_file");
  const base =
    file === undefined
      ? undefined
      : {
          text: await withOrigin(config, "system_file", () => readText(file, cwd)),
          source: file,
        };
  return await openPrompt({
    cwd,
    home,
    env,
    clock,
    tools,
    skills,
    base,
    approve: config.get("approve"),
    sandbox: config.get("sandbox"),
    system: await readSystem(config, cwd),
    systemSource: config.sourceOf("system"),
    isBare: config.get("bare"),
    readsNotes: config.get("project_notes"),
  });
}

/**
 * `@FILE` is accepted only from the user: a project's settings could name any of the user's files.
 */
async function readSystem(config: Config, cwd: string): Promise<string | null> {
  const given = config.get("system");
  const isOwn = config.sourceOf("system") === "--system";
  return given?.startsWith("@") && isOwn ? readText(given.slice(1), cwd) : (given ?? null);
}

async function readText(file: string, cwd: string): Promise<string> {
  const { readTextFile } = await import("./read-files.ts");
  return await readTextFile(file, cwd);
}
