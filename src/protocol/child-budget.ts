import type { JsonObject } from "../base/json.ts";

/**
 * New limits of a child that may run in any process and asked for more budget: what it may spend from now
 * on, in all.
 */
export interface ChildBudget {
  readonly type: "child_budget";
  readonly child_id: string;
  /** Limits by kind; null if its parent does not limit it. */
  readonly limits: JsonObject;
  readonly at_ms: number;
}
