/**
 * What responses need of the runtime they run in: whatever names a vendor, a machine or the settings of all
 * runs. The runtime makes it (`src/runtime/open-responses.ts`), once for the engine of stored responses and
 * once for the engine of those that are not stored.
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
import type { Toolbox } from "../kinds/mcp-backing.ts";
import type { VendorMedia } from "../media/media-provider.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { OpenModel } from "../models/response-model.ts";

export interface ResponsesParts {
  /** Where the responses run; the agents of a team run there too. */
  readonly engine: Engine;
  readonly clock: Clock;
  /** Of children that run in this process, whichever body their parents have. */
  readonly accounts: OpenAccounts;
  readonly openModel: OpenModel;
  /** What the vendor of a model reads itself. */
  readonly mediaOf: (target: ModelTarget) => VendorMedia;
  /** The provider, asked for JSON in words where its API has no mode for that. */
  readonly askInWords: (provider: Provider) => Provider;
  /** The server's own tools. */
  readonly toolbox: Toolbox;
  /** The gate that the calls of a run go through, with whoever is asked about them. */
  readonly openGate: (run: GatedRun, tools: readonly Tool[]) => Promise<Gate>;
  /** A run as the one that delegates. */
  readonly openNode: (run: DelegatingRun) => DelegationNode;
}

export interface GatedRun {
  readonly context: RunContext;
  readonly task: AgentTask;
}

export interface DelegatingRun extends GatedRun {
  readonly account: Account;
  /** What its children may be given at most. */
  readonly tools: readonly Tool[];
  /** What its children are: subagents, or agents of a team, which are responses themselves. */
  readonly children: "agents" | "responses";
}
