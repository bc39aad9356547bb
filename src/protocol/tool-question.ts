/**
 * The event for a call that waits for a person. Its answer is the call's `tool_decision`, which names the
 * same question. Until then it is open, and every process that may write the record can answer it.
 */

/** The subagent that made the call. Its label and task were written by a model: show them escaped. */
export interface Asker {
  readonly label: string;
  /** The name of its agent file; null if it has none. */
  readonly agent: string | null;
  /** The run's position in the tree: `/root/review-1.0`. */
  readonly path: string;
  /** 1 for a child of the run that a person started. */
  readonly depth: number;
  /** The beginning of its task. */
  readonly task: string;
}

/** Written between the call's `tool_start` and its `tool_decision`. A run that is taken over asks again. */
export interface ToolQuestion {
  readonly type: "tool_question";
  /** The name of this question in its run: answers are stored under it. */
  readonly question: string;
  readonly call_id: string;
  readonly name: string;
  /** The arguments as the model wrote them, without secrets; the middle of long ones is left out. */
  readonly arguments: string;
  /** The effect of the call: `write`, `execute`. */
  readonly effect: string;
  /** The reason for asking. */
  readonly reason: string;
  /** The isolation of the commands that it would run. */
  readonly sandbox: string;
  /** The rules that `always` would add: `shell(git log *)`. Empty if it means exactly this call. */
  readonly always: readonly string[];
  /** The subagent that asks; null for the run that a person started. */
  readonly asker: Asker | null;
  /** When it is denied without an answer; null if it waits as long as its run does. */
  readonly until_ms: number | null;
  readonly at_ms: number;
}
