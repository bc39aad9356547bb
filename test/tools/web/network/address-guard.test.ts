import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type AddressFault,
  checkAddress,
} from "../../../../src/tools/web/network/address-guard.ts";

/** The first and the last address of a range, if both are short to write. */
const REFUSED: readonly (readonly [string, AddressFault])[] = [
  ["127.0.0.1", "the loopback"],
  ["127.255.255.255", "the loopback"],
  ["::1", "the loopback"],
  ["0:0:0:0:0:0:0:1", "the loopback"],
  ["0.0.0.0", "no address of a host"],
  ["0.255.255.255", "no address of a host"],
  ["::", "no address of a host"],
  ["10.0.0.0", "a private network"],
  ["10.255.255.255", "a private network"],
  ["172.16.0.1", "a private network"],
  ["172.31.255.255", "a private network"],
  ["192.168.0.1", "a private network"],
  ["100.64.0.0", "a carrier's shared network"],
  ["100.127.255.255", "a carrier's shared network"],
  ["169.254.0.1", "link-local"],
  ["fe80::1", "link-local"],
  ["febf::1", "link-local"],
  ["169.254.169.254", "a cloud's metadata service"],
  ["169.254.170.2", "a cloud's metadata service"],
  ["100.100.100.200", "a cloud's metadata service"],
  ["192.0.0.192", "a cloud's metadata service"],
  ["168.63.129.16", "a cloud's metadata service"],
  ["fd00:ec2::254", "a cloud's metadata service"],
  ["fd00::1", "a unique local network"],
  ["fc00::", "a unique local network"],
  ["fec0::1", "site-local"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["ff02::1", "multicast"],
  ["255.255.255.255", "the broadcast address"],
  ["240.0.0.1", "reserved"],
  ["192.0.0.1", "reserved"],
  ["2001:1::1", "reserved"],
  ["192.0.2.1", "documentation"],
  ["198.51.100.1", "documentation"],
  ["203.0.113.1", "documentation"],
  ["2001:db8::1", "documentation"],
  ["3fff::1", "documentation"],
  ["198.18.0.1", "benchmarking"],
  ["198.19.255.255", "benchmarking"],
  ["2001:2::1", "benchmarking"],
  ["100::1", "a discard address"],
  ["192.88.99.1", "6to4"],
  ["2002:7f00:1::", "6to4"],
  ["2002:0808:0808::1", "6to4"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"],
  ["::ffff:127.0.0.1", "the loopback"],
  ["::ffff:7f00:1", "the loopback"],
  ["::ffff:169.254.169.254", "a cloud's metadata service"],
  ["64:ff9b::7f00:1", "the loopback"],
  ["64:ff9b::10.0.0.1", "a private network"],
  ["64:ff9b:1::808:808", "IPv4 inside IPv6"],
  ["::7f00:1", "IPv4 inside IPv6"],
  ["::8.8.8.8", "IPv4 inside IPv6"],
  ["::ffff:0:127.0.0.1", "IPv4 inside IPv6"],
  ["4000::1", "not a public address"],
  ["1::1", "not a public address"],
  ["fe80::1%eth0", "not an address"],
  ["2606:4700::1111%1", "not an address"],
  ["127.1", "not an address"],
  ["0177.0.0.1", "not an address"],
  ["2130706433", "not an address"],
  ["", "not an address"],
  ["localhost", "not an address"],
];

const ALLOWED = [
  ...["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255"],
  ...["100.128.0.0", "126.255.255.255", "128.0.0.0", "223.255.255.255", "169.253.0.1"],
  ...["2606:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::1", "2400:cb00::1"],
  ...["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
];

describe("the address guard", () => {
  for (const [address, why] of REFUSED) {
    it(`refuses ${JSON.stringify(address)}: ${why}`, () => {
      assert.equal(checkAddress(address), why);
    });
  }

  for (const address of ALLOWED) {
    it(`lets ${address} through`, () => assert.equal(checkAddress(address), undefined));
  }

  it("gives the same answer for an IPv4 address and its mapped and translated forms", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const why = checkAddress(address);
        assert.equal(checkAddress(`::ffff:${address}`), why);
        assert.equal(checkAddress(`64:ff9b::${address}`), why);
      }),
    );
  });

  it("allows only public IPv6 addresses, and reads any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.string()), (address) => {
        if (checkAddress(address) !== undefined) return;
        assert.match(address, /^(2|3)[0-9a-f]{3}:|^[0-9.]+$|^0*:|^0*64:ff9b:/i);
      }),
    );
  });
});
