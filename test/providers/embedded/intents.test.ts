import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConversation } from "../../../src/providers/embedded/conversation.ts";
import { INTENTS } from "../../../src/providers/embedded/intents/table.ts";
import { matchRequest } from "../../../src/providers/embedded/match-request.ts";
import { ask, listen } from "./replies.ts";

function namesOf(text: string): string[] {
  return matchRequest(readConversation(ask(text))).map(({ intent }) => intent.name);
}

describe("intents", () => {
  it("are at least fifteen, with different names", () => {
    assert.ok(INTENTS.length >= 15);
    assert.equal(new Set(INTENTS.map(({ name }) => name)).size, INTENTS.length);
  });

  for (const { name, phrasings } of INTENTS) {
    it(`${name} has five phrasings or more, and each is understood in several forms`, () => {
      assert.ok(phrasings.length >= 5, `${phrasings.length} phrasings`);
      for (const phrasing of phrasings) {
        assert.deepEqual(namesOf(phrasing), [name], phrasing);
        assert.deepEqual(namesOf(`  ${phrasing}\n`), [name], phrasing);
      }
    });
  }

  const plain = INTENTS.filter(({ name }) => !["greet", "repeat", "thank"].includes(name));
  for (const { name, phrasings } of plain) {
    it(`${name} is understood when asked politely`, () => {
      for (const phrasing of phrasings) {
        const bare = phrasing.replace(/[.?!]$/, "").replace(/^(could you )?please /i, "");
        assert.deepEqual(namesOf(`Could you please ${bare}?`), [name], bare);
        assert.deepEqual(namesOf(`${bare}, please.`), [name], bare);
      }
    });
  }

  const answered = INTENTS.flatMap(({ phrasings }) => phrasings);
  it("give a valid reply to every phrasing", async () => {
    for (const phrasing of answered) {
      const { text, refusal, calls, end } = await listen(ask(phrasing));
      // With only two tools most are refused because another one is missing.
      const said = refusal === "" ? "stop" : "refusal";
      assert.equal(end.reason, calls.length > 0 ? "tool_calls" : said, phrasing);
      assert.ok(text + refusal !== "" || calls.length > 0, phrasing);
    }
  });
});

describe("matchRequest", () => {
  const strangers = [
    "what is the capital of France?",
    "write a poem about the sea",
    "fix the bug in src/loop.ts",
    "read the news",
    "tell me a joke",
    "list three colours",
    "list them",
    "count to ten",
    "compare apples and oranges",
    "say something nice",
    "what time is it?",
    "open the door",
    "what is in the box?",
    "delete everything",
    "write a poem to poem.txt",
    "write tests in src/loop.test.ts",
    "write it to notes.txt",
    "add logging to src/loop.ts",
    "change the colour to red in style.css",
    "move the meeting to Friday",
    "copy that",
    "make a folder for my photos",
    "run the tests and fix what fails",
    "run a marathon",
    "python is a snake",
    "run a python script that sorts a list",
    "fetch the ball",
    "search the attic for photos",
    "use get_weather with Oslo",
    "call get_weather with {city: Oslo}",
    "$ git status. Then dance.",
    "read package.json and rewrite it in Rust",
    "my tests are failing",
    "what is 1",
    "find the bug in src/loop.ts",
    "reply with JSON",
    "",
  ];
  for (const text of strangers) {
    it(`does not claim to understand "${text}"`, () => assert.deepEqual(namesOf(text), []));
  }

  const compounds: readonly (readonly [string, readonly string[]])[] = [
    ["Read a.md. Then count the files in src.", ["read-file", "count-files"]],
    ["My name is Bob. What is my name?", ["remember", "recall"]],
    ["compute 1+1; compute 2+2", ["compute", "compute"]],
    ["read a.md and then read b.md", ["read-file", "read-file"]],
    ["Read a.md. Then make me a sandwich.", []],
    ["write 'a' to a.txt. Then write 'b' to b.txt", ["write-file", "write-file"]],
    ["write hello to a.txt. Then write bye to b.txt", ["write-file", "write-file"]],
    ["copy a.txt to b.txt and then delete a.txt", ["copy-file", "delete-file"]],
    ["run `git status`; read a.md", ["run-command", "read-file"]],
    ["replace 'a' with 'b' in c.txt, then read c.txt", ["edit-file", "read-file"]],
    ["run the command git status. Then read a.md", ["run-command", "read-file"]],
    ["mkdir tmp\nmove a.txt into tmp", ["make-folder", "move-file"]],
    ["delete a.txt. Then make me a sandwich.", []],
    ["search the web for ants. Then read a.md", ["search-web", "read-file"]],
  ];
  for (const [text, names] of compounds) {
    it(`reads the steps of "${text}"`, () => assert.deepEqual(namesOf(text), names));
  }

  it("finds the request between files and standard input", () => {
    assert.deepEqual(
      namesOf("--- notes.txt ---\nread x.md\n\n---\nlist the Go files\n\na,b\n1,2"),
      ["list-kind"],
    );
    assert.deepEqual(namesOf("--- notes.txt ---\nread x.md"), []);
  });

  it("takes no requests from files or standard input", () => {
    assert.deepEqual(namesOf("--- notes.txt ---\nhi\n---\nread x.md\n\n---\n\nmake it better"), []);
    assert.deepEqual(namesOf("make it better\n\nread x.md"), []);
    assert.deepEqual(namesOf("read a.md\n\nread x.md"), ["read-file"]);
  });

  it("looks after a tool that is named first", () => {
    assert.deepEqual(namesOf("Use the bash_find tool to list the Python files"), ["list-kind"]);
  });
});
