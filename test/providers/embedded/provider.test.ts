import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countTokens, cutToTokens } from "../../../src/providers/embedded/count-tokens.ts";
import { createEmbeddedProvider } from "../../../src/providers/embedded/provider.ts";
import { patience } from "../../patience.ts";
import { ask, FIND, listen, playFiles, READ, run, user } from "./replies.ts";

const FILES = {
  "src/a.ts": "one\ntwo TODO\nthree",
  "src/b.ts": "four",
  "src/logo.png": "binary",
  "README.md": "# Project\n\nIntro.\n\n## Tests\n\nRun npm test.\n",
};

describe("embedded provider", () => {
  it("is named embedded and answers as offline", async () => {
    const provider = createEmbeddedProvider();
    assert.equal(provider.name, "embedded");
    const stream = provider.stream(ask("say hello"), { signal: new AbortController().signal });
    const { value } = await stream.next();
    const [start] = value ?? [];
    assert.ok(start?.type === "start");
    assert.equal(start.model, "offline");
    assert.match(start.response_id, /^resp_/);
    await stream.return();
  });

  it("gives the same answer to the same request", async () => {
    const request = ask("what can you do?");
    assert.deepEqual(await listen(request), await listen(request));
  });

  it("streams an answer in several batches", async () => {
    const { batches, text } = await listen(ask("what can you do?"));
    assert.ok(batches > 10, `${batches} batches`);
    assert.match(text, /not a language model/);
  });

  it("streams a long text in larger pieces, not in more of them", async () => {
    const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`).join(" ");
    const { read } = playFiles({ "long.txt": words });
    const { batches, text } = await run(ask("read long.txt"), { read: read ?? (() => "") });
    assert.ok(text.includes("word19999"));
    assert.ok(batches < 200, `${batches} batches`);
  });

  it("stops between batches if it is cancelled", async () => {
    const controller = new AbortController();
    const stream = createEmbeddedProvider().stream(ask("help"), { signal: controller.signal });
    await stream.next();
    controller.abort();
    await assert.rejects(stream.next(), { code: "cancelled" });
  });

  it("emits nothing if the signal was aborted before", async () => {
    const stream = createEmbeddedProvider().stream(ask("help"), { signal: AbortSignal.abort() });
    await assert.rejects(stream.next(), { code: "cancelled" });
  });
});

describe("embedded reasoning", () => {
  for (const effort of ["minimal", "low", "medium", "high", "xhigh", "max"] as const) {
    it(`thinks first if the effort is ${effort}`, async () => {
      const { items, reasoning, end } = await listen(
        ask("compute 6*7", { reasoning: { effort, summary: "auto" } }),
      );
      assert.deepEqual(
        items.map(({ type }) => type),
        ["reasoning", "message"],
      );
      assert.match(reasoning, /"compute"/);
      assert.equal(end.usage.output_tokens_details.reasoning_tokens, countTokens(reasoning));
    });
  }

  for (const effort of ["none", undefined] as const) {
    it(`does not think if the effort is ${effort}`, async () => {
      const { items } = await listen(
        ask("compute 6*7", { reasoning: { effort, summary: undefined } }),
      );
      assert.deepEqual(
        items.map(({ type }) => type),
        ["message"],
      );
    });
  }

  it("thinks before calls too", async () => {
    const { items, reasoning } = await listen(
      ask("read a.md", { reasoning: { effort: "high", summary: "auto" } }),
    );
    assert.deepEqual(
      items.map(({ type }) => type),
      ["reasoning", "function_call"],
    );
    assert.match(reasoning, /call `read`/);
  });
});

describe("embedded tokens", () => {
  it("counts input and output", async () => {
    const short = await listen(ask("say hello"));
    const long = await listen(
      ask([user("say hello ".repeat(20)), user("say hello")], { instructions: "Be kind." }),
    );
    assert.equal(short.end.usage.output_tokens, countTokens("hello"));
    assert.ok(long.end.usage.input_tokens > short.end.usage.input_tokens + 40);
    assert.equal(
      short.end.usage.total_tokens,
      short.end.usage.input_tokens + short.end.usage.output_tokens,
    );
    const bare = await listen(ask("say hello", { tools: [] }));
    assert.ok(bare.end.usage.input_tokens < short.end.usage.input_tokens, "tools cost tokens");
  });

  it("cuts the text at the limit and says so", async () => {
    const whole = await listen(ask("help"));
    const cut = await listen(ask("help", { max_output_tokens: 10 }));
    assert.equal(cut.end.reason, "length");
    assert.equal(cut.end.usage.output_tokens, 10);
    assert.ok(whole.text.startsWith(cut.text) && cut.text !== "");
    const [message] = cut.items;
    assert.ok(message?.type === "message");
    assert.equal(message.status, "incomplete");
  });

  it("keeps an answer that just fits", async () => {
    const { end } = await listen(ask("say hello", { max_output_tokens: countTokens("hello") }));
    assert.equal(end.reason, "stop");
  });

  it("never cuts a call", async () => {
    const { calls, end } = await listen(
      ask("read some/long/path/to/a/file.md", { max_output_tokens: 3 }),
    );
    assert.deepEqual(calls, []);
    assert.equal(end.reason, "length");
  });

  it("estimates words by length, punctuation by number and spaces as free", () => {
    assert.equal(countTokens(""), 0);
    assert.equal(countTokens("word"), 1);
    assert.equal(countTokens("words and    words"), 5);
    assert.equal(countTokens("a, b!"), 4);
  });

  it("never cuts a character", () => {
    const text = "𝐀𝐁𝐂𝐃𝐄 tail";
    for (let tokens = 0; tokens <= countTokens(text); tokens++) {
      const cut = cutToTokens(text, tokens);
      assert.ok(text.startsWith(cut) && countTokens(cut) <= tokens);
      assert.ok(!/[\uD800-\uDBFF]$/.test(cut));
    }
    assert.equal(cutToTokens(text, 1000), text);
  });
});

describe("embedded conversations", () => {
  it("keeps facts stated earlier", async () => {
    const items = [
      user("My name is Ada."),
      user("remember that the port is 8080"),
      user("What is my name?"),
    ];
    assert.equal((await listen(ask(items))).text, "Your name is Ada.");
    assert.equal(
      (await listen(ask([...items.slice(0, 2), user("what is the port?")]))).text,
      "The port is 8080.",
    );
    assert.match(
      (await listen(ask([...items.slice(0, 2), user("what did I tell you?")]))).text,
      /- name: Ada\n- port: 8080/,
    );
  });

  it("uses the later of two facts, and says if it knows none", async () => {
    const twice = [user("my colour is red"), user("my colour is blue"), user("what's my colour?")];
    assert.equal((await listen(ask(twice))).text, "Your colour is blue.");
    assert.equal(
      (await listen(ask("what is my name?"))).text,
      "You have not told me your name in this conversation.",
    );
  });

  it("the embedded model repeats words exactly", async () => {
    assert.equal(
      (await listen(ask("Reply with exactly: Hello,  World!\nTwo."))).text,
      "Hello,  World!\nTwo.",
    );
    assert.equal((await listen(ask("say 'done' and nothing else"))).text, "done");
    assert.equal((await listen(ask("Reply with OK."))).text, "OK");
  });

  it("the embedded model calculates", async () => {
    assert.equal((await listen(ask("compute 2**64 % 97"))).text, "2**64 % 97 = 61");
    assert.match((await listen(ask("what is 1/0?"))).text, /no result.*zero/);
  });

  it("the embedded model names its tools", async () => {
    const { text } = await listen(ask("which tools do you have?"));
    assert.match(text, /`read`.*\n.*`bash_find`/);
  });

  it("refuses what it does not understand, in three lines", async () => {
    const { text, refusal, calls, end, items } = await listen(ask("Write a sonnet about spring."));
    assert.deepEqual([text, calls, end.reason], ["", [], "refusal"]);
    const [what = "", nearest = "", model = "", ...more] = refusal.split("\n");
    assert.deepEqual(more, []);
    assert.match(what, /^I am `embedded\/offline`: not a language model.* do not understand/);
    assert.match(
      nearest,
      /^The nearest requests I understand: ".+" and ".+"\. `offshoot run help`/,
    );
    assert.match(model, /export OPENAI_API_KEY=….*ollama serve.*offshoot models pull NAME/);
    const [message] = items;
    assert.ok(message?.type === "message");
    assert.deepEqual(message.content, [{ type: "refusal", refusal }]);
  });

  it("names the two requests that share the most words with the request", async () => {
    const { refusal } = await listen(ask("count the words of every file in test"));
    assert.match(refusal, /"count the lines of every file in test"/);
  });

  it("is a refusal even if its limit truncates it, and costs at most the limit", async () => {
    const { refusal, end } = await listen(ask("Write a sonnet.", { max_output_tokens: 3 }));
    assert.equal(end.reason, "refusal");
    assert.ok(refusal.length > 0);
    assert.ok(end.usage.output_tokens <= 3, String(end.usage.output_tokens));
  });

  it("answers every request if it stands in for a language model", async () => {
    const provider = createEmbeddedProvider({ unknown: "make_up" });
    const events = [];
    for await (const batch of provider.stream(ask("Why?"), { signal: patience() })) {
      events.push(...batch);
    }
    const end = events.at(-1);
    assert.ok(end?.type === "end" && end.reason === "stop");
  });

  it("promises to keep a fact no longer than the conversation lasts", async () => {
    const { text } = await listen(ask("my name is Ada"));
    assert.match(text, /^Noted for this conversation: your name is Ada\. I keep nothing after/);
  });

  it("names what it cannot see", async () => {
    const content = [
      { type: "input_text" as const, text: "what is on this picture?" },
      {
        type: "input_image" as const,
        image_url: "data:image/png;base64,iVBORw0KGgo=",
        detail: "auto" as const,
      },
      {
        type: "input_file" as const,
        filename: "report.pdf",
        file_data: "data:application/pdf;base64,JVBERg==",
      },
    ];
    const { refusal } = await listen(ask([{ type: "message", role: "user", content }]));
    assert.match(
      refusal,
      /have not seen `image` \(image\/png, 8 bytes\), `report\.pdf` \(application\/pdf, 4 bytes\)/,
    );
  });

  it("continues from the last user message alone", async () => {
    const first = await run(ask("read README.md"), playFiles(FILES));
    assert.equal(first.turns.length, 1);
    const again = await listen(
      ask([user("read README.md"), ...first.items, user("read README.md")]),
    );
    assert.equal(again.calls.length, 1, "an earlier turn's output is not this one's");
  });
});

describe("embedded tools at hand", () => {
  it("says which tool is missing and how to allow it", async () => {
    const { refusal, calls } = await listen(ask("find TODO in src", { tools: [READ] }));
    assert.deepEqual(calls, []);
    assert.match(refusal, /`bash_find`.*--tools bash_find,read/);
  });

  it("never calls when the request forbids it", async () => {
    const { refusal, calls } = await listen(
      ask("list the TypeScript files here", { tool_choice: "none" }),
    );
    assert.deepEqual(calls, []);
    assert.match(refusal, /forbids tool calls/);
  });

  it("uses only the allowed tools", async () => {
    const tool_choice = {
      type: "allowed_tools" as const,
      mode: "auto" as const,
      tools: [{ type: "function", name: "read" }],
    };
    const { refusal } = await listen(
      ask("list the Go files", { tools: [READ, FIND], tool_choice }),
    );
    assert.match(refusal, /`bash_find`/);
  });

  it("makes one call in each turn if parallel calls are off", async () => {
    const request = ask("how many lines has each file in src?", { parallel_tool_calls: false });
    const { turns, text } = await run(request, playFiles(FILES));
    assert.deepEqual(
      turns.map((calls) => calls.length),
      [1, 1, 1],
    );
    assert.match(text, /4 lines in all/);
  });
});
