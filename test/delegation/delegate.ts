/** One call of `subagent` by a scripted parent, with everything that followed. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Json } from "../../src/base/json.ts";
import type { Envelope } from "../../src/delegation/envelope.ts";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { RunRequest, RuntimeOptions } from "../../src/runtime/runtime.ts";
import { type Reply, reply, respond } from "../../src/testing/index.ts";
import { startTree, type Tree, type TreeRun } from "./tree-fixture.ts";

export interface Delegated extends TreeRun {
  readonly tree: Tree;
  readonly envelope: Envelope;
  /** What the model of the parent was told, word for word. */
  readonly told: string;
  /** What the models below the parent were asked, oldest first. */
  readonly asked: readonly ModelRequest[];
  /** What the parent's model was asked. */
  readonly parent: readonly ModelRequest[];
  readonly observed: readonly SubagentEvent[];
}

interface Setup extends RuntimeOptions {
  /** Answers every run below the parent; "Found." when left out. */
  readonly child?: (request: ModelRequest) => Reply;
  readonly request?: Partial<RunRequest>;
  readonly files?: Readonly<Record<string, string>>;
}

export const CALL = { label: "research", task_prompt: "Look for it." };

export async function delegate(
  t: TestContext,
  input: Json = CALL,
  { child = () => reply.text("Found."), request = {}, ...options }: Setup = {},
): Promise<Delegated> {
  const asked: ModelRequest[] = [];
  const parent: ModelRequest[] = [];
  const choose = (question: ModelRequest): Reply => {
    if (!JSON.stringify(question.items[0]).includes('"go"')) {
      asked.push(question);
      return child(question);
    }
    parent.push(question);
    return outputsIn(question).length === 0 ? reply.calls([call(input)]) : reply.text("Done.");
  };
  const tree = await startTree(t, respond(choose), options);
  const run = await tree.run(request);
  assert.deepEqual([run.end.ending, run.end.output_text], ["completed", "Done."], run.end.message);
  const [told = ""] = outputsIn(parent.at(-1));
  const envelope = JSON.parse(told) as Envelope;
  return { ...run, tree, told, envelope, asked, parent, observed: tree.observed };
}

/** Makes a child fail at once: a refusal is not retried. */
export function refusal(message: string): Reply {
  return reply.status(400, { error: { message, type: "invalid_request_error" } });
}

/** A call of `subagent` as a model makes it. */
export function call(input: Json): { readonly name: string; readonly arguments: string } {
  return { name: "subagent", arguments: JSON.stringify(input) };
}

/** The texts of a run's conversation that its user said. */
export function saidIn(request: ModelRequest | undefined): string[] {
  return (request?.items ?? []).flatMap((item) =>
    item.type === "message" && item.role === "user" ? [String(item.content)] : [],
  );
}

/** What it was asked to do, without the report prompt. */
export function taskOf(request: ModelRequest | undefined): string {
  return dropReportWish(saidIn(request)[0] ?? "");
}

/** What the tools of a run have answered, as its model is told. */
export function outputsIn(request: ModelRequest | undefined): string[] {
  return (request?.items ?? []).flatMap((item) =>
    item.type === "function_call_output" ? [String(item.output)] : [],
  );
}

export function toolsOf(request: ModelRequest | undefined): string[] {
  return (request?.tools ?? []).map((tool) => ("name" in tool ? String(tool.name) : tool.type));
}

export function eventsIn<Type extends RunEvent["type"]>(
  events: readonly RunEvent[],
  type: Type,
): Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}
