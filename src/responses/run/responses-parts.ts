/**
 * The parts that responses need from the runtime: all that names a vendor, a machine or the settings of all runs. The
 * runtime makes them (`src/runtime/open-responses.ts`), once for the engine of stored responses and once for the
 * engine of the others.
 */

import type { Account } from "../../agent/account.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import type { OpenAccounts } from "../../delegation/executors/in-process.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Gate } from "../../tools/gate/gate.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolPicker } from "../kinds/mcp-backing.ts";
import type { VendorMedia } from "../media/media-provider.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { OpenModel } from "../models/response-model.ts";

export interface ResponsesParts {
  /** The engine of the responses; the agents of a team run on it too. */
  readonly engine: Engine;
  readonly clock: Clock;
  /** The accounts of children that run in this process, whichever body their parents have. */
  readonly accounts: OpenAccounts;
  readonly openModel: OpenModel;
  /** The media that the vendor of a model reads itself. */
  readonly mediaOf: (target: ModelTarget) => VendorMedia;
  /** Wraps a provider so that it is asked for JSON in words if its API has no mode for that. */
  readonly askInWords: (provider: Provider) => Provider;
  /** The server's own tools. */
  readonly toolbox: ToolPicker;
  /** Opens the gate for the calls of a run, with the person or client that is asked about them. */
  readonly openGate: (run: GatedRun, tools: readonly Tool[]) => Promise<Gate>;
  /** Opens a run as one that can delegate. */
  readonly openNode: (run: DelegatingRun) => DelegationNode;
}

export interface GatedRun {
  readonly context: RunContext;
  readonly task: AgentTask;
}

export interface DelegatingRun extends GatedRun {
  readonly account: Account;
  /** The tools that its children may get at most. */
  readonly tools: readonly Tool[];
  /** The kind of its children: subagents, or agents of a team, which are responses themselves. */
  readonly children: "agents" | "responses";
}
