/**
 * The hostile tenant of `tenants.ts`, a process of its own. It gets an order (`HostileOrder`), sends `ready` when all
 * of its load runs, and continues until it is ended; on `report` it sends what became of its requests.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export interface HostileOrder {
  readonly load: string;
  /** The server's address. */
  readonly place: string;
  readonly key: string;
  /** A key with a limit on tokens. */
  readonly limitedKey: string;
}

export interface HostileReport {
  readonly answered: number;
  readonly refused: number;
}

/** In the prompt of background requests. */
export const LATER = "Answer later.";
/** The name of the schema that is slow to check. */
export const SLOW_NAME = "slow_to_check";

const PROMPT_BYTES = [19_000_000, 58_000_000] as const;
const EMBEDDED_BYTES = 19_000_000;
const BACKGROUND_JOBS = 1000;
/** One more job in this time, about as often as one ends: the queue stays the same while it is measured. */
const TOP_UP_MS = 60;
const SCHEMAS_AT_ONCE = 40;
const SLOW_SCHEMA = {
  type: "object",
  properties: { a: { type: "string", pattern: "^(a+)+$" } },
};
const ITEM_CHARS = 900_000;
const ITEMS = 20;
const CONVERSATIONS_AT_ONCE = 3;

// The upstream imports the texts by which it recognises requests.
if (process.argv[1] === fileURLToPath(import.meta.url)) begin();

function begin(): void {
  process.on("disconnect", () => process.exit());
  const report = { answered: 0, refused: 0 };
  process.on("message", (message: HostileOrder | "report") => {
    if (message === "report") process.send?.(report);
    else void attack(message, report).then(() => process.send?.("ready"));
  });
}

type Ask = (path: string, body?: object | string, method?: string) => Promise<string>;

async function attack(order: HostileOrder, report: { answered: number; refused: number }) {
  const { load, key, limitedKey } = order;
  const toAsk =
    (token: string): Ask =>
    async (path, body, method = body === undefined ? "GET" : "POST") => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const text = typeof body === "object" ? JSON.stringify(body) : body;
      const rest = text === undefined ? {} : { body: text };
      const answer = await fetch(`${order.place}${path}`, { method, headers, ...rest });
      report[answer.ok ? "answered" : "refused"]++;
      return await answer.text();
    };
  const ask = toAsk(key);
  const has = (name: string): boolean => load === name || load === "everything";
  if (has("background")) {
    await sendBackground(ask, BACKGROUND_JOBS);
    repeat(1, () => sendBackground(ask, 1).then(() => sleep(TOP_UP_MS)));
  }
  if (has("schemas")) repeat(SCHEMAS_AT_ONCE, () => sendSchema(ask));
  for (const bytes of PROMPT_BYTES) {
    for (const isStored of [false, true]) {
      if (has("prompts")) repeat(1, () => sendPrompt(ask, { bytes, isStored }));
      if (has("budgets")) repeat(1, () => sendPrompt(toAsk(limitedKey), { bytes, isStored }));
    }
  }
  if (has("conversations")) repeat(CONVERSATIONS_AT_ONCE, () => sendConversation(ask));
  for (const isStored of [false, true]) {
    const prompt = { bytes: EMBEDDED_BYTES, isStored, model: "embedded/offline" };
    if (has("embedded")) repeat(1, () => sendPrompt(ask, prompt));
  }
}

/** Keeps this many requests in flight: each is sent again when it has ended. */
function repeat(atOnce: number, send: () => Promise<unknown>): void {
  const go = async (): Promise<void> => {
    for (;;) await send().catch(() => {});
  };
  for (let at = 0; at < atOnce; at++) void go();
}

async function sendBackground(ask: Ask, jobs: number): Promise<void> {
  let left = jobs;
  const take = async (): Promise<void> => {
    while (left-- > 0) await ask("/v1/responses", { input: LATER, background: true });
  };
  await Promise.all([take(), take(), take(), take()]);
}

async function sendSchema(ask: Ask): Promise<void> {
  const format = { type: "json_schema", name: SLOW_NAME, schema: SLOW_SCHEMA };
  await ask("/v1/responses", { input: "Hello", store: false, text: { format } });
}

interface Prompt {
  readonly bytes: number;
  readonly isStored: boolean;
  readonly model?: string;
}

async function sendPrompt(ask: Ask, { bytes, isStored, model }: Prompt): Promise<void> {
  const about = JSON.stringify({ store: isStored, model }).slice(0, -1);
  await ask("/v1/responses", `${about},"input":"${"a ".repeat(bytes / 2)}"}`);
}

async function sendConversation(ask: Ask): Promise<void> {
  const text = "word ".repeat(ITEM_CHARS / 5);
  const item = { type: "message", role: "user", content: text };
  const items = Array.from({ length: ITEMS }, () => item);
  const { id } = JSON.parse(await ask("/v1/conversations", { items })) as { id: string };
  await ask("/v1/responses", { input: "Hello", conversation: id });
  await ask(`/v1/conversations/${id}/items?limit=100`);
  await ask(`/v1/conversations/${id}`, undefined, "DELETE");
}
