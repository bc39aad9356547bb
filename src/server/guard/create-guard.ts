/**
 * The guard of a server. In this order, the cheap and the public first: does it answer to this host and
 * this page, whose key is it, may the key do this, has it not too much on its way, has it something left.
 *
 * Refusals are written down here, everything else when its answer was sent.
 */

import type { IncomingMessage } from "node:http";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import { SAMPLING_FIELDS } from "../../providers/carried-fields.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import type { Audit } from "../../store/audit.ts";
import { countInBook, createPlaceBook } from "../../store/memory/place-book.ts";
import type { PlaceCount } from "../../store/places.ts";
import type { QuotaOf } from "../../store/quota-shelf.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";
import { cutClient } from "../client-signal.ts";
import type { About, Admitted, Guard } from "../guard.ts";
import type { Scope } from "../route.ts";
import { takeAllowance, toLeast } from "./allowance.ts";
import { type Budgets, createBudgets, type OnUse } from "./budgets.ts";
import { readToken } from "./credentials.ts";
import { type CheckHost, checkOneHost, createHostCheck } from "./hosts.ts";
import { isCounted, type Key } from "./key.ts";
import { createKeyRing, type FoundKey, type KeyRing } from "./key-ring.ts";
import { createOrigins, type Origins } from "./origins.ts";
import { type CallerOf, type EnteredCaller, enterOwn } from "./own-callers.ts";
import { createPlaces, type EnterPlace } from "./places.ts";
import { createQuotas } from "./quotas.ts";
import { createRequestAudit, type RequestAudit, toAction, type Who } from "./request-audit.ts";
import { createUses } from "./uses.ts";

export interface GuardParts {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly settings: GuardSettings;
  /** Counts requests at once for several processes; for this one alone when left out. */
  readonly places?: PlaceCount | undefined;
  /** Told what each key uses, as it is booked. */
  readonly onUse?: OnUse | undefined;
  /** Says who asks in place of keys, for a program that embeds the server. */
  readonly callerOf?: CallerOf | undefined;
}

export interface GuardSettings {
  /** Whether a key is asked for, also of callers on this machine. Without it all are one tenant. */
  readonly auth: boolean;
  /** Where the server listens. */
  readonly host: string;
  /** Further names it answers to. */
  readonly hosts: readonly string[];
  /** Origins whose pages may use it. */
  readonly origins: readonly string[];
  /** The server's own tools that clients may use, by name. */
  readonly catalogue: readonly string[];
  /** One key that is no row: `OFFSHOOT_SERVER_KEY`. It may do everything. */
  readonly fixedToken?: string | undefined;
  /** What one response may spend, whoever asks. */
  readonly limits?: Limits | undefined;
  /** How many bytes a tenant may keep whose keys do not say. */
  readonly storageBytes?: number | undefined;
}

export interface ConfigurableGuard extends Guard {
  /** From the next request on. What is on its way goes on. */
  configure(settings: GuardSettings): void;
  /** What keys may spend: for runs, which end without their request, or in another process. */
  readonly budgets: Omit<Budgets, "note" | "countRequests">;
  /** For what runs without a request. */
  readonly enterPlace: EnterPlace;
  readonly quotaOf: QuotaOf;
}

export function createGuard({ settings, ...parts }: GuardParts): ConfigurableGuard {
  const { shelf, clock } = parts;
  let rules = toRules(settings);
  let callers = new WeakMap<Key, Caller>();
  const ring = createKeyRing({ shelf, clock, fixedToken: () => rules.fixedToken });
  const budgets = createBudgets(parts);
  const places = createPlaces(parts.places ?? countInBook(createPlaceBook(), undefined));
  const uses = createUses(parts);
  const audit = createRequestAudit(parts);
  const booking = { ...parts, budgets };

  /** Of a key of which nothing is counted it is the same for every request. */
  function callerOf(key: Key, limits: Limits): Caller {
    const isOwn = limits === key.response_limits;
    const caller = (isOwn && callers.get(key)) || toCaller(key, rules, limits);
    if (isOwn) callers.set(key, caller);
    return caller;
  }

  /** What a key is let in for. */
  async function enter(found: FoundKey, { request, scope, about }: Asked): Promise<Entered> {
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
      let found: FoundKey | undefined;
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
  found: FoundKey | undefined,
  { request, scope }: Pick<Asked, "request" | "scope">,
): Pick<Admitted, "scopes" | "untilRefused"> {
  if (!found) return { scopes: KEYLESS_SCOPES };
  return { scopes: found.key.scopes, untilRefused: createRecheck(parts, request, scope) };
}

/** Nothing is counted of a caller that the program knows: the program may do so itself. */
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

/** A process hears of a revoked key within two seconds; so does who reads a stream with it. */
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

/** Whose it is may not be known yet. */
function toRefused(request: IncomingMessage, key: Key | undefined): Who {
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

/** Books requests, or rejects; resolves with what one response may spend. */
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
  readonly key: Key;
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

/** Where a request comes from, before who sends it. */
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

function checkScope({ scopes }: Key, scope: Scope | null): void {
  if (scope === null || scopes.includes(scope)) return;
  throw new Failure("forbidden", `This key lacks the scope \`${scope}\`.`);
}

/**
 * All that is asked for may cost something, except for what ends it, or tells it something: what that costs is
 * the response's own. Looking at what runs, steering and ending it must not wait until it has ended. So it is with
 * `/mcp`, whose calls begin background responses: those take the key's places and money themselves.
 */
function isSpending(route: string): boolean {
  return (
    route.startsWith("POST ") &&
    !/\/(cancel|steer|answer)$|^POST \/(v1\/(console|admin)\/|mcp$)/.test(route)
  );
}

function toCaller(key: Key, rules: Rules, limits: Limits): Caller {
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

/** A server that asks for no key tells what runs did, and lets nobody change them. */
const KEYLESS_SCOPES: readonly Scope[] = ["responses", "files", "models", "metrics", "runs"];

/** Rejects what needs a key although none is asked for. */
function enterKeyless(rules: Rules, { needsKey }: About): Entered {
  if (!rules.auth && needsKey) throw toKeyless();
  return { caller: toAnybody(rules), async countMore() {}, release() {} };
}

function toKeyless(): Failure {
  const message =
    "This server asks for no key (`server.auth` is off), so it lets nobody use this address. Start it with keys.";
  return new Failure("forbidden", message);
}

/** How words are chosen is everybody's, as `temperature` is, unless a key has none at all. */
function toOptions({ options = null }: Key): readonly string[] {
  if (options === null) return SAMPLING_FIELDS;
  return options.length === 0 ? [] : [...SAMPLING_FIELDS, ...options];
}

function toAnybody({ catalogue, limits = NO_LIMITS }: Rules): Caller {
  return { tenant: DEFAULT_TENANT, keyId: null, catalogue, limits };
}
