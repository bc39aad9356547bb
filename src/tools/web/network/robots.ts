/**
 * What a site asks of programs that read it, in its robots.txt: read once an origin and run.
 *
 * As RFC 9309 has it: a file that is not there allows everything, a server that cannot say forbids.
 */

import robotsParser from "robots-parser";
import { untilAborted } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import type { GetOptions, WebAnswer } from "./web-client.ts";

export interface Robots {
  /** Rejects with `Failure("forbidden")` when the site asks not to read this. */
  check(url: URL, asking: Asking): Promise<void>;
}

type Asking = Pick<GetOptions, "signal" | "allowsHost">;
type Read = (url: string, asking: Asking) => Promise<WebAnswer>;

/** The package is a function; its types describe a module that has one as its default. */
const parseRobots = robotsParser as unknown as (typeof robotsParser)["default"];

type Rules = "all" | "none" | ReturnType<typeof parseRobots>;

interface Reading {
  readonly rules: Promise<Rules>;
  readonly stop: AbortController;
  waiting: number;
}

/** What sites name us by. */
const AGENT = "offshoot";

/** Checking costs rules times the path's length, and both are the server's and the model's. */
const MAX_RULES_BYTES = 128 * 1024;

/** `read` must not come back here. */
export function createRobots(read: Read): Robots {
  const known = new Map<string, Rules>();
  const readings = new Map<string, Reading>();

  function start(origin: string, { allowsHost }: Asking): Reading {
    const stop = new AbortController();
    const rules = readRules(origin, (url) => read(url, { allowsHost, signal: stop.signal }));
    const reading = { rules, stop, waiting: 0 };
    readings.set(origin, reading);
    return reading;
  }

  /** One question for all who ask at the same time; it is given up with the last of them. */
  async function rulesOf(origin: string, asking: Asking): Promise<Rules> {
    const found = known.get(origin);
    if (found !== undefined) return found;
    const reading = readings.get(origin) ?? start(origin, asking);
    reading.waiting++;
    try {
      const rules = await untilAborted(reading.rules, asking.signal);
      known.set(origin, rules);
      return rules;
    } finally {
      reading.waiting--;
      if (reading.waiting === 0) {
        readings.delete(origin);
        reading.stop.abort();
      }
    }
  }

  return {
    async check(url, asking) {
      const rules = await rulesOf(url.origin, asking);
      if (rules === "none") {
        const message = `\`${url.host}\` cannot say whether programs may read it: its robots.txt is broken. \`web_robots: false\` reads it all the same.`;
        throw new Failure("forbidden", message);
      }
      if (rules === "all" || rules.isAllowed(url.href, AGENT) !== false) return;
      const message = `\`${url.host}\` asks programs not to read \`${url.pathname}\` (robots.txt). \`web_robots: false\` reads it all the same.`;
      throw new Failure("forbidden", message);
    },
  };
}

async function readRules(
  origin: string,
  read: (url: string) => Promise<WebAnswer>,
): Promise<Rules> {
  const address = `${origin}/robots.txt`;
  try {
    const { status, body } = await read(address);
    if (status >= 500) return "none";
    if (status >= 300) return "all";
    return parseRobots(address, body.toString("utf8", 0, MAX_RULES_BYTES));
  } catch (thrown) {
    // Led somewhere that is not read: as good as not there. The page's own address is checked next.
    if (thrown instanceof Failure && thrown.code === "forbidden") return "all";
    throw thrown;
  }
}
