/**
 * The rules of a site for programs, in its robots.txt. Read once for each origin and run.
 *
 * As RFC 9309 says: a missing file allows everything, a server error forbids everything.
 */

import robotsParser from "robots-parser";
import { untilAborted } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import type { GetOptions, WebAnswer } from "./web-answer.ts";

export interface Robots {
  /** Rejects with `Failure("forbidden")` if the site asks programs not to read this. */
  check(url: URL, asking: Asking): Promise<void>;
}

type Asking = Pick<GetOptions, "signal" | "allowsHost">;
type Read = (url: string, asking: Asking) => Promise<WebAnswer>;

/** The package is a function, but its types describe a module whose default is the function. */
const parseRobots = robotsParser as unknown as (typeof robotsParser)["default"];

type Rules = "all" | "none" | ReturnType<typeof parseRobots>;

interface Reading {
  readonly rules: Promise<Rules>;
  readonly stop: AbortController;
  waiting: number;
}

/** Our name in the files of sites. */
const AGENT = "offshoot";

/** A check costs the number of rules times the length of the path, and the server and the model choose both. */
const MAX_RULES_BYTES = 128 * 1024;

/** `read` must not call this again. */
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

  /** One request for all callers at the same time. It is cancelled when the last of them stops waiting. */
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
        const message = `\`${url.host}\` cannot say whether programs may read it: its robots.txt is broken. \`web_robots: false\` reads it nevertheless.`;
        throw new Failure("forbidden", message);
      }
      if (rules === "all" || rules.isAllowed(url.href, AGENT) !== false) return;
      const message = `\`${url.host}\` asks programs not to read \`${url.pathname}\` (robots.txt). \`web_robots: false\` reads it nevertheless.`;
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
    // The file's address led to a refused one, so it counts as missing. The page's own address is checked
    // next.
    if (thrown instanceof Failure && thrown.code === "forbidden") return "all";
    throw thrown;
  }
}
