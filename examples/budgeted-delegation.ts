/**
 * A main agent that hands parts of its task to subagents, all within one budget. In a clone: `node scripts/compile.js`,
 * then `node build/examples/budgeted-delegation.js`. In a program of yours, import from "offshoot".
 */

import { fileURLToPath } from "node:url";
import { createRuntime, type SubagentEvent } from "../src/index.ts";
import { reply, respond, startChatUpstream } from "../src/testing/index.ts";

const PARTS = ["parser", "printer", "tests"];

export interface Audit {
  readonly text: string;
  readonly tokens: number;
  readonly started: readonly string[];
}

/** The tree never spends more than `maxTokens`: each subagent's share is reserved before it starts. */
export async function audit(maxTokens: number): Promise<Audit> {
  const upstream = await startChatUpstream({ engine: respond(answer) });
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
    return { text, tokens: Number(spent["tokens"]), started };
  } finally {
    await runtime.close();
    await upstream.close();
  }
}

/** Stands in for a model: the main agent delegates once, a subagent reports at once. */
function answer({ items }: { readonly items: readonly object[] }): ReturnType<typeof reply.text> {
  const text = JSON.stringify(items);
  if (text.includes("function_call_output")) return reply.text("All three parts are audited.");
  if (!text.includes("in three parts")) return reply.text("No problems found.");
  const calls = PARTS.map((label) => ({
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt: `Audit the ${label}.` }),
  }));
  return reply.calls(calls);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await audit(200_000));
