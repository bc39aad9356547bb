import { type ChildAccount, createAccount } from "../../src/agent/account.ts";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";

/** The account of a child that may spend this much, of a parent without limits. */
export function openChildAccount(limits: Limits): ChildAccount {
  return createAccount(NO_LIMITS).family.adopt("run_1/child", { callKey: "call", ceiling: limits });
}
