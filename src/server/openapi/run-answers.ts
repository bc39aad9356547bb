/**
 * Shapes of what the API of runs takes and answers, for the description of the API. The types are in
 * `src/runtime/record/views.ts`; `test/server/runs.test.ts` compares real answers with these shapes.
 */

import { z } from "zod";
import { open } from "../../protocol/open.ts";
import { REMOTE_ANSWERS } from "../../runtime/approval-answers.ts";

const text = z.string();
const ms = z.number();
const count = z.int();

/** A page of a list. The next page is requested with `after=next`. */
export function page(of: z.ZodType): z.ZodType {
  return open({ object: z.literal("list"), data: z.array(of), next: text.nullable() });
}

const totals = {
  calls: count,
  input_tokens: count,
  cached_tokens: count,
  output_tokens: count,
  cost_usd: z.number().nullable(),
  known_usd: z.number(),
};

const listed = {
  object: z.literal("run"),
  id: text,
  root_id: text,
  parent_id: text.nullable(),
  title: text,
  kind: text,
  status: z.enum(["running", "waiting", "ended"]),
  ending: text.nullable(),
  message: text,
  created_at_ms: ms,
  ended_at_ms: ms.nullable(),
  model: text.nullable(),
  label: text.nullable(),
  agent: text.nullable(),
  session: text.nullable(),
  folder: text.nullable(),
  tenant: text,
  key_id: text.nullable(),
  turns: count,
  tool_calls: count,
  questions: count,
  totals: open(totals),
};

const ListedRun = open(listed);

const clipped = z.array(open({ path: text, length: count, kind: z.enum(["text", "list"]) }));

const RunEvent = open({
  seq: count,
  last_seq: count,
  type: text,
  at_ms: ms.nullable(),
  event: open({}),
  clipped,
});

const Run = open({
  ...listed,
  path: text,
  events: count,
  attempts: count,
  is_held: z.boolean(),
  start: RunEvent.nullable(),
  end: RunEvent.nullable(),
});

const side = open({ seq: count, text }).nullable();

const compared = {
  rows: z.array(
    open({
      kind: z.enum(["input", "turn", "call", "ending"]),
      name: text,
      a: side,
      b: side,
      state: z.enum(["same", "different", "only_a", "only_b"]),
    }),
  ),
  first_difference: count.nullable(),
};

const Question = open({
  object: z.literal("run.question"),
  run_id: text,
  root_id: text,
  question: text,
  call_id: text,
  tool: text,
  arguments: text,
  effect: text,
  reason: text,
  sandbox: text,
  always: z.array(text),
  asker: z.unknown(),
  diff: text.nullable(),
  title: text,
  at_ms: ms,
  until_ms: ms.nullable(),
  closed_at_ms: ms.nullable(),
  verdict: z.enum(["allow", "deny"]).nullable(),
  decided: text.nullable(),
});

const session = {
  object: z.literal("session"),
  id: text,
  title: text,
  folder: text.nullable(),
  created_at_ms: ms,
  used_at_ms: ms,
  runs: z.array(text),
  forked_from: z.unknown(),
};

const Session = open(session);

/** The shapes by their names in the description. */
export const RUN_ANSWERS = {
  ListedRun,
  RunList: page(ListedRun),
  Run,
  RunTree: open({
    object: z.literal("run.tree"),
    fields: z.array(text),
    rows: z.array(z.array(z.union([text, z.number(), z.null()]))),
    nodes: count,
    next: text.nullable(),
  }),
  RunEvent,
  RunEventList: page(RunEvent),
  RunFrame: open({ run_id: text, events: z.array(RunEvent) }),
  RunText: open({
    object: z.literal("run.text"),
    text,
    from: count,
    next: count.nullable(),
    length: count,
  }),
  RunComparison: open({
    object: z.literal("run.comparison"),
    a: ListedRun,
    b: ListedRun,
    ...compared,
  }),
  SteeredRun: open({ object: z.literal("run.steered"), run_id: text }),
  RunReplay: open({
    object: z.literal("run.replay"),
    runs: count,
    divergence: z.unknown(),
    ending: text,
    left: z.array(open({ path: text, what: text })),
    output_text: text,
    ...compared,
  }),
  RunStep: open({
    object: z.literal("run.step"),
    kind: z.enum(["turn", "call", "compaction"]),
    run_id: text,
    seq: count,
    started_at_ms: ms,
    ended_at_ms: ms.nullable(),
    clipped,
  }),
  FileChangeList: page(
    open({
      run_id: text,
      seq: count,
      call_id: text,
      tool: text,
      path: text,
      what: z.enum(["created", "changed", "deleted", "unfinished"]),
      diff: text.nullable(),
      note: text.nullable(),
      at_ms: ms,
    }),
  ),
  FailedCallList: page(
    open({
      object: z.literal("call"),
      run_id: text,
      root_id: text,
      seq: count,
      tool: text,
      status: z.enum(["failed", "denied"]),
      decided_by: text.nullable(),
      about: text.nullable(),
      rule: text.nullable(),
      reason: text.nullable(),
      at_ms: ms,
    }),
  ),
  WatchFrame: open({ runs: text, questions: count }),
  Question,
  QuestionList: page(Question),
  RunAnswer: open({
    object: z.literal("run.answer"),
    run_id: text,
    question: text,
    outcome: z.enum(["taken", "left"]),
  }),
  Usage: open({
    object: z.literal("usage"),
    by: text,
    from: text,
    to: text,
    data: z.array(
      open({
        day: text.nullable(),
        key: text.nullable(),
        ...totals,
        reasoning_tokens: count,
        unpriced_calls: count,
        seconds: z.number(),
      }),
    ),
  }),
  ToolUsage: open({
    object: z.literal("tools"),
    from: text,
    to: text,
    data: z.array(
      open({
        tool: text,
        calls: count,
        failed: count,
        denied: count,
        seconds: z.number(),
        max_seconds: z.number(),
        last_at_ms: ms,
      }),
    ),
  }),
  ConsoleSession: open({
    object: z.literal("console.session"),
    token: text.nullable(),
    id: text.nullable(),
    tenant: text,
    scopes: z.array(text),
    expires_at_ms: ms.nullable(),
  }),
  DeletedConsoleSession: open({ object: text, id: text.nullable(), deleted: z.literal(true) }),
  ConsoleCode: open({ object: z.literal("console.code"), code: text }),
  Session,
  SessionList: page(Session),
  SessionDetail: open({
    ...session,
    turns: z.array(open({ turn: count, prompt: text.nullable(), text, calls: z.array(text) })),
    turn_count: count,
  }),
} as const;

export const RUN_REQUESTS = {
  NewConsoleSession: open({ code: text.optional(), key: text.optional() }),
  SteerRun: open({ text }),
  ReplayRun: open({ node: text.optional(), prompt: text.optional() }),
  ForkRun: open({ turn: count.optional() }),
  AnswerQuestion: open({
    question: text,
    answer: z.enum(REMOTE_ANSWERS),
    reason: text.optional(),
  }),
} as const;
