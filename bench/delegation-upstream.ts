/**
 * The model's server of `delegation.ts`, in a process of its own, so that no contender pays for its work. It answers
 * each request 200 ms after it came: the parent delegates, a child reads a file and then says 200 characters. It tells
 * the runs apart by their first user message, and counts requests.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const ANSWER_MS = 200;
const ANSWER_CHARS = 200;
const EVENT_STREAM = "text/event-stream";
/** Limits the wait, so that the bench ends and reports a contender that never has all of them at once. */
const MOST_HELD_MS = 600_000;

/** The parent's prompt. */
export function toPrompt(children: number, tool: string): string {
  return `Delegate ${children} with ${tool}.`;
}

const PARENT = /^Delegate (\d+) with (\w+)\.$/;
const CHILD = /^Child (\d+):/;
const DONE = /Child (\d+) is done\./g;

/** Sent by the bench before each measurement; answered when it is in effect. */
export interface Order {
  /** Begins the children's first answers, and ends none before this many children wait for theirs. */
  readonly holdsUntil?: number;
}

/** What was asked since the last order. */
export interface Asked {
  readonly requests: number;
  /** The most children that had begun and not ended. */
  readonly atOnce: number;
  /** How many different children's answers the parent's model received. */
  readonly ran: number;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

interface ChatRequest {
  readonly messages: readonly Message[];
  readonly stream?: boolean;
}

interface Call {
  readonly name: string;
  readonly arguments: object;
}

type Answer = { readonly text: string } | { readonly calls: readonly Call[] };

/** Sends its parent the URL, then answers each order and each `report`. */
export function startDelegationUpstream(): void {
  let count = createCount({});
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatRequest;
      const { answer, ready } = count.take(body.messages);
      void waitAnswer().then(async () => {
        // The answer has begun: clients that send some requests first, and more once those are accepted, continue.
        if (ready !== undefined) begin(response);
        await ready;
        count.end(body.messages);
        send(response, answer, body.stream === true);
      });
    });
  });
  process.on("message", (message: Order | "report") => {
    if (message === "report") process.send?.(count.asked());
    else {
      count = createCount(message);
      process.send?.("ready");
    }
  });
  // It ends with its parent, however that ends.
  process.on("disconnect", () => process.exit());
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  });
}

function waitAnswer(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
}

function createCount({ holdsUntil = 0 }: Order) {
  const open = new Set<string>();
  const held: (() => void)[] = [];
  let requests = 0;
  let atOnce = 0;
  let ran = 0;

  const release = (): void => {
    for (const go of held.splice(0)) go();
  };
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      if (held.push(resolve) >= holdsUntil) release();
      else if (held.length === 1) setTimeout(release, MOST_HELD_MS).unref();
    });

  return {
    take(messages: readonly Message[]): { answer: Answer; ready: Promise<void> | undefined } {
      requests++;
      const outputs = messages.filter(({ role }) => role === "tool");
      const prompt = promptOf(messages);
      const parent = PARENT.exec(prompt);
      if (parent) {
        const [, children = "", tool = ""] = parent;
        if (outputs.length === 0)
          return { answer: delegate(Number(children), tool), ready: undefined };
        const told = outputs.map(({ content }) => textOf(content)).join("\n");
        ran = new Set([...told.matchAll(DONE)].map(([, child]) => child)).size;
        return { answer: { text: `FINAL children=${ran}/${children}` }, ready: undefined };
      }
      const [, child = ""] = CHILD.exec(prompt) ?? [];
      open.add(child);
      atOnce = Math.max(atOnce, open.size);
      if (outputs.length > 0) return { answer: toReport(child), ready: undefined };
      const answer = { calls: [{ name: "read", arguments: { path: "data.txt" } }] };
      return { answer, ready: holdsUntil > 0 ? hold() : undefined };
    },
    end(messages: readonly Message[]): void {
      const [, child] = CHILD.exec(promptOf(messages)) ?? [];
      const isLast = messages.some(({ role }) => role === "tool");
      if (child !== undefined && isLast) open.delete(child);
    },
    asked: (): Asked => ({ requests, atOnce, ran }),
  };
}

function promptOf(messages: readonly Message[]): string {
  return textOf(messages.find(({ role }) => role === "user")?.content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function toReport(child: string): Answer {
  return { text: `Child ${child} is done. `.padEnd(ANSWER_CHARS, "x") };
}

/** The calls in each tool's form; `delegate` is that of the other packages and of the plain loop. */
function delegate(children: number, tool: string): Answer {
  const tasks = Array.from({ length: children }, (_, child) => ({
    label: `child ${child}`,
    task_prompt: `Child ${child}: read data.txt and say what is in it.`,
  }));
  if (tool === "parallel_subagent") {
    return { calls: [{ name: tool, arguments: { tasks, max_concurrent: 100 } }] };
  }
  const toArguments = (task: (typeof tasks)[number]): object => {
    if (tool === "subagent") return task;
    if (tool === "call_subagent") return { prompt: task.task_prompt, tool_subset: ["read"] };
    return { input: task.task_prompt };
  };
  return { calls: tasks.map((task) => ({ name: tool, arguments: toArguments(task) })) };
}

const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
const HEAD = { id: "chatcmpl-bench", created: 1, model: "test" };

function begin(response: ServerResponse): void {
  // A role alone is not output yet.
  const said = toFrame({ choices: [{ index: 0, delta: { content: "Let me see. " } }] });
  response.writeHead(200, { "content-type": EVENT_STREAM }).write(FIRST_FRAME + said);
}

function send(response: ServerResponse, answer: Answer, isStreamed: boolean): void {
  if (isStreamed) {
    const hasBegun = response.headersSent;
    if (!hasBegun) response.writeHead(200, { "content-type": EVENT_STREAM });
    const frames = [...(hasBegun ? [] : [FIRST_FRAME]), ...toChunks(answer).map(toFrame)];
    response.end(`${frames.join("")}data: [DONE]\n\n`);
    return;
  }
  const message = { role: "assistant", ...toMessage(answer) };
  const choice = { index: 0, message, finish_reason: reasonOf(answer), logprobs: null };
  const body = { ...HEAD, object: "chat.completion", choices: [choice], usage: USAGE };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const FIRST_DELTA = { role: "assistant", content: null };
const FIRST_FRAME = toFrame({ choices: [{ index: 0, delta: FIRST_DELTA, finish_reason: null }] });

function toFrame(chunk: object): string {
  return `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", ...chunk })}\n\n`;
}

function toChunks(answer: Answer): object[] {
  const { tool_calls, content } = toMessage(answer);
  const deltas: object[] = tool_calls
    ? tool_calls.map((call, index) => ({ tool_calls: [{ index, ...call }] }))
    : (content?.match(/.{1,25}/g) ?? []).map((piece) => ({ content: piece }));
  return [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: reasonOf(answer) }] },
    { choices: [], usage: USAGE },
  ];
}

function toMessage(answer: Answer) {
  if ("text" in answer) return { content: answer.text, tool_calls: undefined };
  const tool_calls = answer.calls.map((call, at) => ({
    id: `call_${at}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return { content: null, tool_calls };
}

function reasonOf(answer: Answer): string {
  return "text" in answer ? "stop" : "tool_calls";
}
