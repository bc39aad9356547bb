/**
 * Takes a load and prints what it needs on Postgres, which limit comes next, and what to do then.
 *
 *     npm run bench:scale-model -- --responses-per-second 200 --streamed 0.8 --tokens 400
 *     npm run bench:scale-model -- --check [--points FILE]
 *
 * `--check` compares the model with measured points: the paced ones that it is fitted to, or all those of a new run of
 * `npm run bench:stored -- --full --only=sizing --stores=postgres --json=FILE`. `--points FILE` without `--check`
 * makes the model from the points of your own machine.
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { toHeadroom } from "./scale-model/limits.ts";
import {
  ASSUMED,
  type Costs,
  comparePoints,
  isFitted,
  type ModelLoad,
  toCosts,
  toNeeds,
} from "./scale-model/model.ts";
import { POINTS } from "./scale-model/points.ts";
import type { Point } from "./stored/sizing.ts";

/** How far a measured figure may be from the model: a busy machine doubles the cost in CPU. */
const TOLERANCE = 2;

const { values } = parseArgs({
  options: {
    "responses-per-second": { type: "string", default: "50" },
    streamed: { type: "string", default: "0.8" },
    tokens: { type: "string", default: "400" },
    "tokens-per-second": { type: "string", default: "50" },
    peak: { type: "string", default: "3" },
    "keep-days": { type: "string", default: "30" },
    points: { type: "string" },
    check: { type: "boolean", default: false },
  },
});

const given = values.points === undefined ? undefined : readPoints(values.points);
if (values.check) check(toCosts(POINTS), given ?? POINTS.filter(isFitted));
else show(toCosts(given ?? POINTS), readLoad());

function readPoints(file: string): Point[] {
  const all = JSON.parse(readFileSync(file, "utf8")) as Point[];
  return all.filter(({ store }) => store === "postgres");
}

function readLoad(): ModelLoad {
  return {
    responsesPerSecond: readNumber("responses-per-second"),
    streamed: readNumber("streamed", 1),
    tokens: readNumber("tokens"),
    tokensPerSecond: readNumber("tokens-per-second"),
    peak: readNumber("peak"),
    keepDays: readNumber("keep-days"),
  };
}

type NumberFlag = Exclude<keyof typeof values, "points" | "check">;

function readNumber(flag: NumberFlag, most = Number.POSITIVE_INFINITY): number {
  const number = Number(values[flag]);
  if (number >= 0 && number <= most) return number;
  console.error(`\`--${flag}\` is \`${values[flag]}\`. Write a number.`);
  process.exit(2);
}

function show(costs: Costs, load: ModelLoad): void {
  const needs = toNeeds(costs, load);
  const percent = Math.round(load.streamed * 100);
  console.log(
    `${load.responsesPerSecond} responses a second at the peak, ${percent}% streamed, ${load.tokens} tokens each\n`,
  );
  const rows: readonly (readonly [string, string])[] = [
    ["cores of all servers, busy", needs.serverCores.toFixed(1)],
    [`replicas of one core (${ASSUMED.spareReplicas} to spare)`, String(needs.replicas)],
    ["memory of all servers", `${(needs.memoryBytes / 1e9).toFixed(1)} GB`],
    ["streams that are open", needs.openStreams.toFixed(0)],
    ["cores of the database", needs.databaseCores.toFixed(1)],
    ["connections to the database", String(needs.connections)],
    ["transactions a second", needs.transactionsPerSecond.toFixed(0)],
    ["log of the database", `${(needs.walBytesPerSecond / 1e6).toFixed(1)} MB a second`],
    ["log of the database", `${(needs.walBytesPerDay / 1e9).toFixed(1)} GB a day`],
    ["disk", `${(needs.keptBytesPerDay / 1e9).toFixed(1)} GB a day`],
    [`disk after ${load.keepDays} days`, `${(needs.keptBytes / 1e12).toFixed(2)} TB`],
  ];
  for (const [name, value] of rows) console.log(`  ${name.padEnd(40)} ${value}`);
  console.log("\nWhat comes next, the first limit first:\n");
  for (const { limit, used, reachedAt } of toHeadroom(costs, load)) {
    const reached = reachedAt.toPrecision(2);
    const figures = `${Number(used.toPrecision(2))} of ${limit.most} ${limit.unit}`;
    const at = `reached at ${Number(reached)} responses a second`;
    console.log(`  ${limit.name.padEnd(24)} ${figures.padEnd(28)} ${at}`);
    console.log(`    then: ${limit.advice}`);
  }
  console.log("\nInputs and answers of many kilobytes come on top; they were not measured.");
}

function check(costs: Costs, points: readonly Point[]): void {
  let isWithin = true;
  for (const { point, counted, measured, model } of comparePoints(costs, points)) {
    const ratio = measured / model;
    const holds = ratio <= TOLERANCE && ratio >= 1 / TOLERANCE;
    isWithin &&= holds;
    const figures = `${measured.toFixed(2).padStart(12)} measured ${model.toFixed(2).padStart(12)} model`;
    const verdict = holds ? "holds" : "DIFFERS";
    console.log(
      `${`${point}: ${counted}`.padEnd(40)} ${figures}  ${ratio.toFixed(2)} times: ${verdict}`,
    );
  }
  if (!isWithin) process.exitCode = 1;
}
