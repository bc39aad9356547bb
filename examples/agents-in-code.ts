/**
 * Agents as objects, with instructions, tools and budgets of their own; those in files (`offshoot agents new`) have the
 * same fields. In a clone: `node scripts/compile.js`, then `node build/examples/agents-in-code.js`.
 */

import { fileURLToPath } from "node:url";
import { type AgentOptions, createRuntime } from "offshoot";
import { reply, respond, startChatUpstream } from "offshoot/testing";

const REVIEWER: AgentOptions = {
  name: "reviewer",
  description: "Reviews a change and names what is wrong with it.",
  instructions: "You review. Name the file and the line.",
  tools: [],
  budget: { turns: 3, tokens: 50_000 },
};

export async function askReviewer(): Promise<string> {
  const upstream = await startChatUpstream({ engine: respond(answer) });
  const runtime = await createRuntime({ agents: [REVIEWER] });
  try {
    const run = await runtime.run({
      model: "custom/any",
      url: upstream.url,
      input: "Let the reviewer look at the last commit.",
      tools: ["subagent"],
    });
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
    await upstream.close();
  }
}

/** Stands in for a model: it calls the reviewer, an agent with its own instructions. */
function answer({
  items,
  instructions,
}: {
  readonly items: readonly object[];
  readonly instructions?: string | undefined;
}) {
  const text = JSON.stringify(items) + (instructions ?? "");
  if (text.includes("function_call_output"))
    return reply.text("The reviewer says: main.ts:7 divides by zero.");
  if (text.includes("You review.")) return reply.text("main.ts:7 divides by zero.");
  const order = { agent: "reviewer", label: "review", task_prompt: "Review the last commit." };
  return reply.calls([{ name: "subagent", arguments: JSON.stringify(order) }]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await askReviewer());
