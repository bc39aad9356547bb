/**
 * The addresses to which the web tools may connect: public ones. Addresses of a machine, a private network
 * or a cloud's own services are refused, also inside an IPv6 address.
 *
 * The ranges are those of IANA's special-purpose registries, and the clouds' metadata services.
 */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ReturnType<typeof ipaddr.parse>;

interface Range {
  readonly cidr: ReturnType<typeof ipaddr.parseCIDR>;
  readonly why: AddressFault;
}

export type AddressFault = keyof typeof RANGES | typeof NOT_GLOBAL | typeof NO_ADDRESS;

const NOT_GLOBAL = "not a public address";
const NO_ADDRESS = "not an address";

/**
 * The first range that contains an address gives the reason, so the metadata services come before their
 * networks.
 */
const RANGES = {
  "a cloud's metadata service": [
    ...["169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "192.0.0.192/32"],
    ...["168.63.129.16/32", "fd00:ec2::254/128", "fd20:ce::254/128"],
  ],
  "the loopback": ["127.0.0.0/8", "::1/128"],
  "no address of a host": ["0.0.0.0/8", "::/128"],
  "a private network": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  "a carrier's shared network": ["100.64.0.0/10"],
  "a unique local network": ["fc00::/7"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  "site-local": ["fec0::/10"],
  "the broadcast address": ["255.255.255.255/32"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  documentation: [
    ...["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  ],
  benchmarking: ["198.18.0.0/15", "2001:2::/48"],
  "a discard address": ["100::/64"],
  "6to4": ["192.88.99.0/24", "2002::/16"],
  Teredo: ["2001::/32"],
  "IPv4 inside IPv6": ["::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48"],
  reserved: ["192.0.0.0/24", "240.0.0.0/4", "2001::/23"],
} as const;

const TABLE: readonly Range[] = Object.entries(RANGES).flatMap(([why, cidrs]) =>
  cidrs.map((cidr) => ({ cidr: ipaddr.parseCIDR(cidr), why: why as AddressFault })),
);

/** The public IPv6 addresses. All others are refused. */
const GLOBAL_V6 = ipaddr.parseCIDR("2000::/3");

/**
 * Forms that lead to an IPv4 address, which is then checked: mapped ones come from resolvers, and a network
 * without IPv4 has only NAT64 ones.
 */
const CARRIERS = [ipaddr.parseCIDR("::ffff:0:0/96"), ipaddr.parseCIDR("64:ff9b::/96")];

/** Ranges of a user's own network: a host that is allowed by name may have such an address. */
const OWN_NETWORKS: ReadonlySet<AddressFault> = new Set<AddressFault>([
  "the loopback",
  "a private network",
  "a carrier's shared network",
  "a unique local network",
]);

/** Why a connection to this address is refused; undefined if it is allowed. */
export function checkAddress(address: string): AddressFault | undefined {
  // The system's own parser accepts no octal and no short forms; a zone id means link-local.
  if (isIP(address) === 0 || address.includes("%")) return NO_ADDRESS;
  // `ipaddr.js` takes `::8.8.8.8` for a mapped address; a URL parser writes it out in full.
  const plain = address.includes(":")
    ? new URL(`http://[${address}]`).hostname.slice(1, -1)
    : address;
  return checkParsed(ipaddr.parse(plain));
}

export function isOwnNetwork(why: AddressFault): boolean {
  return OWN_NETWORKS.has(why);
}

function checkParsed(address: Address): AddressFault | undefined {
  const isV6 = address.kind() === "ipv6";
  if (isV6 && CARRIERS.some((carrier) => holds(carrier, address))) {
    return checkParsed(ipaddr.fromByteArray(address.toByteArray().slice(12)));
  }
  const range = TABLE.find(({ cidr }) => holds(cidr, address));
  if (range) return range.why;
  return isV6 && !holds(GLOBAL_V6, address) ? NOT_GLOBAL : undefined;
}

function holds([network, bits]: Range["cidr"], address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
