/** Routes of the console: its page, and the sessions that its requests use. */

import { Failure } from "../../base/failure.ts";
import { CONSOLE_SCOPES, type ConsoleSessions } from "../console/console-sessions.ts";
import { CONSOLE_PATHS, createShell } from "../console/shell.ts";
import type { Route, RouteAnswer, RouteCall } from "../route.ts";
import { toPrivate } from "./runs.ts";
import { optionalText, readObject } from "./viewer.ts";

export interface ConsoleParts {
  readonly sessions: ConsoleSessions;
  /** Makes a one-time code for a person with at most these rights. */
  readonly makeCode: (whose: { tenant: string; scopes: RouteCall["scopes"] }) => Promise<string>;
  /** For a person: why there is no console here; undefined if there is one. */
  readonly refusal: string | undefined;
  /** True if the server asks for keys. */
  readonly auth: boolean;
  readonly prefix: string;
}

export function createConsoleRoutes(parts: ConsoleParts): Route[] {
  return [...toSessionRoutes(parts), ...toShellRoutes(parts)];
}

function toShellRoutes({ refusal, prefix }: ConsoleParts): Route[] {
  let shell: ReturnType<typeof createShell> | undefined;
  const handle = async ({ request }: RouteCall): Promise<RouteAnswer> => {
    refuse(refusal);
    const [path = ""] = (request.url ?? "").split("?", 1);
    // The page names its files relative to its own address.
    if (path.endsWith("/console")) {
      const headers = { location: `${prefix}/console/` };
      return { kind: "json", status: 308, body: {}, headers };
    }
    shell ??= createShell();
    const { type, bytes, headers } = shell(path);
    return { kind: "bytes", type, chunks: toChunks(bytes), headers };
  };
  return CONSOLE_PATHS.map((path) => ({
    method: "GET",
    path,
    scope: null,
    handle,
    summary: "The console: a page in the browser",
  }));
}

async function* toChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function refuse(refusal: string | undefined): void {
  if (refusal !== undefined) throw new Failure("forbidden", refusal);
}

function toSessionRoutes({ sessions, makeCode, refusal, auth }: ConsoleParts): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/console/sessions",
      scope: null,
      summary: "A session of the console for a one-time `code`, or for a `key`",
      async handle(call) {
        refuse(refusal);
        const body = await readObject(call);
        const code = optionalText(body, "code");
        const key = optionalText(body, "key");
        if (!auth) return toPrivate(toKeyless(call));
        if (code !== undefined) return toPrivate(await sessions.fromCode(code));
        if (key !== undefined) return toPrivate(await sessions.fromKey(key));
        const message = "Send the `code` that `offshoot ui` shows, or a `key`.";
        throw new Failure("invalid_request", message, { param: "code" });
      },
    },
    {
      method: "GET",
      path: "/v1/console/session",
      scope: "runs",
      summary: "The key of this request, and what it may do",
      async handle({ caller, scopes }) {
        const { keyId: id, tenant } = caller;
        const own = { id, tenant, scopes, token: null, expires_at_ms: null };
        return toPrivate({ object: "console.session", ...own });
      },
    },
    {
      method: "DELETE",
      path: "/v1/console/session",
      scope: "runs",
      needsKey: true,
      summary: "End the session of this request",
      async handle({ caller }) {
        await sessions.end(caller.keyId);
        return toPrivate({ object: "console.session.deleted", id: caller.keyId, deleted: true });
      },
    },
    {
      method: "POST",
      path: "/v1/console/codes",
      scope: "runs",
      needsKey: true,
      summary: "A one-time code for a session with the rights of this key",
      async handle({ caller, scopes }) {
        refuse(refusal);
        const held = CONSOLE_SCOPES.filter(
          (scope) => scopes.includes(scope) && !SPENDING.has(scope),
        );
        const code = await makeCode({ tenant: caller.tenant, scopes: held });
        return toPrivate({ object: "console.code", code });
      },
    },
  ];
}

/** A code has no budget, so its session cannot spend. */
const SPENDING: ReadonlySet<string> = new Set(["responses", "files"]);

function toKeyless({ caller, scopes }: RouteCall): object {
  const none = { object: "console.session", token: null, id: null, expires_at_ms: null };
  return { ...none, tenant: caller.tenant, scopes };
}
