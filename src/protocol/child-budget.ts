import type { JsonObject } from "../base/json.ts";

/** A child that may run in any process asked for more of the budget: what it may spend from here on, in all. */
export interface ChildBudget {
  readonly type: "child_budget";
  readonly child_id: string;
  /** By kind; null where its parent does not limit it. */
  readonly limits: JsonObject;
  readonly at_ms: number;
}
