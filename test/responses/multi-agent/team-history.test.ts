import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import {
  findReady,
  findTasks,
  forkItems,
  isPaused,
  toAgentItems,
  toOwnItems,
} from "../../../src/responses/multi-agent/team-history.ts";

const of = (agent_name: string, item: object): Item => ({ ...item, agent: { agent_name } }) as Item;
const says = (text: string): object => ({ type: "message", role: "assistant", content: text });
const asks = (content: string): Item => ({ type: "message", role: "user", content });
const act = (agent: string, action: string, args: object, output: object): Item[] => [
  of(agent, {
    type: "multi_agent_call",
    action,
    call_id: `${agent}${action}`,
    arguments: JSON.stringify(args),
  }),
  of(agent, {
    type: "multi_agent_call_output",
    action,
    call_id: `${agent}${action}`,
    output: [{ type: "output_text", text: JSON.stringify(output) }],
  }),
];
const spawn = (agent: string, task_name: string, more: object = {}): Item[] =>
  act(
    agent,
    "spawn_agent",
    { task_name, message: `Do ${task_name}.`, ...more },
    { task_name: `${agent}/${task_name}` },
  );
const call = (agent: string): Item =>
  of(agent, { type: "function_call", call_id: `c${agent}`, name: "f", arguments: "{}" });
const answer = (agent: string): Item => ({
  type: "function_call_output",
  call_id: `c${agent}`,
  output: "42",
});
const stopped = (agent: string, names: readonly string[]): Item[] =>
  act(agent, "wait_agent", {}, { waiting_for_client: names });
const texts = (items: readonly Item[]): string[] =>
  items.map((item) => (item.type === "message" ? String(item.content) : item.type));

describe("which items belong to which agent", () => {
  const items = [
    asks("Go."),
    ...spawn("/root", "a"),
    of("/root/a", says("I am a.")),
    call("/root/a"),
    of("/root", says("Done.")),
    answer("/root/a"),
  ];

  it("gives the first its own, and answers to those who asked", () => {
    const own = toOwnItems(items, "/root");
    assert.deepEqual(texts(own), ["Go.", "multi_agent_call", "multi_agent_call_output", "Done."]);
    assert.ok(own.every((item) => !("agent" in item)));
  });

  it("gives an agent its task, its words and its answers", () => {
    assert.deepEqual(texts(toAgentItems(items, "/root/a", "/root")), [
      ...["Do a.", "I am a.", "function_call", "function_call_output"],
    ]);
  });

  it("changes nothing if only one agent has spoken", () => {
    const plain = [asks("Hi."), says("Hello.") as Item];
    assert.equal(toOwnItems(plain, "/root"), plain);
  });

  it("leaves out interrupted work, and tasks that were refused", () => {
    const cut = of("/root/a", { ...says("I w"), status: "incomplete" });
    const refused = act(
      "/root",
      "spawn_agent",
      { task_name: "b", message: "Go." },
      { error: "No." },
    );
    const all = [...spawn("/root", "a"), cut, ...refused];
    assert.deepEqual(texts(toAgentItems(all, "/root/a", "/root")), ["Do a."]);
    assert.deepEqual(
      findTasks(all, "/root").map(({ name }) => name),
      ["/root/a"],
    );
  });

  it("keeps the names of agents below", () => {
    const all = [...spawn("/root", "a"), ...spawn("/root/a", "b"), of("/root/a/b", says("B."))];
    const below = toAgentItems(all, "/root/a", "/root").at(-1);
    assert.deepEqual(below, of("/root/a/b", says("B.")));
  });

  it("which agents can continue", () => {
    const said = [asks("One."), says("1") as Item, asks("Two."), says("2") as Item];
    assert.deepEqual(texts(forkItems(said, "all")), ["One.", "1", "Two.", "2"]);
    assert.deepEqual(texts(forkItems(said, "1")), ["Two.", "2"]);
    assert.deepEqual(forkItems(said, "none"), []);
    const all = [asks("One."), ...spawn("/root", "a", { fork_turns: "all" })];
    assert.deepEqual(texts(toAgentItems(all, "/root/a", "/root")), ["One.", "Do a."]);
  });
});

describe("who can go on", () => {
  it("is paused until all its calls are answered", () => {
    assert.equal(isPaused([call("x")]), true);
    assert.equal(isPaused([call("x"), answer("x")]), false);
    assert.equal(isPaused([call("x"), answer("x"), call("x")]), true);
    assert.equal(isPaused(stopped("/root", ["/root/a"])), true);
    assert.equal(isPaused([...stopped("/root", ["/root/a"]), asks("Go on.")]), false);
  });

  it("is ready with its answers, or if an agent below it is", () => {
    const asked = [...spawn("/root", "a"), call("/root/a")];
    assert.deepEqual(findReady(asked, "/root"), []);
    assert.deepEqual(findReady([...asked, answer("/root/a")], "/root"), ["/root/a"]);
    const nested = [
      ...[...spawn("/root", "a"), ...spawn("/root/a", "b"), call("/root/a/b")],
      ...[...stopped("/root/a", ["/root/a/b"]), answer("/root/a/b")],
    ];
    assert.deepEqual(findReady(nested, "/root"), ["/root/a"]);
    const asksToo = [...nested.slice(0, 4), call("/root/a"), ...nested.slice(4)];
    assert.deepEqual(findReady(asksToo, "/root"), []);
    const done = [...asked, answer("/root/a"), of("/root/a", says("42."))];
    assert.deepEqual(findReady(done, "/root"), []);
  });
});
