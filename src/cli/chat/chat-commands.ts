/** What the slash commands of a chat do. Each prints, changes what the next prompt is asked with, or offers a list. */

import { access, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip, plural } from "../../base/text.ts";
import { readCosts } from "../../delegation/ledger/costs.ts";
import { renderSession } from "../../delegation/ledger/session.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import type { UndoReport } from "../../runtime/undo/undo.ts";
import type { CommandCall } from "../command.ts";
import { renderRows } from "../commands/runs-cost.ts";
import { showTree } from "../commands/runs-tree.ts";
import type { Output } from "../io.ts";
import type { Definition } from "./definition-lines.ts";
import type { ChatEngine } from "./open-chat.ts";
import { type Choice, Picker } from "./picker.ts";
import { KEYS, SLASH_COMMANDS, type SlashCall, type SlashName } from "./slash.ts";

export interface CommandParts {
  readonly engine: ChatEngine;
  readonly cwd: string;
  /** Prints lines that stay. */
  say(text: string): void;
  /** Prints names and what they mean. */
  define(rows: readonly Definition[]): void;
  pick(picker: Picker): void;
  /** Runs a prompt as if it was typed, and gives the answer; nothing where the run did not complete. */
  askModel(words: string): Promise<string>;
  /** Says the words after what is at work; resolves when they are on their way. */
  queue(words: string): Promise<void> | void;
  /** Puts words before the next prompt, for the model alone. */
  carry(text: string): void;
  /** Puts words into the editor. */
  write(words: string): void;
  /** The conversation is another one from here on. */
  moved(): Promise<void>;
  leave(): void;
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
  async queue({ queue }, rest) {
    if (rest === "") throw invalid("/queue needs the words to say after the run.");
    await queue(rest);
  },
  async fork(parts, rest) {
    if (rest !== "") return goTo(parts, toTurn(rest), { done: "forked", told: FILES_STAY });
    await parts.engine.conversation.fork();
    await parts.moved();
    parts.say("Forked: this goes on in a copy, and the old session stays.");
  },
  async rewind(parts, rest) {
    const [turn = "", files = "", ...more] = rest.split(/\s+/);
    if (more.length > 0 || !["", ...Object.keys(FILES)].includes(files)) {
      throw invalid("/rewind takes a turn, and `force` or `talk` after it.");
    }
    if (turn !== "") return rewindTo(parts, toTurn(turn), { files: files as keyof typeof FILES });
    const turns = await parts.engine.conversation.turns();
    const prompts = turns.filter(({ prompt }) => prompt !== null);
    if (prompts.length === 0) return parts.say("There is nothing to go back to yet.");
    const choices = prompts.map(
      (one): Choice => ({
        label: `${one.turn}. ${clip(one.prompt ?? "", 100)}`,
        choose: () => rewindTo(parts, one.turn - 1, { words: one.prompt ?? "" }),
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
        choose: () => open(parts, id),
      }),
    );
    parts.pick(new Picker("Go on with", choices));
  },
  async new({ engine, say, moved }) {
    engine.conversation.reset();
    await moved();
    say("A new session begins.");
  },
  async compact({ engine, say, askModel, carry, moved }) {
    if (engine.conversation.runs.length === 0) return say("There is nothing to make short yet.");
    const summary = await askModel(SUMMARY_PROMPT);
    if (summary.trim() === "") return say("There was no summary; the session goes on as it was.");
    engine.conversation.reset();
    await moved();
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
  help({ define }) {
    const commands = Object.entries(SLASH_COMMANDS).map(
      ([name, { usage, summary }]) => [`/${name} ${usage}`.trim(), summary] as const,
    );
    define([...commands, ...KEYS]);
  },
  quit: ({ leave }) => leave(),
};

const SUMMARY_PROMPT =
  "Summarise our conversation so that somebody who has not seen it can go on: what I want, what was decided and why, what was done to which files, what is left to do. Use no tools.";

/** What happens to files that the user has changed since, one line each. */
const FILES = {
  force: "Restore the files anyway",
  talk: "Rewind the conversation alone; files stay as they are",
} as const;

interface Rewinding {
  readonly files?: keyof typeof FILES | "";
  /** What the person had said after the turn: it comes back into the editor. */
  readonly words?: string;
}

/** Conversation and files together. Where a file is not as the tools left it, nothing happens before it is said what to do. */
async function rewindTo(parts: CommandParts, turn: number, rewinding: Rewinding): Promise<void> {
  const { files = "", words = "" } = rewinding;
  const done = { done: "rewound", words };
  if (files === "talk") return await goTo(parts, turn, { ...done, told: FILES_STAY });
  const report = await parts.engine.undo(turn, { force: files === "force" });
  const { obstacles } = report;
  if (obstacles.length === 0 || files === "force") {
    return await goTo(parts, turn, { ...done, told: tellFiles(report) });
  }
  const named = obstacles.map(({ path, why }) => `${path} ${why}`);
  parts.say(`Not rewound, and nothing was changed:\n${named.join("\n")}`);
  parts.say(`/rewind ${turn} force: ${FILES.force}. /rewind ${turn} talk: ${FILES.talk}.`);
  const choices = (["force", "talk"] as const).map(
    (one): Choice => ({
      label: FILES[one],
      choose: () => rewindTo(parts, turn, { files: one, words }),
    }),
  );
  parts.pick(new Picker("What about the files", choices));
}

const FILES_STAY = "Files stay as they are.";

function tellFiles({ files, obstacles, unseen, undo }: UndoReport): string {
  const told = files.length === 0 ? ["No file had to be restored."] : [];
  if (files.length > 0) {
    const names = files.slice(0, 5).map(({ path }) => path);
    const more = files.length > names.length ? ", …" : "";
    told.push(`${plural(files.length, "file")} restored: ${names.join(", ")}${more}.`);
  }
  if (undo !== null) told.push(`Take that back: offshoot undo ${undo}`);
  const left = obstacles.filter(({ canForce }) => !canForce).map(({ path }) => path);
  if (left.length > 0) told.push(`Left alone: ${left.join(", ")}.`);
  if (unseen.length > 0) told.push(`May have changed more: ${unseen.join(", ")}.`);
  return told.join("\n");
}

interface Going {
  readonly done: string;
  readonly told: string;
  readonly words?: string;
}

/** After this turn; the words that followed it come back into the editor. */
async function goTo(parts: CommandParts, turn: number, going: Going): Promise<void> {
  const { done, told, words = "" } = going;
  await parts.engine.conversation.fork(turn);
  await parts.moved();
  parts.say(
    `The session is ${done} to ${turn === 0 ? "its beginning" : `turn ${turn}`}. The old session stays.\n${told}`,
  );
  if (words !== "") parts.write(words);
}

/** The last words of both, so that the person knows where they are. */
async function open({ engine, say, moved, cwd }: CommandParts, name: string): Promise<void> {
  const { conversation } = engine;
  const { title, folder } = await conversation.open(name);
  await moved();
  const turns = await conversation.turns();
  say(`Going on with: ${clip(title, 100)} (${plural(turns.length, "turn")})`);
  if (folder !== null && folder !== cwd)
    say(`It began in ${folder}. Tools work in ${cwd} from here on.`);
  const asked = turns.findLast(({ prompt }) => prompt !== null);
  if (asked?.prompt) say(`> ${clip(asked.prompt, MAX_SHOWN)}`);
  const text = turns.at(-1)?.text ?? "";
  if (text !== "") say(clip(text, MAX_SHOWN));
  const unanswered = await conversation.unanswered();
  if (unanswered !== undefined) say(`> ${clip(unanswered, MAX_SHOWN)}\n(not answered)`);
}

/** Of what was said last, in characters. */
const MAX_SHOWN = 400;

function toTurn(text: string): number {
  const turn = Number(text);
  if (Number.isInteger(turn) && turn >= 0) return turn;
  throw invalid(`\`${clip(text, 40)}\` is not a turn. Give a number from 0.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
