/**
 * A gateway's own cost: CPU of its process for each request, and the time it adds, for Responses and Messages requests
 * translated to a chat server, compared with a pipe of bytes and with other published gateways.
 *
 *     npm run bench:gateway [-- --check] [--only=NAME,NAME] [--connections=32] [--quick]
 *
 * The gateway has one core; the upstream server and the load have the other. The same file is the program of all
 * processes, told apart by its first argument.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { CONTENDERS } from "./gateway/contenders.ts";
import { holdStreams, type Load, runLoad } from "./gateway/load.ts";
import { cpuMs, type Started, startChild as start } from "./gateway/processes.ts";
import { startUpstream } from "./gateway/upstream.ts";

const KINDS = ["plain", "streamed"] as const;
const CONNECTIONS = readOption("connections")?.split(",").map(Number) ?? [1, 32, 256];
const REQUESTS = { plain: 3000, streamed: 1000 } as const;
const ROUNDS = 5;
/** V8 is still compiling during the first thousands. */
const WARM_UP = { plain: 4000, streamed: 1500 } as const;
const STREAMS = 1000;
/** A tenth of the requests, once: to check that it works, and not for figures. */
const IS_QUICK = process.argv.includes("--quick");
/** Compared with the byte pipe of the same run. */
const MOST_TIMES_PIPE = 2;
/** Messages in and chat out, compared with the gateway that is made for it. */
const MOST_TIMES_LLMS = 0.5;
const MOST_KB_A_STREAM = 100;
const NAME_WIDTH = Math.max(...Object.keys(CONTENDERS).map(({ length }) => length));

const [role, name = "", port = ""] = process.argv.slice(2);
if (role === "upstream") startUpstream({ hold: name === "hold" });
else if (role === "gateway") await serve();
else await compare();

function readOption(name: string): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((word) => word.startsWith(start))?.slice(start.length);
}

async function serve(): Promise<void> {
  process.on("disconnect", () => process.exit());
  process.on("message", () => {
    globalThis.gc?.();
    process.send?.({ rss: process.memoryUsage().rss });
  });
  process.send?.(await CONTENDERS[name]?.start(Number(port)));
}

async function compare(): Promise<void> {
  const only = readOption("only");
  const names = Object.keys(CONTENDERS).filter((one) => !only || only.split(",").includes(one));
  const figures = await compareLoads(names);
  const held = await compareStreams(names);
  if (process.argv.includes("--check")) check(figures, held);
  process.exit();
}

async function compareLoads(names: readonly string[]): Promise<Map<string, number>> {
  const upstream = await startChild(["upstream"], 1);
  const gateways = new Map<string, Started>();
  for (const name of names) {
    gateways.set(name, await startChild(["gateway", name, String(upstream.port)], 0));
  }
  const figures = new Map<string, number>();
  for (const kind of KINDS) {
    for (const connections of CONNECTIONS) {
      const all = await measureInTurn(gateways, { kind, connections, upstream });
      for (const [name, { cpu, ms }] of all) {
        figures.set(`${name}/${kind}/${connections}`, cpu);
        print(name, `${kind}, ${connections}`, cpu, ms);
      }
    }
  }
  for (const { child } of [...gateways.values(), upstream]) child.disconnect();
  return figures;
}

interface Asked {
  readonly kind: (typeof KINDS)[number];
  readonly connections: number;
  readonly upstream: Started;
}

interface Figure {
  readonly cpu: number;
  readonly ms: number;
}

/** One after the other and several times, the median of each: other load of the machine affects all of them. */
async function measureInTurn(
  gateways: ReadonlyMap<string, Started>,
  { kind, connections, upstream }: Asked,
): Promise<Map<string, Figure>> {
  const loads = [...gateways].map(([name, { child, port }]) => {
    const load = toLoad(name, { gateway: port, upstream: upstream.port }, kind);
    return { name, child, load: { ...load, connections } };
  });
  const requests = REQUESTS[kind] / (IS_QUICK ? 10 : 1);
  if (!IS_QUICK) for (const { load } of loads) await runLoad({ ...load, requests: WARM_UP[kind] });
  const rounds = new Map<string, Figure[]>(loads.map(({ name }) => [name, []]));
  for (let round = 0; round < (IS_QUICK ? 1 : ROUNDS); round++) {
    for (const { name, child, load } of loads) {
      const before = cpuMs(child);
      const { medianMs: ms } = await runLoad({ ...load, requests });
      rounds.get(name)?.push({ cpu: (cpuMs(child) - before) / requests, ms });
    }
  }
  return new Map([...rounds].map(([name, all]) => [name, toMiddle(all)]));
}

function toMiddle(figures: readonly Figure[]): Figure {
  const sorted = [...figures].sort((a, b) => a.cpu - b.cpu);
  return sorted[Math.floor(sorted.length / 2)] ?? { cpu: Number.NaN, ms: Number.NaN };
}

interface Ports {
  readonly gateway: number;
  readonly upstream: number;
}

function toLoad(contender: string, ports: Ports, kind: "plain" | "streamed"): Load {
  const { path, headers, body } = CONTENDERS[contender] ?? (CONTENDERS["byte pipe"] as never);
  return {
    port: ports.gateway,
    path,
    headers: headers(ports.upstream),
    body: JSON.stringify(body(kind === "streamed")),
    connections: 1,
    requests: 1,
  };
}

/** What an open stream costs, with a thousand of them. */
async function compareStreams(names: readonly string[]): Promise<Map<string, number>> {
  const upstream = await startChild(["upstream", "hold"], 1);
  const figures = new Map<string, number>();
  for (const contender of names) {
    const gateway = await startChild(["gateway", contender, String(upstream.port)], 0);
    const ports = { gateway: gateway.port, upstream: upstream.port };
    const load = toLoad(contender, ports, "streamed");
    const first = await holdStreams({ ...load, connections: 20 });
    const before = await rssOf(gateway.child);
    const sockets = await holdStreams({ ...load, connections: STREAMS });
    const kb = ((await rssOf(gateway.child)) - before) / STREAMS / 1024;
    figures.set(contender, kb);
    write(`${contender.padEnd(NAME_WIDTH)} ${STREAMS} open streams: ${kb.toFixed(0)} KB each\n`);
    for (const socket of [...first, ...sockets]) socket.destroy();
    gateway.child.disconnect();
  }
  upstream.child.disconnect();
  return figures;
}

function startChild(argv: readonly string[], core: number): Promise<Started> {
  return start(import.meta.url, argv, core);
}

async function rssOf(child: ChildProcess): Promise<number> {
  child.send("rss");
  const [{ rss }] = (await once(child, "message")) as [{ rss: number }];
  return rss;
}

function print(contender: string, what: string, cpu: number, ms: number): void {
  const figures = `${cpu.toFixed(3)} ms of CPU a request, ${ms.toFixed(2)} ms`;
  write(`${contender.padEnd(NAME_WIDTH)} ${what.padEnd(14)} ${figures}\n`);
}

function check(figures: ReadonlyMap<string, number>, held: ReadonlyMap<string, number>): void {
  const problems = [
    ...placesOf(figures, "offshoot").flatMap((at) => findProblems(figures, at)),
    ...placesOf(figures, "offshoot with messages").flatMap((at) =>
      findMessagesProblems(figures, at),
    ),
  ];
  if (![...figures.keys()].some((key) => key.startsWith("byte pipe/"))) {
    problems.push("the byte pipe was not measured, so there is nothing to compare with");
  }
  for (const [name, kb] of held) {
    const isOwn = name.startsWith("offshoot");
    if (isOwn && kb > MOST_KB_A_STREAM) problems.push(`${name}: ${kb.toFixed(0)} KB a stream`);
  }
  for (const problem of problems) write(`too much: ${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

/** The loads with which a contender was measured: `plain/32`. */
function placesOf(figures: ReadonlyMap<string, number>, contender: string): string[] {
  const start = `${contender}/`;
  return [...figures.keys()]
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length));
}

function findProblems(figures: ReadonlyMap<string, number>, at: string): string[] {
  const cpu = figures.get(`offshoot/${at}`) ?? Number.NaN;
  const times = cpu / (figures.get(`byte pipe/${at}`) ?? Number.NaN);
  write(`${at}: ${times.toFixed(2)} times the byte pipe\n`);
  const peers = Object.keys(CONTENDERS).filter((name) => !/^(byte pipe|offshoot)/.test(name));
  const cheaper = peers.filter((peer) => cpu >= (figures.get(`${peer}/${at}`) ?? Infinity));
  return [
    ...(times > MOST_TIMES_PIPE ? [`${at}: ${times.toFixed(2)} times the byte pipe`] : []),
    ...cheaper.map((peer) => `${at}: not below ${peer}`),
  ];
}

function findMessagesProblems(figures: ReadonlyMap<string, number>, at: string): string[] {
  const cpu = figures.get(`offshoot with messages/${at}`) ?? Number.NaN;
  const ofPipe = cpu / (figures.get(`byte pipe/${at}`) ?? Number.NaN);
  const ofLlms = cpu / (figures.get(`@musistudio/llms/${at}`) ?? Number.NaN);
  const told = `messages ${at}: ${ofPipe.toFixed(2)} times the byte pipe, ${ofLlms.toFixed(2)} times @musistudio/llms`;
  write(`${told}\n`);
  return ofPipe > MOST_TIMES_PIPE || ofLlms > MOST_TIMES_LLMS ? [told] : [];
}

function write(text: string): void {
  process.stdout.write(text);
}
