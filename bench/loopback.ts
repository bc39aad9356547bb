/**
 * Over loopback: the CPU that a client spends on each event of a stream. The server and every client
 * have a process of their own; a client's CPU is all of its process, after a warm-up.
 *
 *     npm run bench:loopback [-- --check]
 *
 * The same file is the program of those processes, told apart by its first argument.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { CLIENTS, type ClientName } from "./loopback-clients.ts";
import { DELTAS, startUpstream } from "./loopback-upstream.ts";
import { type Comparison, runBench } from "./measure.ts";

// A quarter of a million events: with a tenth of that, a third of what is measured is V8 still compiling, which
// affects the quickest most.
const WARM_UP_REQUESTS = 250;
const REQUESTS = 150;
const ROUNDS = 3;

/** Compared with the package's plain stream, which builds nothing up: the harder of its two. */
const COMPARISONS: readonly Pick<Comparison, "title" | "limits">[] = [
  {
    title: "chat",
    limits: [
      { subject: "chat: offshoot", baseline: "chat: openai", atMost: 1 / 3 },
      { subject: "chat: offshoot", baseline: "chat: ai + @ai-sdk/openai", atMost: 1 / 10 },
    ],
  },
  {
    title: "responses",
    limits: [
      { subject: "responses: offshoot", baseline: "responses: openai create", atMost: 1 / 3 },
    ],
  },
];

const [role, url = ""] = process.argv.slice(2);
if (role === "upstream") startUpstream();
else if (role !== undefined && role in CLIENTS) await runClient(role as ClientName, url);
else await compare();

async function compare(): Promise<void> {
  const upstream = startChild(["upstream"]);
  const [port] = (await once(upstream, "message")) as [number];
  try {
    await runBench(COMPARISONS.map((comparison) => toComparison(comparison, port)));
  } finally {
    upstream.disconnect();
  }
}

function toComparison(
  { title, limits }: Pick<Comparison, "title" | "limits">,
  port: number,
): Comparison {
  const names = Object.keys(CLIENTS).filter((name) => name.startsWith(`${title}: `));
  return {
    title,
    limits,
    unit: "µs/event",
    rounds: ROUNDS,
    contenders: names.map((name) => ({
      name,
      measure: async () => {
        const child = startChild([name, `http://127.0.0.1:${port}/v1`]);
        const [cost] = (await Promise.race([
          once(child, "message"),
          once(child, "exit").then(([code]) => Promise.reject(new Error(`${name} left: ${code}`))),
        ])) as [number];
        return cost;
      },
    })),
  };
}

function startChild(argv: readonly string[]): ChildProcess {
  // Proxies and keys of the machine must not influence a measurement.
  return fork(fileURLToPath(import.meta.url), argv, { env: {} });
}

/** Sends its parent the CPU of one event, in microseconds, and exits. */
async function runClient(name: ClientName, baseUrl: string): Promise<void> {
  const client = await CLIENTS[name](baseUrl);
  for (let count = 0; count < WARM_UP_REQUESTS; count++) await client();
  const before = process.cpuUsage();
  let deltas = 0;
  for (let count = 0; count < REQUESTS; count++) deltas += await client();
  const { user, system } = process.cpuUsage(before);
  const isBytesOnly = name.includes("bytes only");
  if (deltas !== REQUESTS * DELTAS && !isBytesOnly) {
    throw new Error(`${name} gave ${deltas} pieces of text instead of ${REQUESTS * DELTAS}.`);
  }
  process.send?.((user + system) / (REQUESTS * DELTAS), () => process.exit());
}
