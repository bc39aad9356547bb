/**
 * The model of a request, and how to reach it, in the form in which the record of a run names both.
 */

import type { AgentTask } from "../../agent/task.ts";

export type ModelTarget = Pick<
  AgentTask,
  "model" | "provider" | "url" | "api_key_name" | "deployments" | "fell_back"
>;
