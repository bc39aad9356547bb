/** The settings for all delegation of a runtime. */

export interface DelegationSettings {
  /** How deep runs may nest; a run that a person starts has depth 0. */
  readonly maxDepth: number;
  readonly defaultMaxTurns: number;
  /** Maximum bytes of a child's output that its parent's model gets. */
  readonly outputMaxSize: number;
  readonly telemetryEnabled: boolean;
  readonly persistenceEnabled: boolean;
  readonly summary: SummaryMode;
  /** How many children of one run work at once; the others wait for a place. */
  readonly maxParallel: number;
  /** How many processes of their own children have at once; undefined for what the machine allows. */
  readonly maxProcesses: number | undefined;
  /** Where children of `subagent` run. */
  readonly executor: ExecutorName;
  /** A child that is not done by then is ended: every child has a limit. */
  readonly childTimeoutMs: number;
  /** How long a child waits for its parent's answer. */
  readonly askTimeoutMs: number;
  /** The most tokens of all subagents of a run together, at any depth; undefined for any number. */
  readonly maxTotalTokens?: number | undefined;
  /** The most time of all subagents of a run together: while several run, it passes once. */
  readonly maxTotalTimeMs?: number | undefined;
  /** Delegation that may cost more US dollars needs approval; undefined if none does. */
  readonly planThresholdUsd: number | undefined;
}

/** When a child is asked for its report in a turn of its own: if its call sets a prompt, always, never. */
export type SummaryMode = "auto" | "always" | "never";

/** `anywhere`: in any process that shares the record and has room. */
export const EXECUTORS = ["in_process", "child_process", "anywhere"] as const;
export type ExecutorName = (typeof EXECUTORS)[number];

export const DELEGATION: DelegationSettings = {
  maxDepth: 3,
  defaultMaxTurns: 10,
  outputMaxSize: 4096,
  telemetryEnabled: true,
  persistenceEnabled: false,
  summary: "auto",
  maxParallel: 100,
  maxProcesses: undefined,
  executor: "in_process",
  childTimeoutMs: 1_800_000,
  askTimeoutMs: 300_000,
  planThresholdUsd: undefined,
};
