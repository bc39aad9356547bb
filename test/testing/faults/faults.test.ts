import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as kit from "../../../src/testing/index.ts";
import { type Answered, eventsIn, joined, type Loose, post } from "../post.ts";

const { reply, script, startChatUpstream, startResponsesUpstream } = kit;

const TEXT = "Hello, wörld of €uros and 🙂!";
const CHAT = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true };
const RESPONSES = { model: "m", input: "Hi", stream: true };

const chat = (
  faults: kit.Faults | undefined,
  answer: kit.Reply = reply.text(TEXT),
): Promise<Answered> => ask("chat", { answer, faults });
const responses = (
  faults: kit.Faults | undefined,
  answer: kit.Reply = reply.text(TEXT),
): Promise<Answered> => ask("responses", { answer, faults });

/** Clocks stand still, so that two answers of one script are the same bytes. */
async function ask(
  wire: "chat" | "responses",
  { answer, faults }: { answer: kit.Reply; faults: kit.Faults | undefined },
): Promise<Answered> {
  const options = {
    engine: script(answer),
    clock: kit.createManualClock(),
    ...(faults ? { faults } : {}),
  };
  const start = wire === "chat" ? startChatUpstream : startResponsesUpstream;
  await using upstream = await start(options);
  const path = wire === "chat" ? "/chat/completions" : "/responses";
  return await post(upstream.url + path, wire === "chat" ? CHAT : RESPONSES);
}

const saidInChat = (text: string): string =>
  eventsIn(text)
    .map((chunk) => chunk.choices?.[0]?.delta.content ?? "")
    .join("");
const saidInResponses = (text: string): string =>
  joined(eventsIn(text), "response.output_text.delta");

/** Responses ids come from the script and are the same each time, so bodies can be compared. */
const whole = await responses(undefined);

describe("byte faults", () => {
  it("cutAfter closes the socket after that many bytes", async () => {
    const answer = await responses(kit.cutAfter(200));
    assert.equal(answer.broken, "ECONNRESET");
    assert.deepEqual(answer.bytes, whole.bytes.subarray(0, 200));
  });

  it("endAfter ends the body cleanly after that many bytes", async () => {
    const answer = await responses(kit.endAfter(200));
    assert.equal(answer.broken, undefined);
    assert.deepEqual(answer.bytes, whole.bytes.subarray(0, 200));
  });

  it("leaves a shorter body unchanged", async () => {
    assert.deepEqual((await responses(kit.cutAfter(1e6))).bytes, whole.bytes);
  });

  it("pieces sends chunks of that size", async () => {
    const answer = await responses(kit.pieces(7));
    assert.ok(answer.chunks.every((chunk) => chunk.length <= 7));
    assert.deepEqual(answer.bytes, whole.bytes);
  });

  it("crlf and cr change the line ends and nothing else", async () => {
    assert.equal((await responses(kit.crlf())).text, whole.text.replaceAll("\n", "\r\n"));
    assert.equal((await responses(kit.cr())).text, whole.text.replaceAll("\n", "\r"));
  });

  it("the fault `bom` comes before all other bytes", async () => {
    assert.equal((await responses(kit.bom())).text, `\ufeff${whole.text}`);
  });

  it("works on a plain answer too", async () => {
    await using upstream = await startChatUpstream({
      engine: script(reply.text(TEXT)),
      faults: [kit.comments(), kit.endAfter(20)],
    });
    const answer = await post(`${upstream.url}/chat/completions`, { ...CHAT, stream: false });
    assert.equal(answer.text.length, 20);
    assert.ok(answer.text.startsWith('{"id":"chatcmpl-'));
  });
});

describe("stream faults", () => {
  it("comments come before every frame", async () => {
    const { text } = await responses(kit.comments());
    assert.equal(text.replaceAll(": keep-alive\n\n", ""), whole.text);
    assert.equal(text.split(": keep-alive").length, whole.text.split("\n\n").length);
  });

  it("noFinalBlankLine removes the last line's end", async () => {
    assert.equal((await responses(kit.noFinalBlankLine())).text, whole.text.trimEnd());
    assert.ok((await chat(kit.noFinalBlankLine())).text.endsWith("data: [DONE]"));
  });

  it("garbageLine puts a line that is not JSON in the middle", async () => {
    const { text } = await responses(kit.garbageLine());
    assert.equal(text.replace('data: {"no JSON\n\n', ""), whole.text);
    const at = text.indexOf('data: {"no JSON');
    assert.ok(at > text.indexOf("output_text.delta") && at < text.indexOf("response.completed"));
  });

  it("halfCharacter stops inside a character", async () => {
    const { bytes, broken } = await chat(kit.halfCharacter());
    assert.equal(broken, "ECONNRESET");
    assert.deepEqual([...bytes.subarray(-2)], [0xe2, 0x82]);
  });

  it("splitCharacter sends a character in two writes", async () => {
    const { chunks, text } = await responses(kit.splitCharacter());
    assert.equal(text, `: é\n\n${whole.text}`);
    const starts = chunks.filter((chunk) => (chunk.at(-1) ?? 0) >= 0xc0);
    assert.ok(starts.length > 3);
  });

  it("splitCharacter has something to split in an answer of ASCII", async () => {
    const { chunks } = await responses(kit.splitCharacter(), reply.text("plain"));
    assert.equal(chunks[0]?.at(-1), 0xc3);
  });

  it("longLine makes one line of that length and keeps the answer", async () => {
    const bytes = 300_000;
    for (const [answer, said] of [
      [await chat(kit.longLine(bytes)), saidInChat],
      [await responses(kit.longLine(bytes)), saidInResponses],
    ] as const) {
      const long = answer.text.split("\n").filter((line) => line.length > bytes);
      assert.equal(long.length, 1);
      assert.equal(said(answer.text), TEXT);
    }
  });

  for (const after of [0, 3]) {
    it(`silence stops after ${after} events and keeps the connection`, async () => {
      const engine = script(reply.text(TEXT));
      await using upstream = await startChatUpstream({ engine, faults: kit.silence({ after }) });
      const control = new AbortController();
      let left = after;
      const leave = (): void => {
        if (left-- === 0) control.abort();
      };
      const answer = await post(`${upstream.url}/chat/completions`, CHAT, {
        signal: control.signal,
        onHead: leave,
        onChunk: leave,
      });
      const request = await upstream.waitForRequest(1);
      await request.ended;
      assert.equal(request.aborted, true);
      assert.equal(answer.status, 200);
      assert.equal(eventsIn(answer.text).length, after);
    });
  }

  it("errorInStream ends the stream with each shape of error", async () => {
    const last = async (shape: "flat" | "nested" | "chat"): Promise<Loose> =>
      eventsIn((await responses(kit.errorInStream({ shape }))).text).at(-1);
    assert.equal((await last("flat")).message, "The model stopped in the middle of its answer.");
    assert.equal((await last("nested")).error.code, "server_error");
    assert.equal((await last("nested")).sequence_number, 5);
    assert.deepEqual(Object.keys(await last("chat")), ["error"]);
    assert.ok(saidInChat((await chat(kit.errorInStream())).text).length > 0);
  });

  it("duplicateIds gives all calls one id, on every wire", async () => {
    const calls = reply.calls([
      { name: "a", arguments: {} },
      { name: "b", arguments: {} },
    ]);
    const inChat = eventsIn((await chat(kit.duplicateIds(), calls)).text);
    const ids = inChat
      .flatMap((chunk) => chunk.choices?.[0]?.delta.tool_calls ?? [])
      .map((call) => call.id);
    assert.deepEqual(ids.filter(Boolean), ["call_1", "call_1"]);
    const { output } = eventsIn((await responses(kit.duplicateIds(), calls)).text).at(-1).response;
    assert.deepEqual(
      output.map((item: Loose) => [item.id, item.call_id]),
      [
        ["fc_1", "call_1"],
        ["fc_2", "call_1"],
      ],
    );
    await using legacy = await startResponsesUpstream({
      personality: "legacy",
      engine: script(calls),
      faults: kit.duplicateIds(),
    });
    const body = {
      model: "m",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      stream: true,
      store: false,
      reasoning: { effort: "none" },
    };
    const inLegacy = eventsIn((await post(`${legacy.url}/responses`, body)).text);
    const places = inLegacy.filter((event) => event.output_index === 1);
    assert.deepEqual(
      places.map((event) => event.item?.id ?? event.item_id),
      ["call_1", "call_1", "call_1"],
    );
  });

  it("reset resets the connection in the middle", async () => {
    const answer = await responses(kit.reset());
    assert.equal(answer.broken, "ECONNRESET");
    assert.ok(!answer.text.includes("response.completed"));
  });

  it("noTerminal ends without the terminal event", async () => {
    const inResponses = await responses(kit.noTerminal());
    assert.equal(inResponses.broken, undefined);
    assert.ok(!inResponses.text.includes("response.completed"));
    const inChat = await chat(kit.noTerminal());
    assert.equal(saidInChat(inChat.text), TEXT);
    assert.ok(!inChat.text.includes("[DONE]") && !inChat.text.includes('"finish_reason":"stop"'));
  });

  it("doneTwice says twice that it is over", async () => {
    assert.equal(
      eventsIn((await chat(kit.doneTwice())).text).filter((data) => data === "[DONE]").length,
      2,
    );
    const types = eventsIn((await responses(kit.doneTwice())).text).map((event) => event.type);
    assert.deepEqual(types.slice(-2), ["response.completed", "response.completed"]);
  });
});

describe("answer faults", () => {
  it("tooManyRequests answers 429 with Retry-After, then the model, which is not asked before", async () => {
    await using upstream = await startChatUpstream({
      engine: script(reply.text(TEXT)),
      faults: kit.tooManyRequests({ retryAfter: 3, times: 2 }),
    });
    const answers: Answered[] = [];
    for (let i = 0; i < 3; i++) answers.push(await post(`${upstream.url}/chat/completions`, CHAT));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [429, 429, 200],
    );
    assert.equal(answers[0]?.headers["retry-after"], "3");
    assert.equal(saidInChat(answers[2]?.text ?? ""), TEXT);
  });

  for (const status of [500, 502, 503, 529] as const) {
    it(`serverError answers ${status} in the vendor's form`, async () => {
      const answer = await chat(kit.serverError({ status }));
      assert.equal(answer.status, status);
      assert.equal(JSON.parse(answer.text).error.type, "server_error");
    });
  }

  it("wrongContentType sends a page", async () => {
    const answer = await chat(kit.wrongContentType());
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers["content-type"]), /^text\/html/);
  });

  it("emptyBody sends a head and nothing else", async () => {
    const answer = await chat(kit.emptyBody());
    assert.deepEqual([answer.status, answer.bytes.length, answer.broken], [200, 0, undefined]);
  });

  it("resetBeforeHeaders sends nothing at all", async () => {
    const answer = await chat(kit.resetBeforeHeaders());
    assert.deepEqual([answer.status, answer.broken], [0, "ECONNRESET"]);
  });

  it("noAnswer accepts the request and sends nothing", async () => {
    await using upstream = await startChatUpstream({ faults: kit.noAnswer() });
    const control = new AbortController();
    const answer = post(`${upstream.url}/chat/completions`, CHAT, { signal: control.signal });
    const request = await upstream.waitForRequest(1);
    control.abort();
    assert.equal((await answer).status, 0);
    await request.ended;
    assert.equal(request.aborted, true);
  });
});

describe("faults of an upstream", () => {
  it("are chosen by the request's number", async () => {
    await using upstream = await startChatUpstream({
      engine: script(reply.text(TEXT)),
      faults: (number) => (number === 1 ? kit.resetBeforeHeaders() : undefined),
    });
    const url = `${upstream.url}/chat/completions`;
    assert.equal((await post(url, CHAT)).broken, "ECONNRESET");
    assert.equal(saidInChat((await post(url, CHAT)).text), TEXT);
    assert.equal(upstream.requests[0]?.aborted, false);
  });

  it("work together, frames before bytes whatever their order", async () => {
    const { text } = await responses([kit.crlf(), kit.comments(), kit.bom()]);
    assert.ok(text.startsWith("\ufeff: keep-alive\r\n\r\nevent: response.created\r\n"));
  });

  it("do not change the refusal of a request", async () => {
    await using upstream = await startChatUpstream({ faults: kit.serverError() });
    const answer = await post(`${upstream.url}/chat/completions`, { ...CHAT, temperature: 9 });
    assert.equal(answer.status, 400);
  });
});
