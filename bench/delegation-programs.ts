/**
 * The programs that `delegation.ts` measures, each in a process of its own: `NAME URL CHILDREN [TOOL]`. Each loads
 * what it needs and nothing else, and is written as its package's own documentation says: an agent that reads a file,
 * called by a tool of an agent that delegates.
 */

import { readFile } from "node:fs/promises";
import { importClient } from "./clients.ts";
import { toPrompt } from "./delegation-upstream.ts";

interface Work {
  readonly url: string;
  readonly children: number;
  readonly tool: string;
}

/** The package as it is installed; the compiler may not find it. */
const PACKAGE: string = "offshoot";
const MODEL = "test";
const FILE = "data.txt";

const PROGRAMS: Readonly<Record<string, (work: Work) => Promise<void>>> = {
  fetch: runFetches,
  ai: runAi,
  agents: runAgents,
  offshoot: runOffshoot,
};

const [name = "", url = "", children = "", tool = "delegate"] = process.argv.slice(2);
await PROGRAMS[name]?.({ url, children: Number(children), tool });

interface ToolCall {
  readonly id: string;
  readonly function: { readonly arguments: string };
}

interface Said {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
}

/** The least that does the work: no checks, no retries, no record, no limits. */
async function runFetches({ url, children, tool }: Work): Promise<void> {
  const ask = async (messages: readonly object[]): Promise<Said> => {
    const answer = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, messages }),
    });
    const { choices } = (await answer.json()) as { choices: [{ message: Said }] };
    return choices[0].message;
  };
  const work = async (
    prompt: string,
    run: (call: ToolCall) => Promise<string>,
  ): Promise<string> => {
    const messages: object[] = [{ role: "user", content: prompt }];
    for (;;) {
      const said = await ask(messages);
      if (!said.tool_calls) return said.content ?? "";
      const outputs = said.tool_calls.map(async (call) => ({
        role: "tool",
        tool_call_id: call.id,
        content: await run(call),
      }));
      messages.push(said, ...(await Promise.all(outputs)));
    }
  };
  await work(toPrompt(children, tool), (call) => {
    const { input } = JSON.parse(call.function.arguments) as { input: string };
    return work(input, () => readFile(FILE, "utf8"));
  });
}

interface Zod {
  object(shape: object): object;
  string(): object;
}

interface AiAgent {
  generate(asked: { prompt: string }): Promise<{ readonly text: string }>;
}

async function runAi({ url, children, tool }: Work): Promise<void> {
  const ai = await importClient<{
    ToolLoopAgent: new (settings: object) => AiAgent;
    tool(definition: object): object;
  }>("ai");
  const { createOpenAI } = await importClient<{
    createOpenAI(options: object): { chat(model: string): object };
  }>("@ai-sdk/openai");
  const { z } = await importClient<{ z: Zod }>("zod");
  const model = createOpenAI({ baseURL: url, apiKey: "none" }).chat(MODEL);
  const read = ai.tool({
    description: "Reads a file.",
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }: { path: string }) => readFile(path, "utf8"),
  });
  const child = new ai.ToolLoopAgent({ model, tools: { read } });
  const delegate = ai.tool({
    description: "Hands a task on.",
    inputSchema: z.object({ input: z.string() }),
    execute: async ({ input }: { input: string }) => (await child.generate({ prompt: input })).text,
  });
  const parent = new ai.ToolLoopAgent({ model, tools: { delegate } });
  await parent.generate({ prompt: toPrompt(children, tool) });
}

interface AgentsAgent {
  asTool(options: object): object;
}

async function runAgents({ url, children, tool }: Work): Promise<void> {
  Object.assign(process.env, { OPENAI_BASE_URL: url, OPENAI_API_KEY: "none" });
  const agents = await importClient<{
    Agent: new (settings: object) => AgentsAgent;
    tool(definition: object): object;
    run(agent: AgentsAgent, input: string): Promise<object>;
    setOpenAIAPI(api: string): void;
    setTracingDisabled(disabled: boolean): void;
  }>("@openai/agents");
  const { z } = await importClient<{ z: Zod }>("zod");
  agents.setOpenAIAPI("chat_completions");
  agents.setTracingDisabled(true);
  const read = agents.tool({
    name: "read",
    description: "Reads a file.",
    parameters: z.object({ path: z.string() }),
    execute: ({ path }: { path: string }) => readFile(path, "utf8"),
  });
  const child = new agents.Agent({ name: "child", model: MODEL, tools: [read] });
  const delegate = child.asTool({ toolName: "delegate", toolDescription: "Hands a task on." });
  const parent = new agents.Agent({ name: "parent", model: MODEL, tools: [delegate] });
  await agents.run(parent, toPrompt(children, tool));
}

async function runOffshoot({ url, children, tool }: Work): Promise<void> {
  const library = (await import(PACKAGE)) as typeof import("../src/index.ts");
  const runtime = await library.createRuntime();
  const run = await runtime.run({
    model: `custom/${MODEL}`,
    provider: "openai-chat",
    url,
    input: toPrompt(children, tool),
    tools: ["read", tool],
  });
  const { ending, message } = await run.result();
  if (ending !== "completed") throw new Error(`The run ended as ${ending}: ${message}`);
  await runtime.close();
}
