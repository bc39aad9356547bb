/**
 * What delegation costs: one parent turn asks for N children; each child reads a file and answers; then the parent
 * answers. All our ways to delegate, `ai` and `@openai/agents`, and a plain loop of fetches, which is the least that
 * this work can take. Every program is measured from its start to its end in a process of its own, with all processes
 * that it starts.
 *
 *     npm run bench:delegation [-- --children=1,8 --rounds=1 --only=ai,offshoot --without=processes]
 *
 * Exits with 1 if a limit does not hold.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Cost, measureProgram } from "./delegation-process.ts";
import {
  type Asked,
  type Order,
  startDelegationUpstream,
  toPrompt,
} from "./delegation-upstream.ts";
import { median } from "./measure.ts";

const CHILDREN = [1, 8, 24, 100];
const ROUNDS = 3;
/** Children in processes of their own take some hundred times as long: they are compared with nothing. */
const PROCESS_ROUNDS = 1;

interface Way {
  readonly tool: string;
  /** `program` of `delegation-programs.ts`, or the command with these flags. */
  readonly program?: string;
  readonly flags?: readonly string[];
  /** Set if every child has a process of its own. */
  readonly isApart?: true;
}

const BASELINE = "plain loop of fetches";
const PARALLEL = "offshoot, parallel_subagent";
const SINGLE = "offshoot, subagent";
const COMMAND = "offshoot run, default tools, subagent";

const WAYS: Readonly<Record<string, Way>> = {
  [BASELINE]: { program: "fetch", tool: "delegate" },
  ai: { program: "ai", tool: "delegate" },
  "@openai/agents": { program: "agents", tool: "delegate" },
  [PARALLEL]: { program: "offshoot", tool: "parallel_subagent" },
  [SINGLE]: { program: "offshoot", tool: "subagent" },
  "offshoot run, parallel_subagent": {
    tool: "parallel_subagent",
    flags: ["read,parallel_subagent"],
  },
  [COMMAND]: { tool: "subagent" },
  "offshoot run, subagent, processes": { tool: "subagent", isApart: true },
  "offshoot run, parallel_subagent, processes": {
    tool: "parallel_subagent",
    flags: ["read,parallel_subagent"],
    isApart: true,
  },
  "offshoot run, call_subagent, processes": {
    tool: "call_subagent",
    flags: ["read,call_subagent"],
    isApart: true,
  },
};

const PEERS = ["ai", "@openai/agents"];

/** What must hold, at every number of children. */
const LIMITS = {
  /** For every way: a child asks twice, its parent twice in all, and every child runs. */
  requestsPerChild: 2,
  requestsOfParent: 2,
  /** Wall time and CPU of these, against each peer. */
  subjects: [PARALLEL, SINGLE],
  timesPeer: 1,
  /** These run this many children at the same moment. */
  sideBySide: { ways: [PARALLEL, SINGLE, COMMAND], children: 100 },
};

/** How far a ratio may exceed its limit: one run differs from the next. */
const SLACK = 0.15;

type Figures = Cost & Asked;

interface Bench {
  readonly upstream: ChildProcess;
  readonly url: string;
  readonly folder: string;
}

const HEAD = ["wall s", "CPU s", "peak MB", "requests", "at once", "ran", "wall ×", "CPU ×"];
const NAME_WIDTH = 46;

const readWall = ({ wallMs }: Figures): number => wallMs;
const readCpu = ({ cpuMs }: Figures): number => cpuMs;

const cli = fileURLToPath(new URL("../../dist/bin/cli.js", import.meta.url));
const programs = fileURLToPath(new URL("delegation-programs.js", import.meta.url));

if (process.argv[2] === "upstream") startDelegationUpstream();
else if (process.platform !== "linux") console.error("This bench reads /proc: it needs Linux.");
else if (!existsSync(cli)) stop("There is no bundle to measure. Run `npm run build` first.");
else await compare();

function stop(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
  mkdirSync(join(folder, "home"));
  writeFileSync(join(folder, "data.txt"), "one\ntwo\nthree\n");
  // Proxies and keys of the machine must not influence a measurement.
  const upstream = fork(fileURLToPath(import.meta.url), ["upstream"], { env: {} });
  const [url] = (await once(upstream, "message")) as [string];
  const names = Object.keys(WAYS).filter(isWanted);
  const broken: string[] = [];
  try {
    // One run of each before the measurement, which reads the files from the disk.
    for (const name of names) await measure(name, 1, { upstream, url, folder });
    for (const children of flag("children")?.split(",").map(Number) ?? CHILDREN) {
      const samples = await takeTurns(names, children, { upstream, url, folder });
      broken.push(...print(samples, children));
    }
    broken.push(...(await checkSideBySide(names, { upstream, url, folder })));
  } finally {
    upstream.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
  if (broken.length > 0) stop(`\nDoes not hold:\n${broken.join("\n")}`);
}

function flag(name: string): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((word) => word.startsWith(start))?.slice(start.length);
}

/** `--only=ai,subagent`: those whose names contain one of the words; `--without=processes`: all others. */
function isWanted(name: string): boolean {
  const isNamed = (words = ""): boolean => words.split(",").some((word) => name.includes(word));
  if (name === BASELINE) return true;
  const without = flag("without");
  return isNamed(flag("only")) && (without === undefined || !isNamed(without));
}

type Samples = ReadonlyMap<string, readonly Figures[]>;

/** In turns (A B A B …), so that a busy machine slows all of them equally. */
async function takeTurns(names: string[], children: number, bench: Bench): Promise<Samples> {
  const samples = new Map<string, Figures[]>(names.map((name) => [name, []]));
  const rounds = Number(flag("rounds") ?? ROUNDS);
  for (let round = 0; round < rounds; round++) {
    for (const [name, figures] of samples) {
      if (WAYS[name]?.isApart && round >= PROCESS_ROUNDS) continue;
      figures.push(await measure(name, children, bench));
    }
  }
  return samples;
}

async function measure(
  name: string,
  children: number,
  { upstream, url, folder }: Bench,
  order: Order = {},
): Promise<Figures> {
  await ask(upstream, order);
  const { tool, program, flags, isApart } = WAYS[name] ?? { tool: "" };
  const home = join(folder, "home");
  const executor = isApart && { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process" };
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home, ...executor };
  const command = [cli, "run", "-m", "custom/test", "--provider", "openai-chat", "--url", url];
  const chosen = flags ? ["--tools", ...flags] : [];
  const argv = program
    ? [programs, program, url, String(children), tool]
    : [...command, ...chosen, "--quiet", toPrompt(children, tool)];
  const cost = await measureProgram({ argv, cwd: folder, env });
  return { ...cost, ...((await ask(upstream, "report")) as Asked) };
}

async function ask(upstream: ChildProcess, message: Order | "report"): Promise<unknown> {
  const answered = once(upstream, "message");
  upstream.send(message);
  const [answer] = await answered;
  return answer;
}

/** Prints the table of one number of children, and returns the limits that do not hold. */
function print(samples: Samples, children: number): string[] {
  printRow(`${children} ${children === 1 ? "child" : "children"}`, HEAD);
  const baseline = samples.get(BASELINE) ?? [];
  for (const [name, figures] of samples) {
    const of = (read: (one: Figures) => number): number => median(figures.map(read));
    printRow(`  ${name}`, [
      (of(readWall) / 1000).toFixed(2),
      (of(readCpu) / 1000).toFixed(2),
      of(({ peakMb }) => peakMb).toFixed(0),
      String(of(({ requests }) => requests)),
      String(of(({ atOnce }) => atOnce)),
      `${Math.min(...figures.map(({ ran }) => ran))}/${children}`,
      toRatio(figures, baseline, readWall).toFixed(2),
      toRatio(figures, baseline, readCpu).toFixed(2),
    ]);
  }
  return [...samples].flatMap(([name, figures]) => [
    ...checkFacts(name, figures, children),
    ...checkPeers(name, samples, children),
  ]);
}

function printRow(name: string, cells: readonly string[]): void {
  console.log(name.padEnd(NAME_WIDTH) + cells.map((cell) => cell.padStart(9)).join(""));
}

/** The ratio of the two costs of each round, not of the two medians: runs close in time met the same load. */
function toRatio(
  above: readonly Figures[],
  below: readonly Figures[],
  read: (one: Figures) => number,
): number {
  return median(
    above.map((one, round) => {
      const other = below[round];
      return other ? read(one) / read(other) : Number.NaN;
    }),
  );
}

function checkFacts(name: string, figures: readonly Figures[], children: number): string[] {
  const wanted = LIMITS.requestsPerChild * children + LIMITS.requestsOfParent;
  return figures.flatMap(({ ran, requests }) => [
    ...(ran < children ? [`${name}: ${ran} of ${children} children ran`] : []),
    ...(requests === wanted ? [] : [`${name}: ${requests} requests, expected ${wanted}`]),
  ]);
}

function checkPeers(name: string, samples: Samples, children: number): string[] {
  if (!LIMITS.subjects.includes(name)) return [];
  return PEERS.flatMap((peer) => {
    const [figures = [], others = []] = [samples.get(name), samples.get(peer)];
    if (others.length === 0) return [];
    const ratios = {
      wall: toRatio(figures, others, readWall),
      CPU: toRatio(figures, others, readCpu),
    };
    return Object.entries(ratios).flatMap(([unit, ratio]) => {
      const claim = `${name} / ${peer}, ${unit}, ${children}: ${ratio.toFixed(2)}`;
      const verdict = ratio <= LIMITS.timesPeer ? "holds" : "EXCEEDED";
      console.log(`  = ${claim} (at most ${LIMITS.timesPeer}: ${verdict})`);
      return ratio <= LIMITS.timesPeer * (1 + SLACK) ? [] : [claim];
    });
  });
}

/** The server ends no child's first answer before all children have asked: they must work at the same moment. */
async function checkSideBySide(names: readonly string[], bench: Bench): Promise<string[]> {
  const { ways, children } = LIMITS.sideBySide;
  const broken: string[] = [];
  for (const name of ways.filter((way) => names.includes(way))) {
    const { ran, atOnce } = await measure(name, children, bench, { holdsUntil: children });
    const isHeld = ran === children && atOnce === children;
    console.log(`  = ${name}: ${atOnce} of ${children} side by side`);
    if (!isHeld) broken.push(`${name}: ${atOnce} of ${children} side by side`);
  }
  return broken;
}
