/** Events of children, as logs and traces report them. Names and fields are those of the contract. */

export type SubagentEvent =
  | {
      readonly event: "spawn";
      readonly label: string;
      readonly depth: number;
      readonly max_turns: number;
      readonly allowed_tools: readonly string[];
    }
  | {
      readonly event: "complete";
      readonly label: string;
      readonly depth: number;
      readonly turns_used: number;
      readonly tokens_consumed: number;
      readonly status: "complete" | "incomplete";
    }
  | {
      readonly event: "error";
      readonly label: string;
      readonly depth: number;
      readonly error: string;
    }
  | {
      readonly event: "max_turns_exceeded";
      readonly label: string;
      readonly depth: number;
      readonly max_turns: number;
    }
  | {
      readonly event: "truncation";
      readonly label: string;
      readonly original_size: number;
      readonly truncated_size: number;
    }
  | {
      readonly event: "depth_limit";
      readonly label: string;
      readonly current_depth: number;
      readonly max_depth: number;
    };

/** The text for a person after the fields, and the log level. */
export const SUBAGENT_EVENTS: Readonly<
  Record<
    SubagentEvent["event"],
    { readonly level: "debug" | "info" | "warn" | "error"; readonly message: string }
  >
> = {
  spawn: { level: "info", message: "Spawning subagent" },
  complete: { level: "info", message: "Subagent completed" },
  error: { level: "error", message: "Subagent execution failed" },
  max_turns_exceeded: { level: "warn", message: "Subagent exceeded max turns" },
  truncation: { level: "warn", message: "Subagent output truncated" },
  depth_limit: { level: "info", message: "Subagent recursion depth limit enforced" },
};
