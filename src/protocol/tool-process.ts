/** A program that a tool call starts, as the log names it. */

/**
 * A call is about to start a program, which waits until this event is written. A process that resumes the
 * run first ends what is left of that program.
 */
export interface ToolProcess extends ProcessMark {
  readonly type: "tool_process";
  readonly call_id: string;
}

/** How a started process is found again, also by another process. Unknown parts are empty. */
export interface ProcessMark {
  readonly pid: number;
  /** The process's start, in ticks since the system started. */
  readonly started: string;
  /** The start of the system and the PID namespace in which `pid` is valid. */
  readonly boot: string;
  readonly pid_namespace: string;
  /** A mark in its environment, and in that of the processes it starts. */
  readonly mark: string;
}
