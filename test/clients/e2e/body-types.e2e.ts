/**
 * Every body that the OpenAI wires write, checked against the types of OpenAI's own package: the bodies are
 * made by `encode`, written as literals, and given to the compiler.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Item } from "../../../src/protocol/items.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import type { Wire } from "../../../src/providers/wire.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const PLAIN: ModelRequest = {
  model: "gpt-5.1",
  instructions: "Be brief.",
  items: [{ type: "message", role: "user", content: "Hello" }],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: "none", summary: undefined },
  format: { type: "text" },
  previous: undefined,
};

const READ = {
  type: "function",
  name: "read",
  description: "Read.",
  parameters: { type: "object", properties: {} },
  strict: false,
} as const;

const LOOP: readonly Item[] = [
  { type: "message", role: "developer", content: "Mind the gap." },
  ...PLAIN.items,
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "sealed",
  },
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Wait.", annotations: [] }],
  },
  {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name: "read",
    arguments: "{}",
    status: "completed",
  },
  { type: "function_call_output", call_id: "call_1", output: "text" },
  { type: "message", role: "assistant", content: "Done." },
];

const MEDIA: readonly Item[] = [
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
      { type: "input_text", text: "What is it?" },
    ],
  },
];

const REQUESTS: Readonly<Record<string, ModelRequest>> = {
  plain: PLAIN,
  tuned: { ...PLAIN, temperature: 0.5, top_p: 0.9, max_output_tokens: 100 },
  thinking: { ...PLAIN, reasoning: { effort: "high", summary: "detailed", sealed: true } },
  tools: { ...PLAIN, tools: [READ], parallel_tool_calls: false },
  forced: { ...PLAIN, tools: [READ], tool_choice: { type: "function", name: "read" } },
  loop: { ...PLAIN, items: LOOP, tools: [READ] },
  chained: {
    ...PLAIN,
    items: LOOP,
    tools: [READ],
    previous: { at: { response_id: "resp_1", dialect: "function_call", stored: true }, covered: 5 },
  },
  media: { ...PLAIN, items: MEDIA },
  schema: {
    ...PLAIN,
    format: { type: "json_schema", name: "out", schema: { type: "object" }, strict: true },
  },
  object: { ...PLAIN, format: { type: "json_object" } },
};

const TYPES: readonly (readonly [Wire, string])[] = [
  [chatWire, "OpenAI.ChatCompletionCreateParamsStreaming"],
  [responsesWire, "OpenAI.Responses.ResponseCreateParamsStreaming"],
];

describe("request bodies", () => {
  for (const [wire, type] of TYPES) {
    it(`${wire.name} writes what OpenAI's own types accept`, async () => {
      // Below the checkout, so that the package is found from there.
      const folder = await mkdtemp(`${ROOT}build/test/clients/body-types-`);
      try {
        const bodies = Object.entries(REQUESTS).map(([name, request]) => {
          const body = JSON.stringify(wire.encode(request, { effortNone: true }), null, 2);
          return `export const ${name}: ${type} = ${body};`;
        });
        await writeFile(
          `${folder}/bodies.ts`,
          `import type OpenAI from "openai";\n${bodies.join("\n")}\n`,
        );
        assert.equal(await compile(`${folder}/bodies.ts`), "");
        await writeFile(
          `${folder}/bodies.ts`,
          `import type OpenAI from "openai";\nexport const a: ${type} = { model: 1 };\n`,
        );
        assert.match(await compile(`${folder}/bodies.ts`), /error TS/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});

/** The compiler's output; empty if there are no errors. */
async function compile(file: string): Promise<string> {
  const flags = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2023",
  ];
  const tsc = `${ROOT}tooling/node_modules/typescript/bin/tsc`;
  const run = promisify(execFile)(process.execPath, [tsc, ...flags, file], { cwd: ROOT });
  const { stdout } = await run.catch((failed: { stdout: string }) => failed);
  return stdout;
}
