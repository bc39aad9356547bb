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
import { createKey, type KeyWish, type NewKey } from "../../../src/server/guard/keys.ts";
import type { About, Admitted } from "../../../src/server/guard.ts";
import type { Scope } from "../../../src/server/route.ts";
import type { Audit } from "../../../src/store/audit.ts";
import { createMemoryAudit } from "../../../src/store/memory/memory-audit.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import type { Shelf } from "../../../src/store/shelf.ts";
import type { Spending } from "../../../src/store/spending.ts";
import {
  createManualClock,
  type ManualClock,
  type Script,
  type ScriptEngine,
} from "../../../src/testing/index.ts";
import { type ServerSetup, startServer, type TestServer } from "../server-bench.ts";

export const CATALOGUE = ["bash_read", "bash_find", "subagent"];

export interface GuardBench {
  readonly guard: ConfigurableGuard;
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly clock: ManualClock;
  readonly settings: GuardSettings;
  makeKey(wish?: Partial<KeyWish>): Promise<NewKey>;
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
  given: Partial<GuardSettings> = {},
  { onUse, spending = createMemorySpending() }: BenchParts = {},
): GuardBench {
  const shelf = createMemoryShelf();
  const audit = createMemoryAudit();
  // In the middle of a minute and of a day.
  const clock = createManualClock(Date.UTC(2030, 0, 1, 12, 0, 30));
  const settings: GuardSettings = {
    ...{ auth: true, host: "127.0.0.1", hosts: [], origins: [], catalogue: CATALOGUE },
    ...given,
  };
  const guard = createGuard({ shelf, spending, audit, clock, settings, onUse });
  return {
    ...{ guard, shelf, spending, audit, clock, settings },
    makeKey: (wish) => createKey({ shelf, clock }, { name: "test", ...wish }),
    admit: ({ token, method = "POST", scope = "responses", about = ABOUT, headers = {} }) =>
      guard.admit(toMessage(method, { ...toBearer(token), ...headers }), scope, about),
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
  { guard, spending }: GuardBench,
  engine: ScriptEngine | Script,
  setup: ServerSetup = {},
): Promise<GuardedServer> {
  const { charge, settle, openPurse, payerOf } = guard.budgets;
  const { quotaOf, enterPlace } = guard;
  const server = await startServer(t, engine, {
    ...setup,
    settings: {
      ...{ spending, charge, settle, openPurse, payerOf, enterPlace, quotaOf },
      ...setup.settings,
    },
    server: { guard, ...setup.server },
  });
  return { ...server, send: (asked) => send(server.url, asked) };
}

export interface Sent {
  readonly method?: string;
  /** As it stands on the wire: nothing is made shorter or escaped. */
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
