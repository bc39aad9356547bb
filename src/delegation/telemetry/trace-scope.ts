/**
 * The span that code runs under, if a server has one for each request: runs that begin inside continue its trace.
 * Costs something at every promise, so it is entered only if spans are sent.
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
