/** `subagents`: waits for background subagents, lists them, stops one, or sends it a message. */

import { steerRun } from "../../agent/inbox.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Tool, ToolContext } from "../../tools/tool.ts";
import type { BackgroundChildren } from "../background.ts";
import type { BackgroundChild } from "../background-child.ts";
import type { WatchingNode } from "../background-door.ts";
import { isNamed } from "../continued-child.ts";
import type { ChildQuestion } from "../questions.ts";
import { MAX_WAIT_MS, WAIT_MS } from "../waiting.ts";
import { ACTIONS, NO_TIMEOUT_MS, SUBAGENTS_SPEC } from "./specs.ts";

type Action = (typeof ACTIONS)[number];

interface Call {
  readonly action: Action;
  readonly ids: readonly string[];
  readonly timeoutMs: number;
  readonly id: string;
  readonly text: string;
}

type Handler = (children: BackgroundChildren, call: Call, context: ToolContext) => Promise<Json>;

const HANDLERS: Readonly<Record<Action, Handler>> = { wait, list, stop, message };

export function createSubagentsTool({ background }: WatchingNode): Tool {
  return {
    spec: SUBAGENTS_SPEC,
    // What the turn asked for before it is done before it.
    readOnly: false,
    effect: "delegate",
    timeoutMs: NO_TIMEOUT_MS,
    parse: readCall,
    async run(input, context) {
      const call = input as Call;
      if (!background) throw new Failure("forbidden", "This run has no background subagents.");
      return await HANDLERS[call.action](await background.open(), call, context);
    },
  };
}

function readCall(input: Json): Call {
  if (!isJsonObject(input)) throw invalid("the arguments must be an object");
  const { action, ids, timeout_ms, id, text } = input;
  const known = ACTIONS.find((one) => one === action);
  if (!known) throw invalid(`\`action\` must be one of ${ACTIONS.join(", ")}`);
  const needed = { stop: { id }, message: { id, text }, wait: {}, list: {} }[known];
  for (const [name, value] of Object.entries(needed)) {
    if (typeof value !== "string" || value.trim() === "") {
      throw invalid(`\`${known}\` needs \`${name}\``);
    }
  }
  return {
    action: known,
    ids: Array.isArray(ids) ? ids.filter((one) => typeof one === "string") : [],
    timeoutMs:
      typeof timeout_ms === "number" && timeout_ms > 0
        ? Math.min(timeout_ms, MAX_WAIT_MS)
        : WAIT_MS,
    id: typeof id === "string" ? id : "",
    text: typeof text === "string" ? text : "",
  };
}

async function wait(
  children: BackgroundChildren,
  { ids, timeoutMs }: Call,
  { signal, idempotencyKey: callKey }: ToolContext,
): Promise<Json> {
  const wanted = ids.map((id) => find(children, id));
  // A child that waits for this run's answer does not end before it.
  const isStill = (child: BackgroundChild): boolean =>
    child.envelope !== undefined || children.openQuestion(child) !== undefined;
  const isOver = (): boolean => {
    if (children.unheard().some(({ kind }) => kind === "question")) return true;
    if (wanted.length > 0) return wanted.every(isStill);
    return children.unheard().length > 0 || children.all.every(isStill);
  };
  await children.waitUntil(isOver, { limitMs: timeoutMs, signal, callKey });
  const told = children.unheard();
  const isTold = (id: string): boolean => told.some(({ child_id }) => child_id === id);
  const ended = children.all.filter(
    (child) => child.envelope && (wanted.includes(child) || isTold(child.id)),
  );
  children.note(callKey, [...ended.map(({ id }) => id), ...told.map(({ mark }) => mark)]);
  return {
    ended: ended.map(toEnded),
    asks: children.all.flatMap((child) => toAsking(child, children.openQuestion(child))),
    running: children.all.filter(({ envelope }) => !envelope).map(({ id }) => id),
  };
}

async function list(children: BackgroundChildren): Promise<Json> {
  return { subagents: await children.list() };
}

async function stop(
  children: BackgroundChildren,
  { id }: Call,
  { idempotencyKey: callKey }: ToolContext,
): Promise<Json> {
  const child = find(children, id);
  child.stop("Its parent stopped it.");
  await child.ended;
  children.note(callKey, [child.id]);
  return { ended: [toEnded(child)] };
}

async function message(
  children: BackgroundChildren,
  { id, text }: Call,
  { idempotencyKey: key, signal }: ToolContext,
): Promise<Json> {
  const child = find(children, id);
  if (child.envelope) {
    const hint = "Ask it again with `subagent` and `continue`.";
    throw new Failure("conflict", `\`${child.label}\` has ended. ${hint}`);
  }
  const question = await children.questionToAnswer(child, { signal, callKey: key });
  if (question) await children.answer(question, text, key);
  else await steerRun(children.runs, child.id, text, key);
  return { id: child.id, sent: question ? "answer" : "message" };
}

function find(children: BackgroundChildren, name: string): BackgroundChild {
  const found = children.all.findLast((child) => isNamed(child, name));
  if (found) return found;
  const all = children.all.map(({ id }) => id).join(", ") || "none";
  throw new Failure("not_found", `There is no background subagent \`${name}\`. There are: ${all}.`);
}

function toEnded({ id, envelope }: BackgroundChild): JsonObject {
  return { id, ...envelope };
}

function toAsking(
  { id, label }: BackgroundChild,
  question: ChildQuestion | undefined,
): JsonObject[] {
  return question ? [{ id, label, question: question.text }] : [];
}

function invalid(problem: string): Failure {
  return new Failure("invalid_request", `The arguments do not fit: ${problem}.`);
}
