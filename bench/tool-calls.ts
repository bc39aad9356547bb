/**
 * The tool calls of one turn: calls that only read run at the same time, calls that change things one after the other.
 * Whole runs over a scripted model and real engine, with tools that wait as a disk or a network does.
 *
 *     npm run bench:tool-calls [-- --check]
 */

import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { createRuntime, defineTool, type Tool } from "../src/index.ts";
import { reply, script, startChatUpstream } from "../src/testing/index.ts";
import { type Contender, runBench } from "./measure.ts";

const WAIT_MS = 50;
const CALLS = 8;
const ROUNDS = 5;

const TOOLS: readonly Tool[] = [toWaiting("look", true), toWaiting("change", false)];

function toWaiting(name: string, readOnly: boolean): Tool {
  return defineTool({
    name,
    description: "Waits.",
    parameters: z.object({}),
    readOnly,
    async run() {
      await delay(WAIT_MS);
      return "done";
    },
  });
}

const ONE = "one reading call";
const SIDE_BY_SIDE = `${CALLS} reading calls`;
const IN_ORDER = `${CALLS} changing calls`;

await runBench([
  {
    title: `calls of ${WAIT_MS} ms in one turn`,
    unit: "ms",
    rounds: ROUNDS,
    contenders: [
      contend(ONE, "look", 1),
      contend(SIDE_BY_SIDE, "look", CALLS),
      contend(IN_ORDER, "change", CALLS),
    ],
    limits: [
      { subject: SIDE_BY_SIDE, baseline: ONE, atMost: 1.5 },
      { subject: SIDE_BY_SIDE, baseline: IN_ORDER, atMost: 0.25 },
    ],
  },
]);

function contend(name: string, tool: string, count: number): Contender {
  return {
    name,
    async measure() {
      const calls = Array.from({ length: count }, () => ({ name: tool, arguments: "{}" }));
      await using upstream = await startChatUpstream({
        engine: script(reply.calls(calls), reply.text("Done.")),
      });
      const runtime = await createRuntime({ tools: TOOLS, env: {} });
      const started = performance.now();
      const run = await runtime.run({
        model: "custom/test",
        provider: "openai-chat",
        url: upstream.url,
        input: "go",
        tools: [tool],
      });
      await run.result();
      const cost = performance.now() - started;
      await runtime.close();
      return cost;
    },
  };
}
