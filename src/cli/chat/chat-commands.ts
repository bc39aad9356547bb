/**
 * The slash commands of a chat. Each prints something, changes the next prompt, or offers a list.
 */

import { access, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip, plural } from "../../base/text.ts";
import { readCosts } from "../../delegation/ledger/costs.ts";
import { renderSession } from "../../delegation/ledger/session.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import type { UndoReport } from "../../runtime/undo/undo.ts";
import type { CommandCall } from "../command.ts";
import { readEarlierModel } from "../earlier-model.ts";
import type { Output } from "../io.ts";
import { renderCosts } from "../output/cost-table.ts";
import { showTree } from "../output/show-tree.ts";
import type { DefinitionRow } from "./definition-lines.ts";
import type { ChatEngine } from "./open-chat.ts";
import { Picker, type PickerRow } from "./picker.ts";
import { KEYS, SLASH_COMMANDS, type SlashCall, type SlashName } from "./slash.ts";

export interface CommandParts {
  readonly engine: ChatEngine;
  readonly cwd: string;
  /** Prints lines that stay on the screen. */
  say(text: string): void;
  /** Prints names and what they mean. */
  define(rows: readonly DefinitionRow[]): void;
  pick(picker: Picker): void;
  /**
   * Runs a prompt as if it was typed, and returns the answer; empty if the run did not complete.
   */
  askModel(words: string): Promise<string>;
  /** Sends the words after the present work; resolves when they were sent. */
  queue(words: string): Promise<void> | void;
  /** Puts text before the next prompt, for the model only. */
  carry(text: string): void;
  /** Puts words into the editor. */
  write(words: string): void;
  /** Called when the chat has changed to another conversation. */
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
    say(rows.length === 0 ? "Nothing was called yet." : renderCosts("model", rows).trimEnd());
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
    parts.say("Forked: this continues in a copy, and the old session stays.");
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
      (one): PickerRow => ({
        // The number that `/rewind` and `offshoot undo` take.
        label: `turn ${one.turn - 1}, before: ${clip(one.prompt ?? "", 100)}`,
        choose: () => rewindTo(parts, one.turn - 1, { words: one.prompt ?? "" }),
      }),
    );
    parts.pick(new Picker("Go back to a turn", choices));
  },
  async resume(parts, rest) {
    if (rest !== "") return open(parts, rest);
    const all = await parts.engine.conversation.list();
    if (all.length === 0) return parts.say("There is no session in this folder yet.");
    const choices = [...all].reverse().map(
      ({ id, title, used_at_ms }): PickerRow => ({
        label: `${new Date(used_at_ms).toISOString().slice(0, 16).replace("T", " ")}  ${clip(title, 80)}`,
        choose: () => open(parts, id),
      }),
    );
    parts.pick(new Picker("Continue a session", choices));
  },
  async new({ engine, say, moved }) {
    engine.conversation.reset();
    await moved();
    say("A new session begins.");
  },
  async compact({ engine, say, askModel, carry, moved }) {
    if (engine.conversation.runs.length === 0) return say("There is nothing to summarise yet.");
    const summary = await askModel(SUMMARY_PROMPT);
    if (summary.trim() === "") return say("There was no summary; the session continues as it was.");
    engine.conversation.reset();
    await moved();
    carry(`A summary of what we said and did before:\n\n${summary}`);
    say("A new session continues with this summary; the old one stays.");
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
      throw invalid(`${file} exists already. Name another file: /export FILE`);
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
  "Summarise our conversation so that a reader who has not seen it can continue: what I want, what was decided and why, what was done to which files, what is left to do. Use no tools.";

/** The choices for files that the user has changed since then, one line each. */
const FILES = {
  force: "Restore the files anyway",
  talk: "Rewind only the conversation; files stay as they are",
} as const;

interface Rewinding {
  readonly files?: keyof typeof FILES | "";
  /** The prompt that followed the turn: it comes back into the editor. */
  readonly words?: string;
}

/**
 * Rewinds conversation and files together. If a file is not as the tools left it, nothing happens before the user has
 * chosen what to do.
 */
async function rewindTo(parts: CommandParts, turn: number, rewinding: Rewinding): Promise<void> {
  const { files = "", words = "" } = rewinding;
  const done = { done: "rewound", words };
  if (files === "talk") return await goTo(parts, turn, { ...done, told: FILES_STAY });
  const report = await parts.engine.undo(turn, { force: files === "force" });
  const { obstacles } = report;
  if (obstacles.length === 0 || files === "force") {
    return await goTo(parts, turn, { ...done, told: toUndoneText(report) });
  }
  const named = obstacles.map(({ path, why }) => `${path} ${why}`);
  parts.say(`Not rewound, and nothing was changed:\n${named.join("\n")}`);
  parts.say(`/rewind ${turn} force: ${FILES.force}. /rewind ${turn} talk: ${FILES.talk}.`);
  const choices = (["force", "talk"] as const).map(
    (one): PickerRow => ({
      label: FILES[one],
      choose: () => rewindTo(parts, turn, { files: one, words }),
    }),
  );
  parts.pick(new Picker("What about the files", choices));
}

const FILES_STAY = "Files stay as they are.";

interface Going {
  readonly done: string;
  readonly told: string;
  readonly words?: string;
}

/** Continues after this turn. The prompt that followed it comes back into the editor. */
async function goTo(parts: CommandParts, turn: number, going: Going): Promise<void> {
  const { done, told, words = "" } = going;
  await parts.engine.conversation.fork(turn);
  await parts.moved();
  parts.say(
    `The session is ${done} to ${turn === 0 ? "its beginning" : `turn ${turn}`}. The old session stays.\n${told}`,
  );
  if (words !== "") parts.write(words);
}

/** Shows the last words of both sides, so that the person knows the place. */
async function open({ engine, say, moved, cwd }: CommandParts, name: string): Promise<void> {
  const { conversation } = engine;
  const { title, folder } = await conversation.open(name);
  await moved();
  const turns = await conversation.turns();
  say(`Continuing: ${clip(title, 100)} (${plural(turns.length, "turn")})`);
  if (folder !== null && folder !== cwd)
    say(`It began in ${folder}. Tools work in ${cwd} from here on.`);
  const asked = turns.findLast(({ prompt }) => prompt !== null);
  if (asked?.prompt) say(`> ${clip(asked.prompt, MAX_SHOWN)}`);
  const text = turns.at(-1)?.text ?? "";
  if (text !== "") say(clip(text, MAX_SHOWN));
  const before = await readEarlierModel(engine.record, conversation.runs.at(-1), engine.model.ref);
  if (before !== undefined) {
    say(`This was answered by ${before}. /model ${before} continues with it.`);
  }
  const unanswered = await conversation.unanswered();
  if (unanswered !== undefined) say(`> ${clip(unanswered, MAX_SHOWN)}\n(not answered)`);
}

/** The most characters of what was said last. */
const MAX_SHOWN = 400;

function toTurn(text: string): number {
  const turn = Number(text);
  if (Number.isInteger(turn) && turn >= 0) return turn;
  throw invalid(`\`${clip(text, 40)}\` is not a turn. Give a number from 0.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}

/** How many files of a kind are named: the line stays short. */
const MOST_NAMED = 5;

/** The chat's report of an undo, a line for each kind of change. */
export function toUndoneText({ files, obstacles, unseen, undo }: UndoReport): string {
  const told = files.length === 0 ? ["No file had to be restored."] : [];
  for (const kind of ["restored", "created", "removed"] as const) {
    const paths = files.filter(({ change }) => change === kind).map(({ path }) => path);
    if (paths.length === 0) continue;
    const named = paths.slice(0, MOST_NAMED).join(", ");
    const more = paths.length > MOST_NAMED ? ", …" : "";
    told.push(`${plural(paths.length, "file")} ${kind}: ${named}${more}.`);
  }
  if (undo !== null) told.push(`To undo this: offshoot undo ${undo}`);
  const left = obstacles.filter(({ canForce }) => !canForce).map(({ path }) => path);
  if (left.length > 0) told.push(`Left alone: ${left.join(", ")}.`);
  if (unseen.length > 0) told.push(`May have changed more: ${unseen.join(", ")}.`);
  return told.join("\n");
}
