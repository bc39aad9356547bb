/**
 * What every wire must do with a request: each option, each form of a tool choice and each part of a
 * message is written in the API's own form, reported, or refused before anything is sent. Nothing is lost
 * silently.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Logprob } from "../../src/protocol/content.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type { Tool, ToolChoice } from "../../src/protocol/tools.ts";
import { type ModelOptions, type ModelRequest, toParameter } from "../../src/providers/provider.ts";
import { reply, script } from "../../src/testing/index.ts";
import { patience } from "../patience.ts";
import { assertEventOrder } from "./event-order.ts";
import {
  itemsOf,
  type OpenUpstream,
  request,
  TWO_CALLS,
  textOf,
  WEATHER,
} from "./provider-contract.ts";

type OptionName = keyof ModelOptions;

/** What an API supports; everything else must be reported. */
export interface Words {
  readonly options: readonly OptionName[];
  /** True if some call can be forced. */
  readonly canForce?: boolean;
  /** True if it can be limited to one call at a time. */
  readonly canSerialize?: boolean;
  /** How the allowed tools are sent: as a list, or by offering no others. */
  readonly allowed?: "list" | "offer";
  readonly hasSound?: boolean;
  readonly hasImageUrls?: boolean;
  readonly hasPdfs?: boolean;
  /** True if the answer can be requested in one piece. */
  readonly hasWhole?: boolean;
}

/** A value of each that is clearly visible in a body, and the text that shows it. */
const WISHES: { readonly [Name in OptionName]-?: readonly [ModelOptions[Name], RegExp] } = {
  stop: [["HALT-7"], /HALT-7/],
  frequency_penalty: [0.375, /0\.375/],
  presence_penalty: [0.625, /0\.625/],
  top_logprobs: [3, /ogprobs":3/],
  verbosity: ["low", /"verbosity":"low"/],
  service_tier: ["priority", /"service_?[tT]ier":/],
  user: ["user-77", /user-77/],
  safety_identifier: ["safe-77", /safe-77/],
  prompt_cache_key: ["cache-77", /cache-77/],
  prompt_cache_retention: ["24h", /"24h"|"ttl":"1h"/],
  prompt_cache_options: [{ ttl: "30m" }, /"30m"/],
  metadata: [{ team: "blue-77" }, /blue-77/],
  moderation: [{ model: "omni-77" }, /omni-77/],
};

export const OPTION_NAMES = Object.keys(WISHES) as OptionName[];

const FORECAST: Tool = { ...WEATHER, name: "forecast" };

export function describeRequests(name: string, open: OpenUpstream, words: Words): void {
  describe(`${name}: the parameters of a request`, { concurrency: 8 }, () => {
    describeOptions(open, words);
    describeToolChoices(open, words);
    describeParts(open, words);
    describeAnswers(open, words);
  });
}

function describeOptions(open: OpenUpstream, { options }: Words): void {
  for (const option of OPTION_NAMES) {
    const [value, shown] = WISHES[option];
    const isWritten = options.includes(option);
    it(`${isWritten ? "writes" : "tells that it leaves out"} \`${toParameter(option)}\``, async () => {
      const asked = request({ options: { [option]: value } });
      const { sent, dropped } = await ask(open, asked);
      assert.equal(shown.test(sent), isWritten, sent);
      assert.deepEqual(dropped, isWritten ? [] : [toParameter(option)]);
    });
  }

  it("does not report options that were not requested", async () => {
    const { dropped } = await ask(open, request({ options: { stop: undefined } }));
    assert.deepEqual(dropped, []);
  });
}

function describeToolChoices(open: OpenUpstream, words: Words): void {
  const { canForce = true, canSerialize = true, allowed = "offer" } = words;
  const tools = [WEATHER, FORECAST];
  const named = [{ type: "function", name: "weather" }];
  const forms: readonly [choice: ToolChoice, isForced: boolean][] = [
    ["auto", false],
    ["none", false],
    ["required", true],
    [{ type: "function", name: "weather" }, true],
    [{ type: "allowed_tools", mode: "auto", tools: named }, false],
    [{ type: "allowed_tools", mode: "required", tools: named }, true],
  ];
  for (const [tool_choice, isForced] of forms) {
    it(`accepts the tool choice ${JSON.stringify(tool_choice)}`, async () => {
      const { sent, dropped } = await ask(open, request({ tools, tool_choice }));
      assert.deepEqual(dropped, isForced && !canForce ? ["tool_choice"] : []);
      const isList = typeof tool_choice === "object" && tool_choice.type === "allowed_tools";
      if (isList) assert.equal(sent.includes("forecast"), allowed === "list");
      if (isList) assert.ok(sent.includes("weather"));
    });
  }

  it("asks for one call at a time, or reports that it cannot", async () => {
    const { sent, dropped } = await ask(open, request({ tools, parallel_tool_calls: false }));
    assert.equal(/parallel/.test(sent), canSerialize);
    assert.deepEqual(dropped, canSerialize ? [] : ["parallel_tool_calls"]);
  });
}

const image = { type: "input_image" as const, image_url: "data:image/png;base64,iVBORw0KGgo=" };
const csv = `data:text/csv;base64,${Buffer.from("city,cold\nOslo,yes\n").toString("base64")}`;
const table = { type: "input_file" as const, filename: "cold.csv", file_data: csv };
const pdf = {
  type: "input_file" as const,
  filename: "a.pdf",
  file_data: "data:application/pdf;base64,JVBERi0=",
};
const sound = { type: "input_audio" as const, data: "UklGRg==", format: "wav" as const };

function describeParts(open: OpenUpstream, words: Words): void {
  const { hasSound = true, hasImageUrls = true, hasPdfs = true } = words;
  const link = { type: "input_image" as const, image_url: "https://example.org/a.png" };
  const parts = [
    ["an image with a wish for detail", { ...image, detail: "low" as const }, true, /iVBORw0KGgo=/],
    ["an image by its address", link, hasImageUrls, /example\.org/],
    ["a file of text", table, true, TABLE],
    [
      "a file of text as bare base64",
      { ...table, file_data: csv.split(",")[1] ?? "" },
      true,
      TABLE,
    ],
    ["a PDF", pdf, hasPdfs, /JVBERi0=/],
    ["sound", sound, hasSound, /UklGRg==/],
  ] as const;
  for (const [what, part, isTaken, shown] of parts) {
    it(`${isTaken ? "takes" : "refuses"} ${what}`, async () => {
      const content = [{ type: "input_text" as const, text: "Look:" }, part];
      const asked = ask(open, request({ items: [{ type: "message", role: "user", content }] }));
      if (isTaken) assert.match((await asked).sent, shown);
      else await assert.rejects(asked, { code: "invalid_request", param: "input" });
    });
  }

  it("accepts text, images and files in the result of a call", async () => {
    const output = [
      { type: "input_text" as const, text: "See here." },
      image,
      table,
      ...(hasPdfs ? [pdf] : []),
    ];
    const items: Item[] = [
      { type: "message", role: "user", content: "Look" },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output },
    ];
    const { sent } = await ask(open, request({ items, tools: [WEATHER] }));
    for (const shown of [/See here\./, /iVBORw0KGgo=/, TABLE]) assert.match(sent, shown);
    assert.equal(sent.includes("JVBERi0="), hasPdfs);
  });
}

/** As text in a JSON string, or as base64. */
const TABLE = /city,cold\\nOslo,yes|Y2l0eSxjb2xkCk9zbG8seWVzCg==/;

function describeAnswers(open: OpenUpstream, { options, hasWhole = false }: Words): void {
  if (options.includes("top_logprobs")) {
    it("reports the probabilities of the answer", async () => {
      const answer = script(reply.text("Grüße, Welt!", { pieceLength: 4 }));
      const { events } = await ask(open, request({ options: { top_logprobs: 2 } }), answer);
      const told = events.flatMap((event) =>
        event.type === "text_delta" ? (event.logprobs ?? []) : [],
      );
      assert.deepEqual(told.map(toKnown), LIKELY);
      const [message] = itemsOf(events);
      const content = message?.type === "message" ? message.content : "";
      const [part] = typeof content === "string" ? [] : content;
      assert.deepEqual((part?.type === "output_text" ? part.logprobs : [])?.map(toKnown), LIKELY);
    });

    it("reports no probabilities without a request", async () => {
      const { events } = await ask(open, request());
      assert.ok(!JSON.stringify(itemsOf(events)).includes('"logprob"'));
      assert.ok(events.every((event) => !("logprobs" in event)));
    });
  }

  const answers = [
    ["text", reply.text("Grüße")],
    ["thoughts and text", reply.reasoning("Hm.", reply.text("Yes."))],
    ["calls", reply.calls([{ name: "weather", arguments: { city: "Oslo" } }], { text: "Wait." })],
    ["two calls", TWO_CALLS],
    ["a refusal", reply.refusal("No.")],
    ["a cut answer", reply.length("Once upon")],
  ] as const;
  for (const [what, answer] of answers) {
    it(`has the same content in one piece: ${what}`, async () => {
      const reasoning = { effort: "high", summary: "detailed" } as const;
      const asked = request({ tools: [WEATHER], reasoning });
      const whole = await ask(open, { ...asked, whole: true }, script(answer));
      const streamed = await ask(open, asked, script(answer));
      assert.deepEqual(toComparable(whole.events), toComparable(streamed.events));
      assert.equal(textOf(whole.events), textOf(streamed.events));
      assert.equal(/"stream":false/.test(whole.sent), hasWhole);
      assert.ok(!(hasWhole && whole.sent.includes("stream_options")));
    });
  }
}

const toKnown = ({ token, logprob, bytes, top_logprobs = [] }: Logprob) => ({
  token,
  logprob,
  bytes,
  others: top_logprobs.map((other) => [other.token, other.logprob]),
});

const LIKELY = ["Grüß", "e, W", "elt!"].map((token) => ({
  token,
  logprob: -0.25,
  bytes: [...Buffer.from(token)],
  others: [
    [token, -0.25],
    [`${token}1`, -1.25],
  ],
}));

/** Finished items and the end, without the ids that are new for every answer. */
function toComparable(events: readonly ModelEvent[]): unknown {
  const ends = events.filter(({ type }) => type === "item_end" || type === "end");
  return JSON.parse(
    JSON.stringify(ends, (key, value) =>
      /^(id|call_id|response_id|encrypted_content)$/.test(key) ? undefined : value,
    ),
  );
}

async function ask(
  open: OpenUpstream,
  asked: ModelRequest,
  answer = script(reply.text("Yes.")),
): Promise<{ events: ModelEvent[]; sent: string; dropped: string[] }> {
  const { provider, upstream } = await open(answer);
  const events: ModelEvent[] = [];
  const dropped: string[] = [];
  const stream = provider.stream(asked, {
    signal: patience(),
    notice: ({ code, params = [] }) => dropped.push(...(code === "dropped" ? params : [])),
  });
  try {
    for await (const batch of stream) events.push(...batch);
  } finally {
    await upstream.close();
  }
  assertEventOrder(events);
  // For an unknown server it is not known how to turn thinking off.
  const left = dropped.filter((name) => name !== "reasoning.effort");
  return { events, sent: upstream.requests.at(-1)?.text ?? "", dropped: left };
}
