/** Runs in a SQLite file, and a server with keys that shows them. */

import { request as sendRequest } from "node:http";
import type { TestContext } from "node:test";
import type { Provider } from "../../../src/providers/provider.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/runtime/runtime.ts";
import type { KeyWish } from "../../../src/server/guard/keys.ts";
import type { Route } from "../../../src/server/route.ts";
import { createRecordRoutes } from "../../../src/server/routes.ts";
import { openServer } from "../../../src/server/running/open-server.ts";
import { PATIENCE_MS } from "../../patience.ts";
import { newDatabasePath } from "../../store/database-path.ts";
import { createGuardBench, type GuardBench } from "../guard/guard-fixture.ts";

export interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves after the first of the answer: for streams that do not end. */
  readonly isLeft?: boolean;
}

export interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly body: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface RunsBench {
  readonly runtime: Runtime;
  readonly url: string;
  readonly guard: GuardBench;
  readonly storePath: string;
  /** A key's token. */
  key(wish?: Partial<KeyWish>): Promise<string>;
  ask(path: string, asked?: Asked): Promise<Told>;
}

export interface RunsSetup extends RuntimeOptions {
  readonly provider: Provider;
  readonly auth?: boolean;
  readonly more?: (parts: { runtime: Runtime; guard: GuardBench }) => readonly Route[];
}

export async function startRuns(
  t: TestContext,
  { auth = true, more = () => [], ...options }: RunsSetup,
): Promise<RunsBench> {
  const storePath = options.storePath ?? newDatabasePath();
  const runtime = await createRuntime({ env: {}, storePath, ...options });
  const guard = createGuardBench({ auth });
  const opened = await openServer({
    host: "127.0.0.1",
    port: 0,
    guard: guard.guard,
    routes: [...createRecordRoutes(await runtime.openRecord()), ...more({ runtime, guard })],
    body: { maxBytes: 1_000_000, timeoutMs: PATIENCE_MS },
    send: { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS },
    onDefect: (thrown) =>
      process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`),
  });
  t.after(async () => {
    const closed = opened.close();
    opened.destroy();
    await closed;
    await runtime.close();
  });
  return {
    runtime,
    guard,
    storePath,
    url: opened.url,
    key: async (wish = {}) => (await guard.makeKey({ scopes: ["runs"], ...wish })).token,
    ask: (path, asked) => ask(`${opened.url}${path}`, asked),
  };
}

/** Not by `fetch`, which sets headers of pages itself. */
function ask(url: string, asked: Asked = {}): Promise<Told> {
  const { method = "GET", token, body, headers, isLeft = false } = asked;
  return new Promise((resolve, reject) => {
    const sent = sendRequest(url, {
      method,
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
    });
    sent.on("error", reject);
    sent.on("response", async (answer) => {
      let text = "";
      for await (const chunk of answer.setEncoding("utf8")) {
        text += String(chunk);
        if (isLeft) break;
      }
      const isJson = answer.headers["content-type"]?.startsWith("application/json");
      const read: unknown = isJson ? JSON.parse(text) : undefined;
      resolve({ status: answer.statusCode ?? 0, body: read, text, headers: answer.headers });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The frames of a stream that has ended. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function framesOf(text: string): any[] {
  return text
    .split("\n\n")
    .flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    .map((data) => JSON.parse(data) as unknown);
}
