/**
 * Types of the answers of the addresses for administrators. The routes send these objects, and the console reads
 * them.
 */

import type { ModelFacts } from "../runtime/about-views.ts";
import type { LaneState, WorkerState } from "../store/record-state.ts";

/** A key without its secret. `Key` of the guard says what each field means. */
export interface KeyView {
  readonly object: "key";
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** True if the key is a session of the console. */
  readonly session?: true | undefined;
  readonly scopes: readonly string[];
  readonly models: readonly string[] | null;
  readonly catalogue: readonly string[] | null;
  readonly options?: readonly string[] | null | undefined;
  readonly limits: Readonly<Record<string, number | undefined>>;
  readonly response_limits: Readonly<Record<string, number | null>>;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  readonly last_used_ms: number | null;
  readonly state: "active" | "expired" | "revoked";
  /** The time until which the secret from before the last rotation works; null if it does not. */
  readonly old_secret_until_ms: number | null;
}

export interface ListedKeyView extends KeyView {
  readonly used_today: KeyUse;
  readonly used: KeyUse;
}

export interface KeyUse {
  readonly requests: number;
  readonly tokens: number;
  readonly usd: number;
}

/** A key with its secret. No other answer has the secret. */
export interface NewKeyView extends KeyView {
  readonly token: string;
}

/**
 * A change of a key. A field that is left out stays as it is; null removes a limit or a restriction.
 */
export interface KeyChangeBody {
  readonly scopes?: readonly string[];
  readonly models?: readonly string[] | null;
  readonly tools?: readonly string[] | null;
  readonly limits?: Readonly<Record<string, number | null>>;
  readonly response_limits?: Readonly<Record<string, number | null>>;
  readonly expires_in_s?: number | null;
}

export interface TenantView {
  readonly object: "tenant";
  readonly id: string;
  /** Number of active keys. Sessions of the console are not counted. */
  readonly keys: number;
  readonly bytes: number;
  /** The most bytes that its keys let it keep; null if no key says. */
  readonly storage_bytes: number | null;
  /** Stored things by kind. At most 10,000 of each kind are counted. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface ServedModelsView {
  readonly object: "models";
  readonly names: readonly NamedModelView[];
  readonly deployments: readonly DeploymentView[];
  readonly vendors: readonly VendorView[];
}

export interface NamedModelView {
  readonly name: string;
  readonly deployments: readonly {
    readonly model: string;
    readonly url: string | null;
    readonly weight: number;
    readonly fallback: boolean;
    readonly facts: ModelFacts | null;
  }[];
}

/** A deployment, as all processes of the server see it together. */
export interface DeploymentView {
  readonly name: string;
  readonly workers: number;
  /** Number of processes that ask it as usual. */
  readonly ready?: number;
  readonly failures?: number;
  readonly cooldown_seconds?: number;
  /** The last failure, if the process that answers saw it. */
  readonly reason: string | null;
}

export interface VendorView {
  readonly name: string;
  readonly workers: number;
  /**
   * Model calls that may be in flight at once. The next fields: those in flight, and those that wait.
   */
  readonly limit?: number;
  readonly in_flight?: number;
  readonly waiting?: number;
  /** Seconds for which the vendor asks all clients to wait. */
  readonly paused_seconds?: number;
}

export interface SystemView {
  readonly object: "system";
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  readonly uptime_seconds: number;
  readonly memory: { readonly rss_bytes: number; readonly heap_bytes: number };
  /** All processes that work on the record, those of the command line included. */
  readonly workers: readonly WorkerState[];
  readonly queues: readonly QueueView[];
}

export interface QueueView {
  readonly name: string;
  /** Null if unlimited. */
  readonly at_once: number | null;
  readonly running: number;
  readonly waiting: number;
  readonly lanes: readonly LaneState[];
}

export interface CheckView {
  readonly name: string;
  readonly status: "ok" | "gap" | "broken";
  readonly found: string;
  readonly advice?: string | undefined;
}

export interface OwnToolsView {
  readonly object: "list";
  readonly data: readonly { readonly name: string; readonly description: string | null }[];
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly model: string | null;
  }[];
}
