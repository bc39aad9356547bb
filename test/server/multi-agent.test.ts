/** Teams of agents over HTTP, on a model that knows functions alone. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, type ScriptEngine } from "../../src/testing/index.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { untilTrue } from "../patience.ts";
import { startServer } from "./server-fixture.ts";
import { callsOf, lastWords, nameOf, play, spawn, team, told, wait } from "./team-fixture.ts";

describe("a team of agents", () => {
  it("works side by side, and its answers come to the first as messages", async (t) => {
    const { script, requests } = play(
      [
        reply.calls([spawn("alpha", "Weigh alpha."), spawn("beta", "Weigh beta.")]),
        wait({ targets: ["alpha", "/root/beta"] }),
        (request) => {
          assert.match(lastWords(request), /Message from the agent \/root\/(alpha|beta):\n\nOf/);
          return reply.text("Alpha wins.");
        },
      ],
      { "/root/alpha": reply.text("Of alpha."), "/root/beta": reply.text("Of beta.") },
    );
    const server = await startServer(t, script);
    const made = await server.create({ input: "Compare.", ...team });
    assert.equal(made.status, "completed");
    const isSpawning = (line: string): boolean => line.endsWith(" spawn_agent");
    assert.deepEqual(told(made).filter(isSpawning), [
      "/root multi_agent_call spawn_agent",
      "/root multi_agent_call spawn_agent",
      "/root multi_agent_call_output spawn_agent",
      "/root multi_agent_call_output spawn_agent",
    ]);
    // A fast agent may answer before the next one is there, so only what each says has an order.
    const others = told(made).filter((line) => !isSpawning(line));
    assert.deepEqual(others.sort(), [
      "/root agent_message",
      "/root agent_message",
      "/root message",
      "/root multi_agent_call wait_agent",
      "/root multi_agent_call_output wait_agent",
      "/root/alpha message",
      "/root/beta message",
    ]);
    const answer = made.output.flatMap((item) => {
      const { agent } = item as { agent?: { agent_name: string } };
      const isAnswer = item.type === "message" && item.phase === "final_answer";
      return isAnswer && agent?.agent_name === "/root" ? item.content : [];
    });
    assert.deepEqual(
      answer.map((part) => ("text" in part ? part.text : "")),
      ["Alpha wins."],
    );
    assert.equal(requests.length, 5);
    // The agents know their tasks alone.
    const alpha = requests.find(({ instructions }) => instructions?.includes("/root/alpha"));
    assert.equal(alpha?.items.length, 1);
  });

  it("streams what each says in its own name", async (t) => {
    const { script } = play([reply.calls([spawn("a", "Go.")]), wait(), reply.text("Done.")], {
      "/root/a": reply.text("I went."),
    });
    const server = await startServer(t, script);
    const events = await server.stream({ input: "Go", ...team });
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, at) => at),
    );
    const texts = new Map<string, string>();
    for (const event of events) {
      if (event.type !== "response.output_text.delta") continue;
      const name = nameOf(event);
      texts.set(name, (texts.get(name) ?? "") + event.delta);
    }
    assert.deepEqual(Object.fromEntries(texts), { "/root/a": "I went.", "/root": "Done." });
    for (const event of events) {
      assert.equal(nameOf(event) === "", "response" in event, event.type);
    }
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const path = `/v1/responses/${last.response.id}`;
    assert.deepEqual((await server.ask("GET", path)).body, last.response);
  });

  it("counts what all of them have used", async (t) => {
    const usage = { usage: { input: 10, output: 1 } };
    const { script } = play(
      [
        reply.calls([spawn("a", "Go.")], usage),
        reply.calls([{ name: "wait_agent", arguments: {} }], usage),
        reply.text("Done.", usage),
      ],
      { "/root/a": reply.text("I went.", usage) },
    );
    const server = await startServer(t, script);
    const made = await server.create({ input: "Go", ...team });
    assert.equal(made.usage?.total_tokens, 44);
  });

  it("an agent of a team can start agents", async (t) => {
    const { script } = play(
      [reply.calls([spawn("a", "Go.")]), wait(), (request) => reply.text(lastWords(request))],
      {
        "/root/a": ({ items }) => {
          if (items.length === 1) return reply.calls([spawn("b", "Go deeper.")]);
          if (!items.some(({ type }) => type === "message" && items.at(-1)?.type === type)) {
            return wait();
          }
          return reply.text("B says so.");
        },
        "/root/a/b": reply.text("So."),
      },
    );
    const server = await startServer(t, script);
    const made = await server.create({
      input: "Go",
      multi_agent: { enabled: true, max_concurrent_subagents: 1 },
    });
    assert.match(made.output_text, /B says so\./);
    assert.ok(told(made).includes("/root/a/b message"), told(made).join("\n"));
    assert.ok(told(made).includes("/root/a agent_message"));
  });
});

describe("what an agent can do with the others", () => {
  const act = (name: string, args: object = {}) => reply.calls([{ name, arguments: { ...args } }]);

  it("gives another task to an agent that knows what it did before", async (t) => {
    const { script, requests } = play(
      [
        reply.calls([spawn("a", "Count to one.")]),
        wait(),
        act("followup_task", { target: "a", message: "And on?" }),
        wait(),
        (request) => reply.text(lastWords(request)),
      ],
      { "/root/a": (request) => reply.text(lastWords(request) === "And on?" ? "Two." : "One.") },
    );
    const server = await startServer(t, script);
    const made = await server.create({ input: "Count.", ...team });
    assert.match(made.output_text, /Two\.$/);
    const again = requests.filter(({ instructions }) => instructions?.includes("/root/a"))[1];
    assert.deepEqual(
      again?.items.map((item) => (item.type === "message" ? lastWords({ items: [item] }) : "")),
      ["Count to one.", "One.", "And on?"],
    );
  });

  it("forks its own turns where it is asked to", async (t) => {
    const { script, requests } = play(
      [reply.calls([spawn("a", "Go on.", { fork_turns: "all" })]), wait(), reply.text("Done.")],
      { "/root/a": reply.text("I know.") },
    );
    const server = await startServer(t, script);
    await server.create({ input: "My colour is blue.", ...team });
    const asked = requests.find(({ instructions }) => instructions?.includes("/root/a"));
    assert.deepEqual(
      asked?.items.map((item) => (item.type === "message" ? lastWords({ items: [item] }) : "")),
      ["My colour is blue.", "Go on."],
    );
  });

  it("writes to each other: up, down and across", async (t) => {
    const send = (target: string, message: string) => act("send_message", { target, message });
    const { script } = play(
      [
        reply.calls([spawn("a", "Ask b."), spawn("b", "Wait for a.")]),
        wait({ targets: ["a", "b"] }),
        (request) => reply.text(JSON.stringify(request.items)),
      ],
      {
        "/root/a": ({ items }) =>
          items.length === 1 ? send("/root/b", "Are you there?") : reply.text("Asked."),
        "/root/b": (request) => {
          if (/Are you there/.test(lastWords(request))) {
            return callsOf(request).includes("send_message")
              ? reply.text("Done.")
              : send("/root", "B was asked.");
          }
          return wait();
        },
      },
    );
    const server = await startServer(t, script);
    const made = await server.create({ input: "Talk.", ...team });
    assert.match(made.output_text, /B was asked\./);
    assert.ok(told(made).includes("/root/b agent_message"), told(made).join("\n"));
  });

  it("lists all agents, and gets a message for each mistake", async (t) => {
    const outputs: string[] = [];
    const look = (request: ModelRequest): void => {
      const last = request.items.at(-1);
      if (last?.type === "function_call_output") outputs.push(String(last.output));
    };
    const after = (says: ReturnType<typeof act>) => (request: ModelRequest) => {
      look(request);
      return says;
    };
    const { script } = play(
      [
        act("send_message", { target: "nobody", message: "Hm?" }),
        after(act("spawn_agent", { task_name: "a b", message: "Go." })),
        after(reply.calls([spawn("a", "Go.")])),
        after(reply.calls([spawn("a", "Go.")])),
        after(act("interrupt_agent", { target: "a" })),
        after(wait()),
        after(act("list_agents")),
        after(reply.text("Done.")),
      ],
      { "/root/a": reply.silence("I am") },
    );
    const server = await startServer(t, script);
    await server.create({ input: "Try.", ...team });
    assert.match(outputs[0] ?? "", /^Error: There is no agent \/root\/nobody/);
    assert.match(outputs[1] ?? "", /^Error: It cannot be done: `a b` is not a name/);
    assert.equal(outputs[2], '{"task_name":"/root/a"}');
    assert.match(outputs[3] ?? "", /there is an agent \/root\/a already/);
    assert.match(outputs[4] ?? "", /"interrupted":true/);
    assert.match(outputs[6] ?? "", /"agent_name":"\/root\/a","agent_status":"interrupted"/);
  });

  it("ends those that still work when it has given its answer", async (t) => {
    const { script } = play([reply.calls([spawn("a", "Go.")]), reply.text("Done.")], {
      "/root/a": reply.silence("I am going"),
    });
    const server = await startServer(t, script);
    const made = await server.create({ input: "Go.", ...team });
    assert.equal(made.status, "completed");
    const { record } = server.responses.durable;
    const runs = await record.listRuns({ limit: 10 });
    assert.deepEqual(
      runs.map(({ status }) => status),
      ["ended", "ended"],
    );
  });

  it("limits how many agents work at once", async (t) => {
    let now = 0;
    let most = 0;
    const engine = respondSlowly(async () => {
      now++;
      most = Math.max(most, now);
      await untilTrue(() => most > 1, "a second agent at work");
      return () => void now--;
    });
    const server = await startServer(t, engine);
    const multi_agent = { enabled: true, max_concurrent_subagents: 2 };
    const made = await server.create({ input: "Go.", multi_agent });
    assert.equal(made.output_text, "Done.");
    assert.equal(most, 2);
  });

  it("stays within the budget of the first", async (t) => {
    const { script } = play(
      [reply.calls([spawn("a", "Go.")]), wait(), (request) => reply.text(lastWords(request))],
      { "/root/a": act("list_agents") },
    );
    const limits = { ...NO_LIMITS, turns: 8 };
    const server = await startServer(t, script, { caller: { limits } });
    const made = await server.create({ input: "Go.", ...team });
    const calls = told(made).filter((line) => line === "/root/a multi_agent_call list_agents");
    // Of eight turns, the first agent keeps one for its last, and has made two.
    assert.equal(calls.length, 5);
    assert.match(made.output_text, /Its share of 5 turns is used up, and no more of the budget/);
  });
});

/** Agents that work for a while. `enter` is called when one begins, and what it gives when it has worked. */
function respondSlowly(enter: () => Promise<() => void>): ScriptEngine {
  const first = play([
    reply.calls(["a", "b", "c", "d"].map((name) => spawn(name, "Go."))),
    wait({ targets: ["a", "b", "c", "d"] }),
    reply.text("Done."),
  ]).script;
  const makeId = createCountingIds();
  return async function* (request, { signal }) {
    const isAgent = request.instructions?.includes("/root/") === true;
    const leave = isAgent ? await enter() : () => {};
    // For one that may not begin, and does.
    for (let turn = 0; isAgent && turn < 50; turn++) await new Promise(setImmediate);
    const says = isAgent ? reply.text("Went.") : first.next(request);
    leave();
    if (says?.kind === "answer") yield* replyEvents(says, request, { signal, makeId });
  };
}
