/**
 * A main agent that delegates parts of its task to subagents, all within one budget.
 *
 * In a clone: `node scripts/compile.js`, then `node build/examples/budgeted-delegation.js`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime, type SubagentEvent } from "offshoot";
import { reply, respond, startChatUpstream } from "offshoot/testing";

const PARTS = ["parser", "printer", "tests"];

export interface Audit {
  readonly text: string;
  readonly tokens: number;
  readonly started: readonly string[];
  /** What the main agent was told about subagents that the rest of the budget did not pay for. */
  readonly refused: readonly string[];
}

/** The tree never spends more than `maxTokens`: each subagent's share is reserved before it starts. */
export async function audit(maxTokens: number): Promise<Audit> {
  const refused = new Set<string>();
  const engine = respond((request) => {
    for (const report of reportsOf(request))
      if (report.includes("Not started")) refused.add(report);
    return answer(request);
  });
  const upstream = await startChatUpstream({ engine });
  const started: string[] = [];
  const observe = (event: SubagentEvent): void => {
    if (event.event === "spawn") started.push(event.label);
  };
  const runtime = await createRuntime({ observe });
  try {
    const run = await runtime.run({
      model: "custom/any",
      url: upstream.url,
      input: "Audit the project in three parts.",
      tools: ["subagent", "parallel_subagent"],
      limits: { tokens: maxTokens },
    });
    const { output_text: text, spent } = await run.result();
    return { text, tokens: Number(spent["tokens"]), started, refused: [...refused] };
  } finally {
    await runtime.close();
    await upstream.close();
  }
}

interface Asked {
  readonly items: readonly object[];
}

/** What the main agent was told about each subagent. */
function reportsOf({ items }: Asked): string[] {
  return items.flatMap((item) => ("output" in item ? [JSON.stringify(item.output)] : []));
}

/** Stands in for a model: the main agent delegates once, and each subagent reports at once. */
function answer({ items }: Asked): ReturnType<typeof reply.text> {
  const text = JSON.stringify(items);
  if (text.includes("function_call_output")) return reply.text("All three parts are audited.");
  if (!text.includes("in three parts")) return reply.text("No problems found.");
  const calls = PARTS.map((label) => ({
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt: `Audit the ${label}.` }),
  }));
  return reply.calls(calls);
}

/** Enough for the main agent and two of its three subagents. */
export const SMALL_BUDGET = 6_000;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await audit(200_000));
  console.log(await audit(SMALL_BUDGET));
}
