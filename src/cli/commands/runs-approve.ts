/**
 * `offshoot runs waiting`, `approve` and `deny`: show and answer approval questions from another terminal.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { toCallText } from "../../delegation/ledger/run-figures.ts";
import { listNodes, readTree } from "../../delegation/ledger/tree.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { RemoteAnswer } from "../../runtime/approval-answers.ts";
import { answerQuestion, findAllQuestions, type OpenQuestion } from "../../runtime/approvals.ts";
import type { RunReader } from "../../store/run-reader.ts";
import { MARK } from "../../tools/sandbox/process.ts";
import { renderQuestion } from "../ask-on-terminal.ts";
import type { CommandCall, Options } from "../command.ts";
import type { Io } from "../io.ts";
import type { OpenedRecord } from "../open-record.ts";
import { toElapsed } from "../output/amounts.ts";
import { createStateOf } from "../run-state.ts";
import { toOneLine } from "../terminal.ts";

interface Asked {
  readonly call: CommandCall;
  readonly io: Io;
}

interface Answering extends Asked, Pick<OpenedRecord, "record" | "engine"> {
  readonly stored: RunRecord;
}

export async function answer(
  verdict: "approve" | "deny",
  { record, engine, stored, call: { options, words }, io }: Answering,
): Promise<void> {
  const { id } = stored;
  const [, , question, reason] = words;
  const given = { answer: toAnswer(verdict, options), call: question, reason };
  if (question === undefined) await pointBelow(record, id);
  const wish = { ...given, from: "another terminal" };
  const answered = await answerQuestion({ engine }, id, wish);
  const { outcome } = answered;
  const done = verdict === "approve" ? "approved" : "denied";
  const what = `${toOneLine(toCallText(answered.question))} of ${id}`;
  const root = id.split("/", 1)[0];
  const line =
    outcome === "taken"
      ? `${done}: ${what}`
      : `left for ${what}: it was interrupted, and reads the answer when it is resumed: offshoot runs resume ${root}`;
  await io.stderr.write(`${line}\n`);
}

/**
 * A model that may run commands must not answer for the person. Commands that it starts carry this mark.
 */
export function refuseTools({ env }: Pick<Io, "env">): void {
  if (env[MARK] === undefined) return;
  const message = "Approvals come from a person: this command was started by a tool of a run.";
  throw new Failure("forbidden", message);
}

function toAnswer(verdict: "approve" | "deny", { always, tree }: Options): RemoteAnswer {
  if (verdict === "deny") return "no";
  if (tree) return "tree";
  return always ? "always" : "yes";
}

/**
 * A subagent asks, and the user named its parent: say so, but do not answer it, because it is another call.
 */
async function pointBelow(record: RunReader, id: string): Promise<void> {
  const [own, ...below] = listNodes(await readTree(record, id));
  if (!own || own.questions.length > 0 || own.ending !== null) return;
  const asking = below.filter(({ questions }) => questions.length > 0);
  if (asking.length === 0) return;
  const names = asking.map((node) => `${node.id} (${node.questions.map(toCallText).join(", ")})`);
  const message = `Run ${id} waits for no approval itself; a subagent does: ${names.join(", ")}. Write its id.`;
  throw new Failure("conflict", toOneLine(message));
}

export async function showQuestions(
  { record, engine, kept }: Pick<OpenedRecord, "record" | "engine" | "kept">,
  { call, io }: Asked,
): Promise<void> {
  const questions = await findAllQuestions(await kept.index());
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify(questions)}\n`);
    return;
  }
  if (questions.length === 0) await io.stderr.write("No tool call waits for approval.\n");
  const stateOf = createStateOf(engine);
  for (const question of questions) {
    const run = await record.getRunStatus(question.run_id);
    const isAlone = run !== undefined && (await stateOf(run)) === "interrupted";
    await io.stdout.write(render(question, { isAlone, columns: io.stdout.columns }));
  }
}

interface Rendering {
  readonly isAlone: boolean;
  readonly columns: number;
}

function render(question: OpenQuestion, { isAlone, columns }: Rendering): string {
  const { run_id, question: id, at_ms, until_ms, asker: child, name: tool } = question;
  const nowMs = systemClock.now();
  const times = [
    `waits ${toElapsed(nowMs - at_ms)}`,
    ...(until_ms === null ? [] : [`is denied in ${toElapsed(Math.max(0, until_ms - nowMs))}`]),
    ...(isAlone ? ["interrupted"] : []),
  ];
  const commands = ["approve", "deny"].map(
    (verdict) => `  offshoot runs ${verdict} ${run_id} ${id}\n`,
  );
  const head = `${run_id} · ${times.join(" · ")}`;
  return `${head}${renderQuestion({ ...question, child, tool }, columns)}${commands.join("")}\n`;
}
