/** The tools of this server that a response may call, opened if the request asks for them, and the gate of its calls. */

import type { Account } from "../../agent/account.ts";
import type { AgentTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { createDelegatingTools } from "../../delegation/delegating-tools.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import { DELEGATING_TOOLS, isDelegating } from "../../delegation/tools/names.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Gate } from "../../tools/gate/gate.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import type { Bridge } from "../bridge/bridge.ts";
import { findUnasked } from "../kinds/mcp.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import type { ResponsesParts } from "./responses-parts.ts";

/** A response that begins. */
interface Asked {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly wish: ResponseWish;
}

interface Catalogue {
  readonly tools: readonly GateTool[];
  readonly node: DelegationNode | undefined;
}

/** This server's own tools, opened if a request asks for them. */
export async function openCatalogue(
  parts: Pick<ResponsesParts, "toolbox" | "openNode">,
  { context, task, wish }: Asked,
  account: Account,
): Promise<Catalogue> {
  const isAsked = wish.tools.some(({ type }) => type === "mcp") || wish.multi_agent !== null;
  if (!isAsked || wish.catalogue.length === 0) return { tools: [], node: undefined };
  const tools = await parts.toolbox.pick(wish.catalogue.filter((name) => !isDelegating(name)));
  // Only tools that the request offers, without those that the client must approve first.
  const unasked = findUnasked(wish.tools, tools);
  const delegating = DELEGATING_TOOLS.filter((name) => wish.catalogue.includes(name));
  const free = findUnasked(
    wish.tools,
    delegating.map((name) => ({ spec: { name }, readOnly: true })),
  );
  const names = [...unasked, ...free].map(({ spec }) => spec.name);
  const granted: AgentTask = { ...task, tools: names };
  const node = parts.openNode({
    context,
    task: granted,
    account,
    tools: unasked,
    children: "agents",
  });
  return { tools: [...tools, ...createDelegatingTools(node, wish.catalogue)], node };
}

/** The tools for server calls. A response without any needs no folder and no sandbox. */
export async function openResponseGate(
  { openGate }: Pick<ResponsesParts, "openGate">,
  run: Pick<Asked, "task" | "context">,
  bridge: Bridge,
): Promise<Gate> {
  const tools = bridge.offers.flatMap((offer) => {
    const run = offer.run ?? offer.approved;
    return run ? [{ ...run.tool, spec: { ...run.tool.spec, name: bridge.nameOf(offer) } }] : [];
  });
  return tools.length === 0 ? NO_GATE : await openGate(run, tools);
}

export const NO_GATE: Gate = {
  tools: [],
  parallelCalls: 1,
  isReadOnly: () => true,
  mayWait: () => false,
  countChildren: () => 0,
  call: () => Promise.reject(new Failure("internal", "This response makes no calls.")),
  endLeftovers: async () => [],
  close: async () => {},
};
