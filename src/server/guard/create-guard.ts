/**
 * The guard of a server. It checks in this order, the cheap and the public first: does the server answer to this host
 * and this page, whose key is it, may the key do this, does it have too many requests in progress, does it have
 * budget left.
 *
 * Refusals are written to the audit here; everything else is written when its answer was sent.
 */

import type { IncomingMessage } from "node:http";
import { type Limits, NO_LIMITS, toLeast } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import { SAMPLING_FIELDS } from "../../providers/http/carried-fields.ts";
import type { EnterPlace } from "../../responses/run/background-queue.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import type { Audit } from "../../store/audit.ts";
import { countInBook, createPlaceBook } from "../../store/memory/place-book.ts";
import type { PlaceCount } from "../../store/place-count.ts";
import type { QuotaOf } from "../../store/quota-shelf.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";
import { cutClient } from "../client-signal.ts";
import type { About, Admitted, Guard } from "../guard.ts";
import type { Scope } from "../route.ts";
import { takeAllowance } from "./allowance.ts";
import { type Budgets, createBudgets, type OnUse } from "./budgets.ts";
import { readToken } from "./credentials.ts";
import { type CheckHost, checkOneHost, createHostCheck } from "./hosts.ts";
import { type ClientKey, isCounted } from "./key.ts";
import { createPlaces } from "./key-places.ts";
import { createKeyRing, type FoundClientKey, type KeyRing } from "./key-ring.ts";
import { createUses } from "./last-used.ts";
import { createOrigins, type Origins } from "./origins.ts";
import { type CallerOf, type EnteredCaller, enterOwn } from "./own-callers.ts";
import { createQuotas } from "./quotas.ts";
import { createRequestAudit, type RequestAudit, toAction, type Who } from "./request-audit.ts";

export interface GuardParts {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly settings: GuardSettings;
  /** Counts requests in progress for several processes. When left out, for this process alone. */
  readonly places?: PlaceCount | undefined;
  /** Called with what each key uses, when that is booked. */
  readonly onUse?: OnUse | undefined;
  /** Says who makes a request, in place of keys, for a program that embeds the server. */
  readonly callerOf?: CallerOf | undefined;
}

export interface GuardSettings {
  /**
   * True if a key is required, also from callers on this machine. Without it all callers are one tenant.
   */
  readonly auth: boolean;
  /** The address on which the server listens. */
  readonly host: string;
  /** Further host names that the server answers to. */
  readonly hosts: readonly string[];
  /** Origins whose pages may use it. */
  readonly origins: readonly string[];
  /** Names of the server's own tools that clients may use. */
  readonly catalogue: readonly string[];
  /** A key that is not in the record: `OFFSHOOT_SERVER_KEY`. It may do everything. */
  readonly fixedToken?: string | undefined;
  /** The most that one response may spend, for every caller. */
  readonly limits?: Limits | undefined;
  /** The most bytes that a tenant may keep, if its keys do not say. */
  readonly storageBytes?: number | undefined;
}

export interface ConfigurableGuard extends Guard {
  /** Takes effect from the next request on. Requests in progress keep the old settings. */
  configure(settings: GuardSettings): void;
  /** The budgets of keys, for runs that end without their request, or in another process. */
  readonly budgets: Omit<Budgets, "note" | "countRequests">;
  /** Counts work that has no request, for example a background response. */
  readonly enterPlace: EnterPlace;
  readonly quotaOf: QuotaOf;
}

export function createGuard({ settings, ...parts }: GuardParts): ConfigurableGuard {
  const { shelf, clock } = parts;
  let rules = toRules(settings);
  let callers = new WeakMap<ClientKey, Caller>();
  const ring = createKeyRing({ shelf, clock, fixedToken: () => rules.fixedToken });
  const budgets = createBudgets(parts);
  const places = createPlaces(parts.places ?? countInBook(createPlaceBook(), undefined));
  const uses = createUses(parts);
  const audit = createRequestAudit(parts);
  const booking = { ...parts, budgets };

  /** For a key without limits it is the same for every request. */
  function callerOf(key: ClientKey, limits: Limits): Caller {
    const isOwn = limits === key.response_limits;
    const caller = (isOwn && callers.get(key)) || toCaller(key, rules, limits);
    if (isOwn) callers.set(key, caller);
    return caller;
  }

  /** Rejects, or says what the key is admitted for. */
  async function enter(found: FoundClientKey, { request, scope, about }: Asked): Promise<Entered> {
    const { key } = found;
    about.onKey?.(key);
    checkScope(key, scope);
    budgets.note(found);
    const spends = isSpending(about.route ?? toAction(request));
    const end = (reason: Failure): void => cutClient(request.socket, reason);
    const release = spends ? await places.take(key, end) : () => {};
    try {
      const limits = await count(booking, { key, about, spends, requests: 1 });
      uses.note(key);
      const countMore: Admitted["countMore"] = async (requests) =>
        void (await count(booking, { key, about, spends, requests }));
      return { caller: callerOf(key, limits), countMore, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  return {
    async admit(request, scope, about = {}) {
      let found: FoundClientKey | undefined;
      try {
        meet(rules, request, about);
        if (scope !== null && parts.callerOf) {
          const entered = await enterOwn(parts.callerOf, request, scope, rules);
          return toOwnAdmitted(audit, request, entered);
        }
        if (scope !== null && rules.auth) found = await ring.find(readToken(request));
        const { caller, countMore, release } = found
          ? await enter(found, { request, scope, about })
          : enterKeyless(rules, about);
        const done: Admitted["done"] = (outcome) => {
          release();
          audit.write({ request, key: found?.key, tenant: caller.tenant }, outcome);
        };
        const rights = toRights({ ring, clock }, found, { request, scope });
        return { caller, countMore, ...rights, done };
      } catch (thrown) {
        audit.refuse(toRefused(request, found?.key), about, toFailure(thrown));
        throw thrown;
      }
    },
    budgets,
    enterPlace: async (id) => await places.tryTake({ id, limits: await budgets.limitsOf(id) }),
    quotaOf: createQuotas({ shelf, clock, usual: () => rules.storageBytes }),
    configure(changed) {
      rules = toRules(changed);
      callers = new WeakMap();
    },
  };
}

function toRights(
  parts: Parameters<typeof createRecheck>[0],
  found: FoundClientKey | undefined,
  { request, scope }: Pick<Asked, "request" | "scope">,
): Pick<Admitted, "scopes" | "untilRefused"> {
  if (!found) return { scopes: KEYLESS_SCOPES };
  return { scopes: found.key.scopes, untilRefused: createRecheck(parts, request, scope) };
}

/** Nothing is counted for a caller that the program names: the program may count itself. */
function toOwnAdmitted(
  audit: RequestAudit,
  request: IncomingMessage,
  { caller, scopes }: EnteredCaller,
): Admitted {
  const { tenant } = caller;
  return {
    caller,
    scopes,
    countMore: async () => {},
    done: (outcome) => audit.write({ request, key: undefined, tenant }, outcome),
  };
}

/**
 * A process learns of a revoked key within two seconds, and so does a stream that is read with it.
 */
const RECHECK_MS = 2000;

function createRecheck(
  { ring, clock }: { readonly ring: KeyRing; readonly clock: Clock },
  request: IncomingMessage,
  scope: Scope | null,
): Admitted["untilRefused"] {
  const token = readToken(request);
  return async (signal) => {
    while (!signal.aborted) {
      try {
        await clock.sleep(RECHECK_MS, signal);
        checkScope((await ring.find(token)).key, scope);
      } catch (thrown) {
        return signal.aborted ? undefined : toFailure(thrown);
      }
    }
    return undefined;
  };
}

/** The owner of a refused request may not be known yet. */
function toRefused(request: IncomingMessage, key: ClientKey | undefined): Who {
  return { request, key, tenant: key?.tenant ?? "" };
}

interface Asked {
  readonly request: IncomingMessage;
  readonly scope: Scope | null;
  readonly about: About;
}

interface Booking extends Pick<GuardParts, "spending" | "clock" | "onUse"> {
  readonly budgets: Pick<Budgets, "countRequests">;
}

/** Books requests, or rejects. Resolves with the most that one response may spend. */
async function count(
  { spending, clock, budgets, onUse }: Booking,
  { key, about, spends, requests }: Counted,
): Promise<Limits> {
  const asked = { spends, requests, nowMs: clock.now() };
  const { headers, refusal, limits } = await takeAllowance(spending, key, asked);
  setHeaders(about, headers);
  if (refusal) throw refusal;
  if (!isCounted(key.limits)) budgets.countRequests(key.id, requests);
  onUse?.({ keyId: key.id, tenant: key.tenant }, { requests });
  return limits;
}

interface Counted {
  readonly key: ClientKey;
  readonly about: About;
  readonly spends: boolean;
  readonly requests: number;
}

interface Entered extends Pick<Admitted, "caller" | "countMore"> {
  readonly release: () => void;
}

interface Rules extends GuardSettings {
  readonly checkHost: CheckHost;
  readonly pages: Origins;
}

function toRules(settings: GuardSettings): Rules {
  const pages = createOrigins(settings.origins);
  return { ...settings, checkHost: createHostCheck(settings), pages };
}

/** Checks where a request comes from, before who sends it. */
function meet({ checkHost, pages }: Rules, request: IncomingMessage, about: About): void {
  const { method = "GET", headers } = request;
  checkOneHost(request.rawHeaders);
  checkHost(headers.host);
  pages.check(headers, method === "GET" && about.route?.startsWith("GET /console"));
  setHeaders(about, pages.toHeaders(method, headers));
}

function setHeaders({ answer }: About, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) answer?.setHeader(name, headers[name] ?? "");
}

function checkScope({ scopes }: ClientKey, scope: Scope | null): void {
  if (scope === null || scopes.includes(scope)) return;
  throw new Failure("forbidden", `This key lacks the scope \`${scope}\`.`);
}

/**
 * Every request may cost something, except one that ends or steers a response: its cost belongs to that response.
 * Viewing, steering and ending a run must not wait until it has ended. The same holds for `/mcp`, whose calls begin
 * background responses: those take the key's places and money themselves.
 */
function isSpending(route: string): boolean {
  return (
    route.startsWith("POST ") &&
    !/\/(cancel|steer|answer)$|^POST \/(v1\/(console|admin)\/|mcp$)/.test(route)
  );
}

function toCaller(key: ClientKey, rules: Rules, limits: Limits): Caller {
  const { catalogue } = key;
  const mayUse = (tool: string): boolean =>
    catalogue === null || catalogue.some((glob) => matchesGlob(tool, glob));
  return {
    tenant: key.tenant,
    keyId: key.id,
    models: key.models ?? undefined,
    catalogue: rules.catalogue.filter(mayUse),
    kinds: catalogue ?? undefined,
    options: toOptions(key),
    concurrent: key.limits.concurrent,
    limits: toLeast(limits, rules.limits ?? NO_LIMITS),
  };
}

/** A server that asks for no key shows what runs did, and lets no client change them. */
const KEYLESS_SCOPES: readonly Scope[] = ["responses", "files", "models", "metrics", "runs"];

/** Rejects a request that needs a key on a server that asks for none. */
function enterKeyless(rules: Rules, { needsKey }: About): Entered {
  if (!rules.auth && needsKey) throw toKeyless();
  return { caller: toAnybody(rules), async countMore() {}, release() {} };
}

function toKeyless(): Failure {
  const message =
    "This server asks for no key (`server.auth` is off), so this address is closed. Start it with keys.";
  return new Failure("forbidden", message);
}

/**
 * Every key may choose how words are sampled, as with `temperature`, unless it has no options at all.
 */
function toOptions({ options = null }: ClientKey): readonly string[] {
  if (options === null) return SAMPLING_FIELDS;
  return options.length === 0 ? [] : [...SAMPLING_FIELDS, ...options];
}

function toAnybody({ catalogue, limits = NO_LIMITS }: Rules): Caller {
  return { tenant: DEFAULT_TENANT, keyId: null, catalogue, limits };
}
