/** The `ai` package against the built server, through `@ai-sdk/openai` and through `@ai-sdk/open-responses`. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { createOpenAI } from "@ai-sdk/openai";
import {
  APICallError,
  generateObject,
  generateText,
  isStepCount,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import { reply, script } from "../../../src/testing/index.ts";
import {
  type ClientBench,
  KEY,
  serveEmbedded,
  serveScript,
  TIMEOUT,
  toolNames,
} from "./client-fixture.ts";

interface Way {
  readonly name: string;
  /** True if it reads reasoning, and not only summaries of it. */
  readonly readsThoughts: boolean;
  open(bench: ClientBench, apiKey?: string): LanguageModel;
}

const WAYS: readonly Way[] = [
  {
    name: "@ai-sdk/openai",
    readsThoughts: false,
    open: ({ baseURL }, apiKey = KEY) =>
      createOpenAI({ baseURL, apiKey }).responses("gpt-5-scripted"),
  },
  {
    name: "@ai-sdk/open-responses",
    readsThoughts: true,
    open: ({ baseURL }, apiKey = KEY) =>
      createOpenResponses({ name: "offshoot", url: `${baseURL}/responses`, apiKey })("scripted"),
  },
];

const weather = tool({
  description: "How warm it is.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 18 }),
});

const asksPlain = { maxRetries: 0 } as const;

for (const { name, readsThoughts, open } of WAYS) {
  describe(`the ai package with ${name}`, () => {
    it("generates text in several steps, with tools", TIMEOUT, async () => {
      await using bench = await serveScript(
        script(
          reply.reasoning(
            "Both of them.",
            reply.calls([
              { name: "weather", arguments: { city: "Paris" } },
              { name: "weather", arguments: { city: "Oslo" } },
            ]),
          ),
          reply.text("18 degrees in both.", { usage: { input: 40, output: 6 } }),
        ),
      );
      const { text, steps, usage, finishReason } = await generateText({
        ...asksPlain,
        model: open(bench),
        tools: { weather },
        stopWhen: isStepCount(4),
        system: "Be short.",
        prompt: "How warm is it?",
      });
      assert.equal(text, "18 degrees in both.");
      assert.equal(finishReason, "stop");
      assert.equal(steps.length, 2);
      assert.equal(steps[0]?.finishReason, "tool-calls");
      assert.equal(steps[0]?.reasoningText, readsThoughts ? "Both of them." : undefined);
      assert.deepEqual(
        steps[0]?.toolResults.map(({ output }) => output),
        [
          { city: "Paris", degrees: 18 },
          { city: "Oslo", degrees: 18 },
        ],
      );
      assert.ok((usage.inputTokens ?? 0) > 40);
      assert.deepEqual(
        bench.asked[1]?.messages.map(({ role }) => role),
        ["system", "user", "assistant", "tool", "tool"],
      );
    });

    it("streams text, reasoning and calls", TIMEOUT, async () => {
      await using bench = await serveScript(
        script(
          reply.reasoning(
            "I think.",
            reply.calls([{ name: "weather", arguments: { city: "Rome" } }]),
          ),
          reply.text("It is warm there."),
        ),
      );
      const result = streamText({
        ...asksPlain,
        model: open(bench),
        tools: { weather },
        stopWhen: isStepCount(4),
        prompt: "How warm is Rome?",
      });
      const seen: string[] = [];
      let text = "";
      for await (const part of result.fullStream) {
        if (part.type === "text-delta") text += part.text;
        if (part.type === "error") assert.fail(String(part.error));
        if (part.type !== seen.at(-1)) seen.push(part.type);
      }
      assert.equal(text, "It is warm there.");
      for (const type of ["reasoning-start", "tool-call", "tool-result", "text-delta", "finish"]) {
        assert.ok(seen.includes(type), `${type}: ${seen.join(" ")}`);
      }
      const [first] = await result.steps;
      assert.equal(first?.reasoningText, readsThoughts ? "I think." : undefined);
    });

    it("generates an object of a schema", TIMEOUT, async () => {
      const said = { name: "Tea", people: ["Ada"] };
      const schema = z.object({ name: z.string(), people: z.array(z.string()) });
      await using bench = await serveScript(
        script(reply.text(JSON.stringify(said)), reply.text(JSON.stringify(said))),
      );
      const model = open(bench);
      const { object } = await generateObject({ ...asksPlain, model, schema, prompt: "Which?" });
      assert.deepEqual(object, said);
      const { output } = await generateText({
        ...asksPlain,
        model,
        prompt: "Which?",
        output: Output.object({ schema }),
      });
      assert.deepEqual(output, said);
      for (const { response_format } of bench.asked) {
        assert.match(JSON.stringify(response_format), /^{"type":"json_schema"/);
      }
    });

    it("names the response in its metadata, and the reason of a refusal", TIMEOUT, async () => {
      await using bench = await serveScript(script(reply.text("Hello.")));
      const { response } = await generateText({ ...asksPlain, model: open(bench), prompt: "Hi" });
      assert.match(response.id, /^resp_/);
      assert.equal((await bench.served.ask("GET", `/v1/responses/${response.id}`)).status, 200);
      const refused = generateText({ ...asksPlain, model: open(bench, "wrong"), prompt: "Hi" });
      await assert.rejects(refused, (thrown: unknown) => {
        assert.ok(APICallError.isInstance(thrown));
        assert.equal(thrown.statusCode, 401);
        assert.equal(thrown.isRetryable, false);
        return true;
      });
    });
  });
}

describe("the ai package", () => {
  it("continues a stored response, and shows what the provider stores", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Noted."), reply.text("Blue.")));
    const model = createOpenAI({ baseURL: bench.baseURL, apiKey: KEY }).responses("scripted");
    const first = await generateText({ ...asksPlain, model, prompt: "My colour is blue." });
    const previousResponseId = first.providerMetadata?.["openai"]?.["responseId"];
    assert.equal(previousResponseId, first.response.id);
    const second = await generateText({
      ...asksPlain,
      model,
      prompt: "Which?",
      providerOptions: { openai: { previousResponseId: String(previousResponseId) } },
    });
    assert.equal(second.text, "Blue.");
    assert.equal(bench.asked[1]?.messages.length, 3);
  });

  it("speaks with the embedded model", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const provider = createOpenResponses({
      name: "offshoot",
      url: `${bench.baseURL}/responses`,
      apiKey: KEY,
    });
    const result = streamText({ ...asksPlain, model: provider("embedded/offline"), prompt: "Hi" });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    assert.ok(text.length > 0);
    assert.equal(await result.finishReason, "stop");
  });
});

describe("the ai package, where tools are loaded late", () => {
  it("has the server search for them", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([{ name: "tool_search", arguments: { query: "how warm" } }]),
        reply.calls([{ name: "weather", arguments: { city: "Paris" } }]),
        reply.text("18 degrees."),
      ),
    );
    const openai = createOpenAI({ baseURL: bench.baseURL, apiKey: KEY });
    const late = { ...weather, providerOptions: { openai: { deferLoading: true } } };
    const { text, steps } = streamText({
      ...asksPlain,
      model: openai.responses("gpt-5-scripted"),
      prompt: "How warm is it?",
      tools: { search: openai.tools.toolSearch({}), weather: late },
      stopWhen: isStepCount(4),
    });
    assert.equal(await text, "18 degrees.");
    assert.deepEqual(
      (await steps)[0]?.content.map(
        (part) => `${part.type} ${"toolName" in part && part.toolName}`,
      ),
      [
        ...["tool-call search", "tool-result search"],
        ...["tool-call weather", "tool-result weather"],
      ],
    );
    assert.deepEqual(bench.asked.map(toolNames), [
      ["tool_search"],
      ...Array.from({ length: 2 }, () => ["tool_search", "weather"]),
    ]);
  });
});
