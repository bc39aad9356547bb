/** Models for the tests of families of runs: the answers, by the task that each run was given. */

import assert from "node:assert/strict";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { Envelope } from "../../src/delegation/envelope.ts";
import type { PlannedModel } from "../../src/delegation/plan-cost.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { Run, RunRequest } from "../../src/runtime/runtime.ts";
import { type Reply, reply, respond, type Script } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import type { Tree } from "./tree-fixture.ts";

/** The facts of a model that costs nothing. */
export const FREE_MODEL: PlannedModel = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  costOf: () => 0,
};

/** What a run's model has received when it answers. */
export interface Moment {
  readonly request: ModelRequest;
  /** What its calls have returned so far. */
  readonly outputs: readonly string[];
  /** True if it is asked for its report. */
  readonly isReporting: boolean;
}

export type Role = (moment: Moment) => Reply;

/** By task; `go` is the root's. A run without a role says `done`. */
export type Roles = Readonly<Record<string, Role>>;

export function playing(roles: Roles): Script {
  return respond((request) => {
    const prompts = request.items.flatMap((item) =>
      item.type === "message" && item.role === "user" && typeof item.content === "string"
        ? [item.content]
        : [],
    );
    const outputs = request.items.flatMap((item) =>
      item.type === "function_call_output" && typeof item.output === "string" ? [item.output] : [],
    );
    const isReporting = prompts.at(-1) === REPORT;
    return (
      roles[toTask(prompts[0] ?? "")]?.({ request, outputs, isReporting }) ?? reply.text("done")
    );
  });
}

const REPORT = "Summarize your findings concisely";

/** Without the report prompt that is sent with it. */
export const toTask = (prompt: string): string => prompt.replace(`\n\n${REPORT}`, "");

/** Makes these calls in its first turn and is done in its next. */
export function calling(...calls: readonly (readonly [name: string, input: object])[]): Role {
  return ({ outputs }) => (outputs.length > 0 ? reply.text("done") : toCalls(...calls));
}

export const toCalls = (...calls: readonly (readonly [name: string, input: object])[]): Reply =>
  reply.calls(calls.map(toCall));

/** Makes these calls in every turn, and never ends by itself. */
export function callingForEver(name: string, input: object): Role {
  return ({ isReporting }) =>
    isReporting ? reply.text("GOAL reached, success.") : reply.calls([toCall([name, input])]);
}

const toCall = ([name, input]: readonly [name: string, input: object]) => ({
  name,
  arguments: JSON.stringify(input),
});

export const spawning = (label: string, more: object = {}) =>
  ["subagent", { label, task_prompt: label, ...more }] as const;

/** The envelopes that a run's model was given, by label. */
export function envelopesIn(events: readonly RunEvent[]): Record<string, Envelope> {
  const envelopes = events.flatMap((event) => {
    if (event.type !== "tool_end" || event.name !== "subagent") return [];
    assert.ok(event.item.type === "function_call_output");
    const envelope = JSON.parse(String(event.item.output)) as Envelope;
    assert.equal(event.failed, !envelope.success, "the record says the same as the envelope");
    return [envelope];
  });
  return Object.fromEntries(envelopes.map((one) => [one.metadata["subagent_label"], one]));
}

export const eventsOfType = <Type extends RunEvent["type"]>(
  events: readonly RunEvent[],
  type: Type,
) => events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);

/** Starts a run that its test ends itself. */
export const begin = (
  { runtime, upstream, root }: Tree,
  tools: readonly string[],
  request: Partial<RunRequest> = {},
): Promise<Run> =>
  runtime.run({
    model: "custom/test",
    provider: "openai-chat",
    url: upstream.url,
    input: "go",
    tools,
    root,
    ...request,
  });

/** Kept closed by a test until something has happened. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A killed process keeps its id until its parent has waited for it. */
export async function untilGone(pid: number): Promise<void> {
  const isGone = (): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  await untilTrue(isGone, `the end of process ${pid}`);
}

/** How many model calls were made in all for this task. */
export const asksFor = (requests: readonly { readonly text: string }[], task: string): number =>
  requests.filter(({ text }) => {
    const { messages } = JSON.parse(text) as { messages: { role: string; content: unknown }[] };
    return toTask(String(messages.find(({ role }) => role === "user")?.content)) === task;
  }).length;

/** An agent with one second for its work. */
export const HURRIED: AgentDefinition = {
  name: "hurried",
  description: "Has no time.",
  path: "hurried.md",
  model: undefined,
  tools: undefined,
  budget: { seconds: 1 },
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Hurry.",
};

export const COUNTER: AgentDefinition = {
  name: "counter",
  description: "Counts.",
  path: "counter.md",
  model: "custom/small",
  tools: ["read"],
  budget: { turns: 4 },
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Count, and nothing else.",
};
