/** Working on runs, and answering what they ask. Each rejects for a run of another tenant as for one that is not there. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { RemoteAnswer } from "../approval-answers.ts";
import { answerQuestion } from "../approvals.ts";
import type { Runtime } from "../runtime.ts";
import { compareSteps, readSteps } from "./compare-runs.ts";
import type { Viewer } from "./found-runs.ts";
import { toQuestionView } from "./question-view.ts";
import { parseCursor, parseLimit, type Query, toCursor, toPage } from "./run-query.ts";
import type { ReadParts } from "./run-reads.ts";
import type { AnsweredView, Page, QuestionView, ReplayView, RunDetail } from "./views.ts";

export interface RunControls {
  questions(viewer: Viewer, query: Query): Promise<Page<QuestionView>>;
  /** Also one that was answered. Rejects with `not_found` where the run never asked it. */
  question(viewer: Viewer, id: string, name: string): Promise<QuestionView>;
  answer(viewer: Viewer, id: string, wish: AnswerWish): Promise<AnsweredView>;
  cancel(viewer: Viewer, id: string): Promise<RunDetail>;
  resume(viewer: Viewer, id: string): Promise<RunDetail>;
  steer(viewer: Viewer, id: string, text: string): Promise<void>;
  replay(viewer: Viewer, id: string, change: ReplayWish | undefined): Promise<ReplayView>;
}

export interface AnswerWish {
  readonly question: string;
  readonly answer: RemoteAnswer;
  readonly reason?: string | undefined;
  /** Who answers, for a person. */
  readonly from: string;
}

export interface ReplayWish {
  readonly node: string;
  readonly prompt: string;
}

interface ControlParts extends ReadParts {
  readonly runtime: Pick<Runtime, "cancel" | "steer" | "resume" | "replay">;
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
      const parted = divergence === undefined ? null : (divergence as unknown as JsonObject);
      return {
        ...{ object: "run.replay", runs, left, divergence: parted, ending, output_text },
        ...compareSteps(readSteps(logs.recorded), readSteps(logs.replayed)),
      };
    },
  };
}
