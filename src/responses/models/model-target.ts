/** Which model a request means, and how to reach it, as the record of a run names both. */

import type { AgentTask } from "../../agent/task.ts";

export type ModelTarget = Pick<
  AgentTask,
  "model" | "provider" | "url" | "api_key_name" | "deployments" | "fell_back"
>;
