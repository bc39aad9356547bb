/**
 * Objects that get a shape of their own: places in the code that make V8 describe each object anew, as often as once a
 * request or more. On Node 20, `{ ...one, added }` does, which takes 1 µs for each added field and slows down whoever
 * reads it; `{ added, ...one }` and plain literals do not. Later versions share the shape in either order.
 *
 *     npm run bench:shapes [-- --store=postgres] [-- --kind=streamed]
 *
 * Prints a line for each place, with how often it happens in a request; fields of the same place are counted together.
 */

import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runLoad } from "./gateway/load.ts";
import { startChild } from "./gateway/processes.ts";
import { startUpstream } from "./gateway/upstream.ts";
import { type Kind, toBody, toLoad } from "./stored/bench.ts";
import { startServer } from "./stored/server.ts";

const REQUESTS = 1000;
const CONNECTIONS = 8;
/** Rarer ones are of the start, or of the first requests. */
const LEAST = 0.5;

if (process.argv[2] === "upstream") startUpstream();
else await findShapes();

async function findShapes(): Promise<void> {
  const flag = (name: string): string | undefined =>
    process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const log = join(tmpdir(), `offshoot-shapes-${process.pid}.log`);
  const upstream = await startChild(import.meta.url, ["upstream"], 1);
  const execArgv = ["--log-maps", "--no-log-maps-details", "--no-logfile-per-isolate"];
  const server = await startServer({
    store: flag("store") ?? "sqlite",
    upstreamPort: upstream.port,
    workers: 1,
    execArgv: [...execArgv, `--logfile=${log}`],
  });
  const load = toLoad(server, toBody((flag("kind") ?? "plain") as Kind));
  await runLoad({ ...load, connections: CONNECTIONS, requests: REQUESTS });
  await server.close();
  upstream.child.disconnect();
  const lines = readFileSync(log, "utf8").split("\n");
  rmSync(log);
  for (const [place, times] of countShapes(lines)) {
    if (times >= LEAST) console.log(`${times.toFixed(1).padStart(6)}  ${place}`);
  }
  process.exit();
}

/** The code of a function, by where it is in memory. */
interface Code {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** By place: how many shapes in a request. */
function countShapes(lines: readonly string[]): [string, number][] {
  const codes: Code[] = [];
  const counts = new Map<string, number>();
  for (const line of lines) {
    const [what, kind, ...rest] = line.split(",");
    if (what === "code-creation") {
      const from = Number(rest[2]);
      codes.push({ from, to: from + Number(rest[3]), name: rest.slice(4).join(",") });
    }
    if (what !== "map" || (kind !== "Transition" && kind !== "NormalizeCached")) continue;
    const [, , , at, row, column] = rest;
    if (Number(row) <= 0) continue;
    const address = Number(at);
    const code = codes.findLast(({ from, to }) => from <= address && address < to);
    const place = `${toPath(code?.name ?? "unknown")}:${row}:${column}`;
    counts.set(place, (counts.get(place) ?? 0) + 1 / REQUESTS);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** `close file:///…/build/src/engine/hub.js:12:3` -> `close src/engine/hub.js`. */
function toPath(name: string): string {
  return name.replace(/ file:.*\/build\//, " ").replace(/:\d+:\d+,.*$/, "");
}
