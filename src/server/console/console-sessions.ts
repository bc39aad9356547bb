/**
 * Sessions of the console. A session is a key with an expiry: the guard admits it like any key, `offshoot keys` lists
 * and revokes it, and the audit names it. It is given for a one-time code, or for a key.
 *
 * A code is stored as its hash, works once and for a minute, and is never in a log: it is in the fragment of an
 * address, which browsers do not send.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Audit } from "../../store/audit.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import { type ClientKey, isCounted } from "../guard/key.ts";
import { createKeyRing } from "../guard/key-ring.ts";
import { createKey, findKey, hashToken, type KeyWish, revokeKey } from "../guard/keys.ts";
import { SCOPES, type Scope } from "../route.ts";

/** A working day: a page that is left open overnight asks again. */
const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 60_000;
const CODE_KIND = "console_code";
const SESSION_NAME = "console";

/** The scopes that the console needs. It has no use for the others. */
export const CONSOLE_SCOPES: readonly Scope[] = [
  ...["runs", "approve", "admin", "responses", "files", "models"],
] as Scope[];

export interface ConsoleSession {
  readonly object: "console.session";
  /** For `Authorization: Bearer`; null if the server asks for no key. */
  readonly token: string | null;
  readonly id: string | null;
  readonly tenant: string;
  readonly scopes: readonly Scope[];
  readonly expires_at_ms: number | null;
}

interface SessionParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
}

/**
 * Makes a one-time code for a session with these scopes. The code is not stored: it can be shown only now.
 */
export async function makeConsoleCode(
  { shelf, clock }: SessionParts,
  { tenant = DEFAULT_TENANT, scopes }: { tenant?: string; scopes: readonly Scope[] },
): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  const now = clock.now();
  const kept = { parent: null, created_at_ms: now, expires_at_ms: now + CODE_MS };
  await shelf.put({ ...nameCode(code), ...kept, body: { tenant, scopes: [...scopes] } });
  return code;
}

function nameCode(code: string): ThingName {
  return { tenant: "", kind: CODE_KIND, id: hashToken(code).toString("hex") };
}

export interface ConsoleSessions {
  /**
   * Rejects with `unauthorized` a code that is unknown, used or too old. If two clients show it at once, one gets a
   * session.
   */
  fromCode(code: string): Promise<ConsoleSession>;
  /**
   * The session has at most the rights of the key: it has the key's tenant, models and tools, and at most its scopes.
   */
  fromKey(token: string): Promise<ConsoleSession>;
  /**
   * Ends the session that made the request. Rejects with `conflict` if the key is not a session.
   */
  end(keyId: string | null): Promise<void>;
}

export function createConsoleSessions(
  parts: SessionParts & {
    readonly audit: Pick<Audit, "write">;
    readonly fixedToken: () => string | undefined;
  },
): ConsoleSessions {
  const { shelf, clock, audit } = parts;
  const ring = createKeyRing(parts);

  function note(action: string, { id, tenant }: Pick<ClientKey, "id" | "tenant">): void {
    const entry = { at_ms: clock.now(), tenant, key_id: id, action, target: id };
    audit.write({ ...entry, status: 200, address: null });
  }

  async function open(like: LikeKey): Promise<ConsoleSession> {
    const expiresAtMs = Math.min(clock.now() + SESSION_MS, like.expires_at_ms ?? Infinity);
    const { key, token } = await createKey(parts, {
      ...toRights(like),
      name: SESSION_NAME,
      isSession: true,
      expiresAtMs,
    });
    note("console.session", key);
    const { id, tenant, scopes } = key;
    return { object: "console.session", token, id, tenant, scopes, expires_at_ms: expiresAtMs };
  }

  return {
    async fromCode(code) {
      const name = nameCode(code);
      const thing = await shelf.get(name);
      // If several clients show the code at once, only one of them removes it.
      const isFirst = thing !== undefined && (await shelf.delete(name));
      if (!thing || !isFirst || (thing.expires_at_ms ?? 0) <= clock.now()) throw toUsedCode();
      return await open(readCode(thing.body));
    },
    async fromKey(token) {
      const { key } = await ring.find(token);
      const scopes = scopesOf(key);
      if (scopes.includes("runs")) return await open({ ...key, scopes });
      const message = "This key lacks the scope `runs`, which the console needs.";
      throw new Failure("forbidden", message);
    },
    async end(keyId) {
      const key = keyId === null ? undefined : await findKey(shelf, keyId);
      if (!key?.session) {
        const message =
          "This is not a session of the console. Revoke a key with `offshoot keys revoke`.";
        throw new Failure("conflict", message);
      }
      note("console.end", await revokeKey(parts, key.id));
    },
  };
}

/** The parts of a key that decide what a session may do. */
type LikeKey = Partial<ClientKey> & Pick<ClientKey, "tenant" | "scopes">;

function toRights(like: LikeKey): Omit<KeyWish, "name"> {
  return {
    tenant: like.tenant,
    scopes: like.scopes,
    models: like.models ?? undefined,
    catalogue: like.catalogue ?? undefined,
    options: like.options ?? undefined,
    responseLimits: like.response_limits,
  };
}

/** The spending of a session is not counted for the key: a key with a budget gives none that could spend. */
function scopesOf({ scopes, limits }: ClientKey): readonly Scope[] {
  const isSpending = (scope: Scope): boolean => scope === "responses" || scope === "files";
  return CONSOLE_SCOPES.filter(
    (scope) => scopes.includes(scope) && !(isCounted(limits) && isSpending(scope)),
  );
}

function readCode(body: Json): { readonly tenant: string; readonly scopes: readonly Scope[] } {
  const { tenant, scopes } = isJsonObject(body) ? body : {};
  const known = Object.keys(SCOPES) as Scope[];
  return {
    tenant: typeof tenant === "string" ? tenant : DEFAULT_TENANT,
    scopes: known.filter((scope) => Array.isArray(scopes) && scopes.includes(scope)),
  };
}

function toUsedCode(): Failure {
  const message = "This code was used already, or is older than a minute. Run `offshoot ui` again.";
  return new Failure("unauthorized", message);
}
