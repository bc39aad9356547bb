/**
 * The URLs that the web tools accept: http and https, without a login in them, to a host that can be public
 * and a port that is used for the web. `find-route.ts` checks the addresses of a name.
 */

import { Failure } from "../../../base/failure.ts";
import { clip } from "../../../base/text.ts";

/** Longer than servers accept. A longer one may carry data out. */
const MAX_URL_CHARS = 8192;

/** Ports of other protocols: the list of the fetch standard, and the usual databases and consoles. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
  ...[101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601],
  ...[636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  ...[1433, 1521, 2375, 2376, 2379, 3306, 3389, 5432, 5900, 6379, 11211, 27017],
]);

/** The ends of names that never lead to a public host, and names that clouds answer themselves. */
const PRIVATE_ENDS = ["localhost", "localdomain", "local", "internal", "home.arpa"];
const PRIVATE_NAMES: ReadonlySet<string> = new Set(["metadata", "instance-data"]);

/** The URL in the form in which it is requested. A relative one, of a redirect, is resolved against `base`. */
export function checkUrl(text: string, base?: URL): URL {
  const problem = findTrick(text);
  if (problem) throw refused(text, problem);
  const url = parseUrl(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused(text, "only http and https are allowed");
  }
  if (url.username !== "" || url.password !== "") throw refused(url.host, "it contains a login");
  // `example.com.` is `example.com`: one spelling for the rules, the certificate and the checks.
  url.hostname = url.hostname.replace(/\.$/, "");
  const name = toHostName(url);
  if (name === "" || name.split(".").includes("")) throw refused(text, "its host is not a name");
  return url;
}

/** Why no name or port like this is public. Not called for hosts that the user allows. */
export function checkHost(url: URL): string | undefined {
  const name = toHostName(url);
  const isPrivate = PRIVATE_ENDS.some((end) => name === end || name.endsWith(`.${end}`));
  if (isPrivate || PRIVATE_NAMES.has(name)) return "a name of private networks";
  if (BLOCKED_PORTS.has(toPort(url))) return `port ${url.port} is not the web's`;
  return undefined;
}

/** The name without the brackets that a URL puts around IPv6. */
export function toHostName({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

export function toPort({ protocol, port }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

export function refused(host: string, why: string): Failure {
  return new Failure("forbidden", `The address is not allowed: ${clip(host, 200)} (${why})`);
}

/** Text that one URL parser accepts, and that another program's may read differently. */
function findTrick(text: string): string | undefined {
  if (text.length > MAX_URL_CHARS) return `longer than ${MAX_URL_CHARS} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/.test(text)) {
    return "it contains spaces or control characters";
  }
  const [beforeQuery = ""] = text.split(/[?#]/, 1);
  return beforeQuery.includes("\\") ? "it contains a backslash" : undefined;
}

function parseUrl(text: string, base: URL | undefined): URL {
  try {
    return new URL(text, base);
  } catch (cause) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(text)) throw refused(text, "its host cannot be read");
    const message = `\`${clip(text, 200)}\` is not a URL. Write it whole, with https:// in front.`;
    throw new Failure("invalid_request", message, { cause });
  }
}
