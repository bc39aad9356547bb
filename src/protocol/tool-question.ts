/**
 * The event that says that a call waits for a person. Its answer is the call's `tool_decision`, which names
 * the same question; until then it is open, and whoever may write the record can answer it.
 */

/** The subagent whose call it is. Its label and task are a model's words: to be shown escaped. */
export interface Asker {
  readonly label: string;
  /** The agent it is, by the name of its file; null for one that is none. */
  readonly agent: string | null;
  /** Its place in the tree: `/root/review-1.0`. */
  readonly path: string;
  /** 1 for a child of the run that a person started. */
  readonly depth: number;
  /** What it was asked to do, cut short. */
  readonly task: string;
}

/** Stands between the call's `tool_start` and its `tool_decision`. A run that is taken over asks again. */
export interface ToolQuestion {
  readonly type: "tool_question";
  /** The name of this question in its run: answers are left under it. */
  readonly question: string;
  readonly call_id: string;
  readonly name: string;
  /** As the model wrote them, without secrets; the middle of long ones is left out. */
  readonly arguments: string;
  /** What the call does to the world: `write`, `execute`. */
  readonly effect: string;
  /** Why it is asked. */
  readonly reason: string;
  /** What would hold the commands it runs. */
  readonly sandbox: string;
  /** The rules that `always` stands for: `shell(git log *)`. None where it is for the very same call. */
  readonly always: readonly string[];
  /** Who asks; null for the run that a person started. */
  readonly asker: Asker | null;
  /** When it is denied without an answer; null where it waits as long as its run does. */
  readonly until_ms: number | null;
  readonly at_ms: number;
}
