/**
 * Addresses that a model may be persuaded to read, and the expected refusals: each row is a call of
 * `fetch`, the web around it, and the refusal. Nothing private is ever dialled.
 */

import { PUBLIC } from "../tools/web/web-servers.ts";

export interface AddressRow {
  /** The attack, if the URL alone does not show it. */
  readonly attack?: string;
  readonly url: string;
  /** The resolver's answers, one after the other; a missing name is public. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The public server's answers, by path: a redirect. */
  readonly redirects?: Readonly<Record<string, readonly [status: number, location: string]>>;
  /** A part of the refusal. */
  readonly why: string;
  /** How many connections were made before it, all to public addresses; none if missing. */
  readonly reaches?: number;
  readonly code?: "forbidden" | "tool_failed" | "invalid_request";
}

const all = (why: string, urls: readonly string[]): AddressRow[] =>
  urls.map((url) => ({ url, why }));

/** One address in all forms that programs accept. */
const WRITTEN_ADDRESSES = [
  ...all("the loopback", [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/admin",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://0177.0.0x1/",
    "http://127.0.0.1./",
    "http://127.127.127.127/",
    "http://%31%32%37.0.0.1/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "https://127.0.0.1/",
    "HTTP://127.0.0.1/",
    "http:127.0.0.1/",
    "http:/127.0.0.1/",
    "http:////127.0.0.1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::127.0.0.1]/",
  ]),
  ...all("no address of a host", ["http://0.0.0.0/", "http://0/", "http://[::]/"]),
  ...all("a private network", [
    "http://10.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://172.31.255.254/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://0xc0a80101/",
    "http://[::ffff:192.168.1.1]/",
    "http://[64:ff9b::10.0.0.1]/",
  ]),
  ...all("metadata", [
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
  ]),
  ...all("link-local", ["http://169.254.1.1/", "http://[fe80::1]/"]),
  ...all("a carrier's shared network", ["http://100.64.0.1/"]),
  ...all("a unique local network", ["http://[fc00::1]/", "http://[fd12:3456::1]/"]),
  ...all("site-local", ["http://[fec0::1]/"]),
  ...all("multicast", ["http://224.0.0.1/", "http://[ff02::1]/"]),
  ...all("the broadcast address", ["http://255.255.255.255/", "http://0xffffffff/"]),
  ...all("reserved", ["http://240.0.0.1/"]),
  ...all("IPv4 inside IPv6", [
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b:1::127.0.0.1]/",
  ]),
  ...all("6to4", ["http://[2002:7f00:1::]/", "http://[2002:c0a8:101::1]/"]),
  ...all("Teredo", ["http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/"]),
];

const WRITTEN_URLS = [
  ...all("only http and https", [
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/_x",
    "data:text/html,hi",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "ws://example.com/",
    "about:blank",
    "blob:http://example.com/1",
    "view-source:http://example.com/",
    "jar:http://example.com/x.jar!/",
    "ldap://example.com/",
    "dict://example.com/",
  ]),
  ...all("it contains a login", [
    "http://user@example.com/",
    "http://user:pass@example.com/",
    "http://example.com@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://:@127.0.0.1:1@example.com/",
    "https://@user@example.com/",
  ]),
  ...all("spaces or control characters", [
    "http://127.0.0.1\u0000.example.com/",
    "http://example.com\u0000@127.0.0.1/",
    "http://exa\tmple.com/",
    "http://exam\r\nple.com/",
    " http://127.0.0.1/",
    "http://example.com/ HTTP/1.1",
    "http://example.com/\r\nHost:x",
    "http://example.com\u00a0/",
    "http://example.com\u2028/",
  ]),
  ...all("a backslash", [
    "http://example.com\\@127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http://127.0.0.1\\.example.com/",
  ]),
  ...all("its host cannot be read", [
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::1/",
    "http://::1/",
    "http://[1.2.3.4]/",
    "http://256.256.256.256/",
    "http://127.0.0.0x100000000/",
    "http://exa<mple.com/",
    "http://127.0.0.1%00.example.com/",
    "http://example.com:99999/",
    "http:///",
    "https://",
  ]),
  ...all("its host is not a name", ["http://example..com/", "http://example.com../"]),
  ...all("a name of private networks", [
    "http://localhost/",
    "http://localhost:3000/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://ⓛocalhost/",
    "http://loc%61lhost/",
    "http://app.localhost/",
    "http://localhost.localdomain/",
    "http://printer.local/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://metadata/",
    "http://instance-data/",
    "http://kubernetes.default.svc.cluster.local/",
    "http://host.docker.internal/",
    "http://router.home.arpa/",
  ]),
  ...all("is not the web's", [
    "http://example.com:22/",
    "http://example.com:25/",
    "https://example.com:6379/",
    "http://example.com:11211/",
    "http://example.com:0/",
    "http://example.com:2375/containers/json",
  ]),
  { attack: "an over-long URL", url: `http://example.com/${"a".repeat(9000)}`, why: "longer than" },
  { url: "//127.0.0.1/", why: "is not a URL", code: "invalid_request" as const },
  { url: "127.0.0.1", why: "is not a URL", code: "invalid_request" as const },
];

const named = (url: string, answers: readonly (readonly string[])[], why: string): AddressRow => ({
  url,
  names: { [new URL(url).hostname]: answers },
  why,
});

const RESOLVED_NAMES: AddressRow[] = [
  named("http://127.0.0.1.nip.io/", [["127.0.0.1"]], "the loopback"),
  named("http://7f000001.rebind.example/", [["127.0.0.1"]], "the loopback"),
  named("https://ten.example/", [["10.0.0.1"]], "a private network"),
  named("http://meta.example/", [["169.254.169.254"]], "metadata"),
  named("http://six.example/", [["::1"]], "the loopback"),
  named("http://mapped.example/", [["::ffff:10.0.0.1"]], "a private network"),
  named("http://zone.example/", [["fe80::1%eth0"]], "not an address"),
  named("http://mixed.example/", [[PUBLIC, "192.168.0.1"]], "a private network"),
  named("http://mixed6.example/", [[PUBLIC, "fd00::1"]], "a unique local network"),
  named("http://last.example/", [[PUBLIC, PUBLIC, PUBLIC, "0.0.0.0"]], "no address of a host"),
  named("http://odd.example/", [["0177.0.0.1"]], "not an address"),
  {
    attack: "DNS that is public for the first hop and private for the second",
    url: "http://rebind.example/",
    names: { "rebind.example": [[PUBLIC], ["127.0.0.1"]] },
    redirects: { "/": [302, "/again"] },
    why: "the loopback",
    reaches: 1,
  },
];

const redirect = (status: number, location: string, why: string): AddressRow => ({
  attack: `a redirect (${status}) to ${location}`,
  url: "http://public.example/",
  redirects: { "/": [status, location] },
  names: { "inside.example": [["10.0.0.1"]] },
  why,
  reaches: 1,
});

const REDIRECTS: AddressRow[] = [
  ...[301, 302, 303, 307, 308].map((status) => redirect(status, "http://127.0.0.1/", "loopback")),
  redirect(302, "http://169.254.169.254/latest/meta-data/", "metadata"),
  redirect(302, "http://[::1]/", "the loopback"),
  redirect(302, "http://2130706433/", "the loopback"),
  redirect(302, "//127.0.0.1/", "the loopback"),
  redirect(302, "http://inside.example/", "a private network"),
  redirect(302, "http://localhost/", "a name of private networks"),
  redirect(302, "http://user:pass@public.example/", "it contains a login"),
  redirect(302, "file:///etc/passwd", "only http and https"),
  redirect(302, "javascript:alert(1)", "only http and https"),
  redirect(302, "http://public.example:22/", "is not the web's"),
  redirect(302, "\\\\127.0.0.1\\", "a backslash"),
  {
    attack: "a private address after two public ones",
    url: "http://public.example/a",
    redirects: { "/a": [302, "http://two.example/b"], "/b": [307, "http://10.0.0.1/"] },
    why: "a private network",
    reaches: 2,
  },
  {
    attack: "redirects without an end",
    url: "http://public.example/",
    redirects: { "/": [302, "/"] },
    why: "redirects more than 5 times",
    code: "tool_failed",
    reaches: 6,
  },
];

export const ADDRESS_ROWS: readonly AddressRow[] = [
  ...WRITTEN_ADDRESSES,
  ...WRITTEN_URLS,
  ...RESOLVED_NAMES,
  ...REDIRECTS,
];
