/**
 * Slash commands of an editor's session: those that this program answers itself, and the user's prompt templates,
 * which become prompts. Editors refuse a command that was not announced, so this list is complete.
 */

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { clip, plural } from "../../base/text.ts";
import { readCosts } from "../../delegation/ledger/costs.ts";
import type { UndoReport } from "../../runtime/undo/undo.ts";
import type { OpenedDesk } from "../desk/open-desk.ts";
import type { Io } from "../io.ts";
import { toNothingUndone } from "../nothing-undone.ts";
import { openTemplates } from "../open-templates.ts";
import { renderCosts } from "../output/cost-table.ts";
import { fillTemplate, needsInput } from "../templates/template.ts";

type Place = Pick<Io, "env" | "home" | "cwd">;

export interface CommandPlace {
  readonly io: Place;
  readonly desk: OpenedDesk;
  /** Undefined while the session has no run. */
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
}

type Act = (place: CommandPlace, rest: string) => Promise<string>;

interface Command {
  readonly description: string;
  readonly hint?: string;
  readonly act: Act;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  cost: { description: "What this session has used, by model", act: tellCost },
  tools: {
    description: "The tools that the agent may use",
    act: async ({ desk, model }) => (await desk.describe(model)).tools.join("\n") || "None.",
  },
  agents: {
    description: "The agents that it may delegate to",
    act: async ({ desk }) =>
      desk.agents.map(({ name, description }) => `${name}: ${clip(description, 100)}`).join("\n") ||
      "There are none yet: offshoot agents new NAME",
  },
  undo: {
    description: "Undo the last prompt's changes to files",
    hint: "force, to restore files that were changed since",
    act: undoLast,
  },
  help: {
    description: "These commands",
    act: async ({ io }) =>
      (await listCommands(io)).map((one) => `/${one.name}: ${one.description}`).join("\n"),
  },
};

export async function listCommands(io: Place): Promise<AvailableCommand[]> {
  const own = Object.entries(COMMANDS).map(([name, { description, hint }]) => ({
    name,
    description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }));
  const { templates } = await openTemplates(io);
  const taken = new Set(Object.keys(COMMANDS));
  const filled = templates
    .filter(({ name }) => !taken.has(name))
    .map((template) => ({
      name: template.name,
      description: template.description || "A prompt template of yours",
      ...(needsInput(template) ? { input: { hint: "what it is about" } } : {}),
    }));
  return [...own, ...filled];
}

/**
 * Returns the output of a command, or the prompt that it stands for; undefined if the words are not a command.
 */
export async function runCommand(
  words: string,
  place: CommandPlace,
): Promise<{ readonly said: string } | { readonly prompt: string } | undefined> {
  const [, name = "", rest = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(words.trim()) ?? [];
  if (name === "") return undefined;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return { said: await command.act(place, rest.trim()) };
  const { templates } = await openTemplates(place.io);
  const template = templates.find((one) => one.name === name);
  return template && { prompt: fillTemplate(template, new Map(), rest) };
}

async function tellCost({ desk, sessionId }: CommandPlace): Promise<string> {
  const runs = await runsOf(desk, sessionId);
  const rows =
    runs.length === 0 ? [] : await readCosts(desk.runtime.engine.record, [...runs], "model");
  if (rows.length === 0) return "Nothing was called yet.";
  return `\`\`\`\n${renderCosts("model", rows).trimEnd()}\n\`\`\``;
}

async function undoLast({ desk, sessionId }: CommandPlace, rest: string): Promise<string> {
  const run = (await runsOf(desk, sessionId)).at(-1);
  if (run === undefined) return "There is nothing to undo yet.";
  return toUndoText(await desk.runtime.undo({ run }, { force: rest === "force" }));
}

function toUndoText(report: UndoReport): string {
  const { files, obstacles } = report;
  if (obstacles.length > 0) {
    const lines = obstacles.map(({ path, why }) => `- ${path}: ${why}`);
    return `Nothing was changed:\n${lines.join("\n")}\n\nUse /undo force to do it anyway.`;
  }
  if (files.length === 0) return toNothingUndone(report);
  const lines = files.map(({ path, change }) => `- ${path}: ${change}`);
  return `Undid the changes of ${plural(files.length, "file")}:\n${lines.join("\n")}`;
}

async function runsOf(desk: OpenedDesk, id: string | undefined): Promise<readonly string[]> {
  return id === undefined ? [] : (await desk.runtime.sessions.get(id)).runs;
}
