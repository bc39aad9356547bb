/**
 * Routes that control runs and answer their questions. All of them need a key: without one, everyone who reaches the
 * port could use them.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { REMOTE_ANSWERS } from "../../runtime/approval-answers.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import type { Route, RouteCall } from "../route.ts";
import { toPrivate } from "./runs.ts";
import { idOf, optionalText, readObject, requireText, viewerOf } from "./viewer.ts";

const ONE = "/v1/runs/:id";

export function createRunControlRoutes(record: RecordApi): Route[] {
  return [...toControlRoutes(record), ...toQuestionRoutes(record)];
}

function toControlRoutes(record: RecordApi): Route[] {
  const post = { method: "POST", scope: "runs", needsKey: true } as const;
  return [
    {
      ...post,
      path: `${ONE}/cancel`,
      summary: "Stop the run and all below it",
      handle: async (call) => toPrivate(await record.cancel(viewerOf(call), idOf(call))),
    },
    {
      ...post,
      path: `${ONE}/steer`,
      summary: "Leave a message that the run reads before its next turn",
      async handle(call) {
        const text = requireText(await readObject(call), "text");
        await record.steer(viewerOf(call), idOf(call), text);
        return toPrivate({ object: "run.steered", run_id: idOf(call) });
      },
    },
    {
      ...post,
      path: `${ONE}/resume`,
      summary: "Resume a run whose process died",
      handle: async (call) => toPrivate(await record.resume(viewerOf(call), idOf(call))),
    },
    {
      ...post,
      path: `${ONE}/replay`,
      summary:
        "Replay a recorded tree; with another `prompt` for `node`, all that depends on it runs for real",
      async handle(call) {
        const body = await readObject(call);
        const prompt = optionalText(body, "prompt");
        const node = optionalText(body, "node") ?? idOf(call);
        const change = prompt === undefined ? undefined : { node, prompt };
        return toPrivate(await record.replay(viewerOf(call), idOf(call), change));
      },
    },
    {
      ...post,
      path: `${ONE}/fork`,
      summary: "Begin a session with a copy of the run's session, up to the end of `turn`",
      async handle(call) {
        const { turn } = await readObject(call);
        if (turn !== undefined && (typeof turn !== "number" || !Number.isInteger(turn))) {
          throw new Failure("invalid_request", "`turn` is not a whole number.", { param: "turn" });
        }
        return toPrivate(await record.fork(viewerOf(call), idOf(call), turn));
      },
    },
  ];
}

function toQuestionRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/approvals",
      scope: "runs",
      summary: "The tool calls of all runs that wait for a person's answer, the oldest first",
      handle: async (call) => toPrivate(await record.questions(viewerOf(call), call.query)),
    },
    {
      method: "GET",
      path: `${ONE}/questions/:question`,
      scope: "runs",
      summary: "One question of the run, with the decision if it was answered",
      async handle(call) {
        const name = call.params["question"] ?? "";
        return toPrivate(await record.question(viewerOf(call), idOf(call), name));
      },
    },
    {
      method: "POST",
      path: `${ONE}/answer`,
      scope: "approve",
      needsKey: true,
      summary: "Answer a question of the run; the first answer counts",
      async handle(call) {
        const body = await readObject(call);
        const wish = {
          question: requireText(body, "question"),
          answer: parseAnswer(requireText(body, "answer")),
          reason: optionalText(body, "reason"),
          from: toAnswerer(call),
        };
        return toPrivate(await record.answer(viewerOf(call), idOf(call), wish));
      },
    },
  ];
}

/** Names the person in the log of the run. */
function toAnswerer({ caller }: RouteCall): string {
  return `the server, with key ${caller.keyId ?? "unknown"}`;
}

function parseAnswer(said: string): (typeof REMOTE_ANSWERS)[number] {
  const answer = REMOTE_ANSWERS.find((known) => known === said);
  if (answer) return answer;
  const message = `\`${clip(said, 40)}\` is not an answer. Use one of: ${REMOTE_ANSWERS.join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "answer" });
}
