/** What the slash commands of a chat do. Each prints, changes what the next prompt is asked with, or offers a list. */

import { access, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { readCosts } from "../../delegation/ledger/costs.ts";
import { renderSession } from "../../delegation/ledger/session.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import type { CommandCall } from "../command.ts";
import { renderRows } from "../commands/runs-cost.ts";
import { showTree } from "../commands/runs-tree.ts";
import type { Output } from "../io.ts";
import type { FileRewind } from "./conversation.ts";
import type { ChatEngine } from "./open-chat.ts";
import { type Choice, Picker } from "./picker.ts";
import { KEYS, SLASH_COMMANDS, type SlashCall, type SlashName } from "./slash.ts";

export interface CommandParts {
  readonly engine: ChatEngine;
  readonly cwd: string;
  /** Prints lines that stay. */
  say(text: string): void;
  pick(picker: Picker): void;
  /** Runs a prompt as if it was typed, and gives the answer. */
  askModel(words: string): Promise<string>;
  queue(words: string): void;
  /** Puts words before the next prompt, for the model alone. */
  carry(text: string): void;
  /** Puts words into the editor. */
  write(words: string): void;
  leave(): void;
  readonly files?: FileRewind | undefined;
}

export async function runSlash({ name, rest }: SlashCall, parts: CommandParts): Promise<void> {
  await DEEDS[name](parts, rest);
}

type Deed = (parts: CommandParts, rest: string) => Promise<void> | void;

const DEEDS: Readonly<Record<SlashName, Deed>> = {
  async model({ engine, say }, rest) {
    if (rest !== "") await engine.setModel(rest);
    say(`model: ${engine.model.reason}`);
    if (rest === "")
      say("Change it with /model VENDOR/MODEL; `offshoot models` lists what is reachable.");
  },
  think({ engine, say }, rest) {
    if (!["", "on", "off"].includes(rest)) throw invalid("/think takes on or off.");
    engine.setThinking(rest === "" ? !engine.isThinking : rest === "on");
    say(`thinking: ${engine.isThinking ? "on" : "off"}`);
  },
  async tools({ engine, say }, rest) {
    if (rest !== "") await engine.setTools(rest === "usual" ? undefined : rest.split(/[\s,]+/));
    say(`tools: ${engine.tools.join(", ") || "none"}`);
  },
  async cost({ engine, say }) {
    const { runs } = engine.conversation;
    const rows = runs.length === 0 ? [] : await readCosts(engine.record, [...runs], "model");
    say(rows.length === 0 ? "Nothing was called yet." : renderRows("model", rows).trimEnd());
  },
  async tree({ engine, say }) {
    const last = engine.conversation.runs.at(-1);
    if (last === undefined) return say("There is no run yet.");
    let text = "";
    const write = (piece: string): void => {
      text += piece;
    };
    const stdout: Output = { isTerminal: false, columns: 80, write };
    const call: CommandCall = { options: {}, words: [] };
    await showTree(engine.record, last, { call, io: { stdout, stderr: stdout } });
    say(text.trimEnd());
  },
  agents({ engine, say }) {
    const lines = engine.agents.map(
      ({ name, description }) => `${name}: ${clip(description, 100)}`,
    );
    say(lines.join("\n") || "There are none yet: offshoot agents new NAME");
  },
  queue({ queue }, rest) {
    if (rest === "") throw invalid("/queue needs the words to say after the run.");
    queue(rest);
  },
  async fork(parts, rest) {
    if (rest !== "") return goTo(parts, toTurn(rest), "forked");
    await parts.engine.conversation.fork();
    parts.say("Forked: this goes on in a copy, and the old session stays.");
  },
  async rewind(parts, rest) {
    if (rest !== "") return goTo(parts, toTurn(rest), "rewound");
    const turns = await parts.engine.conversation.turns();
    const prompts = turns.filter(({ prompt }) => prompt !== null);
    if (prompts.length === 0) return parts.say("There is nothing to go back to yet.");
    const choices = prompts.map(
      ({ turn, prompt }): Choice => ({
        label: `${turn}. ${clip(prompt ?? "", 100)}`,
        choose: () => void goTo(parts, turn - 1, "rewound", prompt ?? ""),
      }),
    );
    parts.pick(new Picker("Go back to before", choices));
  },
  async resume(parts, rest) {
    if (rest !== "") return open(parts, rest);
    const all = await parts.engine.conversation.list();
    if (all.length === 0) return parts.say("There is no session in this folder yet.");
    const choices = [...all].reverse().map(
      ({ id, title, used_at_ms }): Choice => ({
        label: `${new Date(used_at_ms).toISOString().slice(0, 16).replace("T", " ")}  ${clip(title, 80)}`,
        choose: () => void open(parts, id),
      }),
    );
    parts.pick(new Picker("Go on with", choices));
  },
  new({ engine, say }) {
    engine.conversation.reset();
    say("A new session begins.");
  },
  async compact({ engine, say, askModel, carry }) {
    if (engine.conversation.runs.length === 0) return say("There is nothing to make short yet.");
    const summary = await askModel(SUMMARY_PROMPT);
    if (summary.trim() === "") return say("There was no summary; the session goes on as it was.");
    engine.conversation.reset();
    carry(`A summary of what we said and did before:\n\n${summary}`);
    say("A new session goes on with this summary; the old one stays.");
  },
  async export({ engine, cwd, say }, rest) {
    const { id, runs } = engine.conversation;
    if (id === undefined) return say("There is nothing to export yet.");
    const file = resolve(cwd, rest || `${id}.md`);
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    ) {
      throw invalid(`${file} is there already. Name another file: /export FILE`);
    }
    let text = "";
    for (const run of runs) {
      for await (const piece of renderSession(engine.record, await readTree(engine.record, run)))
        text += piece;
    }
    await writeFile(file, text);
    say(`Written to ${file}`);
  },
  help({ say }) {
    const commands = Object.entries(SLASH_COMMANDS).map(
      ([name, { usage, summary }]) => [`/${name} ${usage}`, summary] as const,
    );
    const rows = [...commands, ...KEYS];
    say(rows.map(([left, right]) => `${left.trim().padEnd(24)}  ${right}`).join("\n"));
  },
  quit: ({ leave }) => leave(),
};

const SUMMARY_PROMPT =
  "Summarise our conversation so that somebody who has not seen it can go on: what I want, what was decided and why, what was done to which files, what is left to do. Use no tools.";

/** After this turn; the words that followed it come back into the editor. */
async function goTo(parts: CommandParts, turn: number, done: string, words = ""): Promise<void> {
  const { conversation } = parts.engine;
  const { id } = conversation;
  await conversation.fork(turn);
  const files = id === undefined ? undefined : await parts.files?.restore(id, turn);
  const told = files
    ? `${files.restored} files restored, ${files.kept} kept as they are.`
    : "Files stay as they are.";
  parts.say(
    `The session is ${done} to ${turn === 0 ? "its beginning" : `turn ${turn}`}. ${told} The old session stays.`,
  );
  if (words !== "") parts.write(words);
}

async function open({ engine, say }: CommandParts, name: string): Promise<void> {
  const { title } = await engine.conversation.open(name);
  const turns = await engine.conversation.turns();
  const last = turns.at(-1);
  say(`Going on with: ${clip(title, 100)} (${turns.length} turns)`);
  if (last?.prompt) say(`> ${clip(last.prompt, 400)}`);
  if (last && last.text !== "") say(clip(last.text, 400));
}

function toTurn(text: string): number {
  const turn = Number(text);
  if (Number.isInteger(turn) && turn >= 0) return turn;
  throw invalid(`\`${clip(text, 40)}\` is not a turn. Give a number from 0.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
