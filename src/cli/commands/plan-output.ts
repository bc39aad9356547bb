/** Prints a plan for `offshoot run --plan`: text for a person, JSON for a program. */

import { KINDS, toFigure } from "../../agent/limits.ts";
import { clip, plural, toRoundUsd } from "../../base/text.ts";
import type { Plan, PlannedRun } from "../../delegation/plan.ts";
import type { CostRange } from "../../delegation/plan-cost.ts";
import type { PlannedShare } from "../../delegation/plan-shares.ts";
import type { Io } from "../io.ts";
import { cleanForTerminal } from "../terminal.ts";

/** Resolves with the exit code 0, because a plan was all that was requested. */
export async function printPlan(
  plan: Plan,
  { stdout, isJson }: Pick<Io, "stdout"> & { readonly isJson: boolean },
): Promise<number> {
  const text = isJson ? `${JSON.stringify(plan, null, 2)}\n` : cleanForTerminal(renderPlan(plan));
  await stdout.write(text);
  return 0;
}

export function renderPlan(plan: Plan): string {
  const { run, subagent, agents } = plan;
  const blocks = [
    ["Nothing was sent. This is what the run would be:"],
    ["run", ...renderRun(run)],
    ...(subagent ? [[`subagent (${renderReach(plan)})`, ...renderRun(subagent)]] : []),
    ...agents.map((agent) => [
      `agent ${agent.name}: ${clip(agent.description ?? "", 100)}`,
      ...renderRun(agent),
    ]),
    [
      ...(subagent ? [] : ["It cannot delegate."]),
      ...(subagent && isShared(plan.run) ? [SHARES] : []),
      `Total cost  ${renderCost(plan.total_cost_usd)}`,
      `Approval    ${renderApproval(plan)}`,
    ],
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const SHARES =
  "Shares      subagents of one turn share equally what the run's first call leaves; one that needs more gets it while some is left";

/** True if the run has a budget that its children share. */
function isShared({ limits }: PlannedRun): boolean {
  return Object.values(limits).some((limit) => limit !== null);
}

function renderReach({ max_depth, max_children }: Plan): string {
  const count = max_children === null ? "any number" : `at most ${max_children}`;
  return `${count}, ${plural(max_depth, "level")} deep`;
}

function renderRun(run: PlannedRun): string[] {
  const rows: readonly (readonly [string, string])[] = [
    ...(run.problem === null ? [] : [["cannot run", run.problem] as const]),
    ["model", renderModel(run)],
    ["tools", run.tools.length > 0 ? run.tools.join(", ") : "none"],
    ["reads", renderGlobs(run.reads, run.root)],
    ["writes", renderGlobs(run.writes, run.root)],
    ["hosts", renderGlobs(run.hosts, "any")],
    ["sandbox", run.sandbox],
    ["limits", renderLimits(run)],
    ...run.shares.flatMap((share) => toShareRow(share, run)),
    ["inherits", `${toFigure("tokens", run.inherited_tokens)} of its parent's conversation`],
    ["sends first", `about ${toFigure("tokens", run.first_request_tokens)}`],
    ["cost", renderCost(run.cost_usd)],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(13)}${value}`);
}

/**
 * A run without children has its budget in its limits. Dollars are not shared by subagents that cost nothing.
 */
function toShareRow(
  { children, at_once, limits }: PlannedShare,
  { cost_usd }: PlannedRun,
): [string, string][] {
  const name = `each of ${children}`;
  if (at_once === 0) return [[name, "nothing: too little for a first call"]];
  if (children === 1) return [];
  const shared = KINDS.flatMap((kind) => {
    const limit = limits[kind];
    return limit === null || (kind === "usd" && cost_usd.most === 0) ? [] : [toFigure(kind, limit)];
  });
  if (shared.length === 0) return [];
  const waits =
    at_once < children ? `: ${at_once} at a time, the others wait for what these leave` : "";
  return [[name, `${shared.join(", ")}, if ${children} start in one turn${waits}`]];
}

/** A reason that is written for a person already names the model. */
function renderModel({ model, model_reason }: PlannedRun): string {
  return model_reason.startsWith(model) ? model_reason : `${model} (${model_reason})`;
}

function renderGlobs(layers: readonly (readonly string[])[], all: string): string {
  if (layers.length === 0) return all;
  return layers.map((globs) => (globs.length > 0 ? globs.join(", ") : "none")).join(" and ");
}

function renderLimits({ max_turns, limits, timeout_s }: PlannedRun): string {
  const { tokens, usd, tool_calls, turns, children } = limits;
  const own = turns === null ? max_turns : Math.min(turns, max_turns);
  return [
    plural(own, "turn"),
    ...(tokens === null ? [] : [toFigure("tokens", tokens)]),
    ...(usd === null ? [] : [toRoundUsd(usd)]),
    ...(tool_calls === null ? [] : [plural(tool_calls, "tool call")]),
    ...(children === null ? [] : [plural(children, "subagent")]),
    ...(timeout_s === null ? [] : [`${timeout_s} s`]),
  ].join(", ");
}

const UNKNOWN = {
  price: "unknown: the price of a model is not known",
  limit: "no upper limit (set `--max-cost` or `--max-total-tokens`)",
} as const;

function renderCost({ least, most, unknown }: CostRange): string {
  if (most === 0) return "free";
  const low = least === null ? "" : `${toRoundUsd(least)} to `;
  if (most !== null)
    return low === "" ? `at most ${toRoundUsd(most)}` : `${low}${toRoundUsd(most)}`;
  const why = UNKNOWN[unknown ?? "limit"];
  return least === null || unknown === "price" ? why : `from ${toRoundUsd(least)}, ${why}`;
}

function renderApproval({ approve, asks_above_usd }: Plan): string {
  if (asks_above_usd === null) return `${approve}, for tool calls; delegation is not asked about`;
  return `${approve}, for tool calls and for delegation that may cost more than ${toRoundUsd(asks_above_usd)}`;
}
