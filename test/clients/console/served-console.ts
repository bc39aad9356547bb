/** A real server with its console, a record of real runs, and a scripted model. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { reply, respond, type Upstream } from "../../../src/testing/index.ts";
import { createPlace, type Place, type RunningCommand } from "../../e2e/command.ts";
import { type Served, serve } from "../../e2e/served.ts";
import { CHAT } from "../../e2e/wires.ts";
import { ATTACKS, MARK } from "./attacks.ts";

const KEY = "osk_the-key-of-the-console-tests";

export interface ServedConsole extends AsyncDisposable {
  readonly served: Served;
  readonly place: Place;
  readonly url: string;
  readonly key: string;
  /** The file of the record. */
  readonly storePath: string;
  /** Kills the server, and starts it again at the same address once the work is done. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** `offshoot run` in the same record, with the same model. */
  run(prompt: string, ...flags: string[]): RunningCommand;
  /** A key with only these scopes. */
  makeKey(...scopes: string[]): Promise<string>;
  /** Makes a request of the API with the key. */
  ask<Body>(method: string, path: string, body?: object): Promise<Body>;
}

const CONFIG = `models:
  custom/talker:
    price: { input: 1.25, cached: 0.125, output: 10 }
`;

interface Setup {
  /** Called with the record's file before the server opens it. */
  prepare?(storePath: string): Promise<void>;
}

export async function startConsole({ prepare }: Setup = {}): Promise<ServedConsole> {
  const upstream = await CHAT.start({ engine: respond(answer) });
  const place = await createPlace({
    "notes.md": "# Notes\n\nShip it.\n",
    "secret.md": "Nothing for models.\n",
  });
  await mkdir(join(place.home, ".config/offshoot"), { recursive: true });
  await writeFile(join(place.home, ".config/offshoot/config.yaml"), CONFIG);
  const storePath = join(place.home, "runs.db");
  const env = { OFFSHOOT_STORE: storePath };
  await prepare?.(storePath);
  const start = (...args: string[]): Promise<Served> =>
    serve({ place, env, key: KEY, args: [...servedAt(upstream), ...args] });
  let served = await start();
  const { url } = served;
  return {
    served,
    place,
    url,
    key: KEY,
    storePath,
    async restart(meanwhile) {
      await served[Symbol.asyncDispose]();
      await meanwhile();
      served = await start("--port", new URL(url).port);
    },
    run: (prompt, ...flags) =>
      place.start(["run", ...modelAt(upstream), "--approval-wait", "600", ...flags, prompt], {
        env,
      }),
    async makeKey(...scopes) {
      const { body } = await served.ask("POST", "/v1/admin/keys", { name: "narrow", scopes });
      return (body as { token: string }).token;
    },
    async ask<Body>(method: string, path: string, body?: object) {
      const answered = await served.ask(method, path, body);
      assert.equal(answered.status, 200, JSON.stringify(answered.body));
      return answered.body as Body;
    },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Clients may use these tools of the server, in the folder of the tests. */
function servedAt(upstream: Upstream): string[] {
  return [...modelAt(upstream), "--tools", "read,glob,subagent"];
}

function modelAt({ url }: Upstream): string[] {
  return ["-m", "custom/talker", "--provider", "openai-chat", "--url", url];
}

/** Opens a view and signs in like a user, by pasting a key. */
export async function signIn(page: Page, { url, key }: { url: string; key: string }, to = "runs") {
  await page.goto(`${url}/console/${to}`);
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("dialog", { name: "Sign in" }).waitFor({ state: "detached" });
}

/** A call whose arguments try to look like something else in its question. */
const HOSTILE_FILE = {
  path: `<img src=x onerror="window.${MARK}=1">\u202e.md`,
  content: Object.values(ATTACKS).join("\n\n"),
};

const REPORT = `## Release notes

The change is **small**: one file, no new dependency.

| file | lines | risk |
|---|---:|---|
| \`src/a.ts\` | 12 | low |
| \`src/b.ts\` | 3 | none |

\`\`\`ts
export const answer = 42;
\`\`\`

1. Read the notes
2. Ship it
`;

/** The model's answers, by the words of the task. */
const TALK: readonly (readonly [
  RegExp,
  (request: ModelRequest) => ReturnType<typeof reply.text>,
])[] = [
  [/^Read the notes/, once("read", { path: "notes.md" }, "The notes say: ship it.")],
  [/^Write the summary/, once("write", { path: "summary.md", content: "Ship it.\n" }, "Written.")],
  [/^Say: /, (request) => reply.text(`${ATTACKS[taskOf(request).slice(5)]}\n\nThe end.`)],
  [/^Read what others wrote/, (request) => readAll(request)],
  [/^Keep what others wrote/, once("write", HOSTILE_FILE, "Written.")],
  [/^Grow a tree/, grow],
  [/^Read the secret/, once("read", { path: "secret.md" }, "I may not.")],
  [/^Read what is not there/, once("read", { path: "gone.md" }, "It is gone.")],
  [/^Say a lot/, () => reply.text(`${"A long line of words. ".repeat(20)}\n`.repeat(200))],
  [/^Wait for the slow one/, () => reply.silence("I am thinking about it")],
];

function answer(request: ModelRequest): ReturnType<typeof reply.text> {
  const task = taskOf(request);
  const own = TALK.find(([pattern]) => pattern.test(task));
  if (own) return own[1](request);
  if (/^Review the release/.test(task) && outputsOf(request) === 0) {
    return reply.calls(
      [
        ["reader", "Read the notes and say what is in them."],
        ["writer", "Write the summary of the notes into summary.md."],
        ["slow", "Wait for the slow one."],
      ].map(([label, task_prompt]) => ({
        name: "subagent",
        arguments: JSON.stringify({ label, task_prompt }),
      })),
    );
  }
  return reply.text(REPORT);
}

/** Forty steps, a question, and as many steps again. */
function grow(request: ModelRequest): ReturnType<typeof reply.text> {
  const count = outputsOf(request);
  if (count >= 81) return reply.text("Grown.");
  if (count === 40) return once("write", { path: "grown.md", content: "" }, "")(NOTHING_DONE);
  const calls = Array.from({ length: 10 }, () => ({ name: "read", arguments: READ_NOTES }));
  return reply.calls(calls);
}

const READ_NOTES = JSON.stringify({ path: "notes.md" });
const NOTHING_DONE = { items: [], tools: [] } as unknown as ModelRequest;

/** Every attack as a tool's result: the tests have written them into files. */
function readAll(request: ModelRequest): ReturnType<typeof reply.text> {
  if (outputsOf(request) > 0) return reply.text("All is read.");
  const paths = Object.keys(ATTACKS).map((_, at) => `attack-${at}.md`);
  return reply.calls(paths.map((path) => ({ name: "read", arguments: JSON.stringify({ path }) })));
}

/**
 * Calls the tool first, and writes the text once it has its result. A server's own tool has its server's
 * name before it.
 */
function once(tool: string, given: object, text: string) {
  return (request: ModelRequest) => {
    if (outputsOf(request) > 0) return reply.text(text);
    const offered = request.tools.map((one) => ("name" in one ? one.name : ""));
    const name = offered.find((one) => one.endsWith(`_${tool}`)) ?? tool;
    return reply.calls([{ name, arguments: JSON.stringify(given) }]);
  };
}

function outputsOf({ items }: ModelRequest): number {
  return items.filter(({ type }) => type === "function_call_output").length;
}

/** The newest message of a user, or of the agent that gave the task. */
function taskOf({ items }: ModelRequest): string {
  const last = items.findLast((item) => item.type === "message" && item.role === "user");
  if (last?.type !== "message") return "";
  if (typeof last.content === "string") return last.content;
  return last.content.map((part) => ("text" in part ? part.text : "")).join("\n");
}
