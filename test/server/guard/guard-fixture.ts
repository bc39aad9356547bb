/** A guard over memory, with a clock to turn; alone, or in front of a whole server. */

import { type IncomingHttpHeaders, IncomingMessage, request as sendRequest } from "node:http";
import { Socket } from "node:net";
import type { TestContext } from "node:test";
import type { OnUse } from "../../../src/server/guard/budgets.ts";
import {
  type ConfigurableGuard,
  createGuard,
  type GuardSettings,
} from "../../../src/server/guard/create-guard.ts";
import { createKey, type KeyWish, type NewClientKey } from "../../../src/server/guard/keys.ts";
import type { About, Admitted } from "../../../src/server/guard.ts";
import type { Scope } from "../../../src/server/route.ts";
import type { Audit } from "../../../src/store/audit.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import type { Shelf } from "../../../src/store/shelf.ts";
import type { Spending } from "../../../src/store/spending.ts";
import {
  createManualClock,
  type ManualClock,
  type Script,
  type ScriptEngine,
} from "../../../src/testing/index.ts";
import { type ServerSetup, startServer, type TestServer } from "../server-fixture.ts";
import { createTestBooks, type TestBooks } from "./test-books.ts";

export const CATALOGUE = ["bash_read", "bash_find", "subagent"];

export interface GuardBench {
  readonly guard: ConfigurableGuard;
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly clock: ManualClock;
  readonly settings: GuardSettings;
  /** The record that servers share; undefined where the books are in memory. */
  readonly record: TestBooks["record"];
  /** The guard of another server on the same books. */
  openOther(): ConfigurableGuard;
  makeKey(wish?: Partial<KeyWish>): Promise<NewClientKey>;
  /** A request of a key, of which nothing but its head counts. */
  admit(asked: AskedHead): Promise<Admitted>;
}

export interface AskedHead {
  readonly method?: string;
  readonly token?: string;
  readonly scope?: Scope | null;
  readonly about?: About;
  readonly headers?: Readonly<Record<string, string>>;
}

interface BenchParts {
  readonly onUse?: OnUse;
  /** Where keys are booked: that of the runs' own file, for a server that has one. */
  readonly spending?: Spending;
}

export function createGuardBench(
  rules: Partial<GuardSettings> = {},
  { onUse, spending: given }: BenchParts = {},
): GuardBench {
  const books = createTestBooks();
  const { shelf, audit, places, record } = books;
  const spending = given ?? books.spending;
  // In the middle of a minute and of a day.
  const clock = createManualClock(Date.UTC(2030, 0, 1, 12, 0, 30));
  const settings: GuardSettings = {
    auth: true,
    host: "127.0.0.1",
    hosts: [],
    origins: [],
    catalogue: CATALOGUE,
    ...rules,
  };
  const all: ConfigurableGuard[] = [];
  const openOther = (): ConfigurableGuard => {
    const opened = createGuard({ shelf, spending, audit, clock, settings, onUse, places });
    all.push(opened);
    return opened;
  };
  const guard = joinGuards(openOther(), all);
  return {
    guard,
    record,
    openOther,
    shelf,
    spending,
    audit,
    clock,
    settings,
    makeKey: (wish) => createKey({ shelf, clock }, { name: "test", ...wish }),
    admit: ({ token, method = "POST", scope = "responses", about = ABOUT, headers = {} }) =>
      guard.admit(toMessage(method, { ...toBearer(token), ...headers }), scope, about),
  };
}

/** The first of them; what a test does to it by hand is done to all. */
function joinGuards(
  first: ConfigurableGuard,
  all: readonly ConfigurableGuard[],
): ConfigurableGuard {
  return {
    ...first,
    configure(settings) {
      for (const guard of all) guard.configure(settings);
    },
    budgets: {
      ...first.budgets,
      async flush() {
        for (const guard of all) await guard.budgets.flush();
      },
    },
  };
}

/** One whose keys are booked in the file that the runs are in, as a server's are. */
export async function openFileBench(t: TestContext, storePath: string): Promise<GuardBench> {
  const kept = await openKept(storePath);
  t.after(() => kept.close());
  return createGuardBench({}, { spending: await kept.spending() });
}

const ABOUT: About = { route: "POST /v1/responses" };

export function toBearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function toMessage(method: string, headers: Readonly<Record<string, string>>): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.method = method;
  message.url = "/v1/responses?secret=1";
  const all = { host: "127.0.0.1:8484", ...headers };
  message.rawHeaders = Object.entries(all).flat();
  Object.assign(message.headers, all);
  return message;
}

export interface GuardedServer extends TestServer {
  send(asked: Sent): Promise<Received>;
}

export async function startGuarded(
  t: TestContext,
  { guard, spending, record, openOther }: GuardBench,
  engine: ScriptEngine | Script,
  setup: ServerSetup = {},
): Promise<GuardedServer> {
  const behind = (own: ConfigurableGuard): Pick<ServerSetup, "settings" | "server"> => ({
    settings: { spending, ...toMoney(own), ...setup.settings },
    server: { guard: own, ...setup.server },
  });
  const server = await startServer(t, engine, {
    ...setup,
    ...behind(guard),
    record,
    another: () => behind(openOther()),
  });
  return { ...server, send: (asked) => send(server.url, asked) };
}

function toMoney({
  budgets: { charge, settle, openPurse, payerOf },
  quotaOf,
  enterPlace,
}: ConfigurableGuard): ServerSetup["settings"] {
  return { charge, settle, openPurse, payerOf, enterPlace, quotaOf };
}

export interface Sent {
  readonly method?: string;
  /** As on the wire: nothing is shortened or escaped. */
  readonly path?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object goes as JSON, a text as it is. */
  readonly body?: object | string;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function send(url: string, asked: Sent): Promise<Received> {
  const { method = "POST", path = "/v1/responses", token, headers, body } = asked;
  const { hostname, port } = new URL(url);
  const all = { ...toBearer(token), ...headers };
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path, headers: all, agent: false };
    const request = sendRequest(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
}

/** The error of an answer in the API's form; throws for any other form. */
export function errorOf({ text }: Received): ApiError {
  const { error, ...rest } = JSON.parse(text) as { error: ApiError };
  const fields = Object.keys(error).sort().join();
  if (fields === "code,message,param,type" && Object.keys(rest).length === 0) return error;
  throw new Error(`no error of the API: ${text}`);
}

interface ApiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}
