/**
 * The span that code runs under, where a server has one for each request: whatever run begins inside
 * goes on in its trace. Costs something at every promise, so it is entered only where spans are sent.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { TraceContext } from "./trace-context.ts";

const scope = new AsyncLocalStorage<TraceContext>();

export function runInTrace<Out>(context: TraceContext, work: () => Out): Out {
  return scope.run(context, work);
}

export function currentTrace(): TraceContext | undefined {
  return scope.getStore();
}
