/** Controls runs, and answers what they ask. A run of another tenant is rejected like one that does not exist. */

import { Failure } from "../../base/failure.ts";
import { asJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { RemoteAnswer } from "../approval-answers.ts";
import { answerQuestion } from "../approvals.ts";
import type { Replayed, ReplayRequest } from "../replay.ts";
import type { Run } from "../run-handle.ts";
import { compareSteps, readSteps } from "./compare-runs.ts";
import type { Viewer } from "./found-runs.ts";
import { toQuestionView } from "./question-view.ts";
import { parseCursor, parseLimit, type Query, toCursor, toPage } from "./run-query.ts";
import type { ReadParts } from "./run-reads.ts";
import type { AnsweredView, QuestionView, RecordPage, ReplayView, RunDetail } from "./views.ts";

/** The operations of a runtime on runs of its record. */
export interface RecordedRuns {
  /** Continues a stored run whose process died. */
  resume(id: string): Promise<Run>;
  /**
   * Ends a run and everything below it as `cancelled`, wherever it runs. A child's parent continues, and its model
   * reads that the child was cancelled. A run that has ended stays as it is. Rejects if the run does not exist, and if
   * no process works on it and this program cannot take it over.
   */
  cancel(id: string): Promise<void>;
  /**
   * Leaves a message that a run, or one below it, reads before its next turn, wherever it runs. Rejects if there is no
   * such run, or it has ended.
   */
  steer(id: string, text: string): Promise<void>;
  /** Runs a recorded tree again: without a change nothing is sent, with one only what depends on it. */
  replay(request: Omit<ReplayRequest, "record">): Promise<Replayed>;
}

export interface RunControls {
  questions(viewer: Viewer, query: Query): Promise<RecordPage<QuestionView>>;
  /** Reads a question, even an answered one. Rejects with `not_found` if the run never asked it. */
  question(viewer: Viewer, id: string, name: string): Promise<QuestionView>;
  answer(viewer: Viewer, id: string, wish: AnswerWish): Promise<AnsweredView>;
  cancel(viewer: Viewer, id: string): Promise<RunDetail>;
  resume(viewer: Viewer, id: string): Promise<RunDetail>;
  steer(viewer: Viewer, id: string, text: string): Promise<void>;
  replay(viewer: Viewer, id: string, change: PromptReplayWish | undefined): Promise<ReplayView>;
}

export interface AnswerWish {
  readonly question: string;
  readonly answer: RemoteAnswer;
  readonly reason?: string | undefined;
  /** Where the answer comes from, for a person. */
  readonly from: string;
}

export interface PromptReplayWish {
  readonly node: string;
  readonly prompt: string;
}

interface ControlParts extends ReadParts {
  readonly runtime: RecordedRuns;
}

export function createRunControls(parts: ControlParts): RunControls {
  const { index, engine, clock, found, runtime } = parts;
  return {
    async questions({ tenant }, query) {
      const limit = parseLimit(query);
      const run = query.get("run") || undefined;
      const after = parseCursor(query.get("after"));
      const rows = await index.listQuestions({ tenant, limit: limit + 1, run, after });
      const page: QuestionView[] = [];
      for (const row of rows.slice(0, limit)) {
        page.push(toQuestionView(row, (await index.getRow(row.run_id))?.title ?? ""));
      }
      return toPage(page, rows.length > limit, ({ at_ms, run_id }) => toCursor(at_ms, run_id));
    },
    async question(viewer, id, name) {
      const { title } = await found.find(viewer, id);
      const row = await index.getQuestion(id, name);
      if (row) return toQuestionView(row, title);
      throw new Failure("not_found", `Run ${id} has asked no question \`${clip(name, 80)}\`.`);
    },
    async answer(viewer, id, { question, ...wish }) {
      await found.find(viewer, id);
      const { outcome } = await answerQuestion({ engine, clock }, id, { ...wish, call: question });
      return { object: "run.answer", run_id: id, question, outcome };
    },
    async cancel(viewer, id) {
      await found.find(viewer, id);
      await runtime.cancel(id);
      return await found.detail(await found.find(viewer, id));
    },
    async resume(viewer, id) {
      await found.find(viewer, id);
      await runtime.resume(id);
      return await found.detail(await found.find(viewer, id));
    },
    async steer(viewer, id, text) {
      await found.find(viewer, id);
      await runtime.steer(id, text);
    },
    async replay(viewer, id, change) {
      await found.find(viewer, id);
      const { runs, left, divergence, end, logs } = await runtime.replay({ id, change });
      const { ending, output_text } = end;
      const parted = divergence === undefined ? null : asJsonObject(divergence);
      return {
        object: "run.replay",
        runs,
        left,
        divergence: parted,
        ending,
        output_text,
        ...compareSteps(readSteps(logs.recorded), readSteps(logs.replayed)),
      };
    },
  };
}
