import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHostCheck } from "../../../src/server/guard/hosts.ts";

interface Row {
  readonly host: string;
  readonly hosts?: readonly string[];
  readonly taken: readonly string[];
  readonly refused: readonly (string | undefined)[];
}

const ROWS: Readonly<Record<string, Row>> = {
  "one that listens on this machine alone": {
    host: "127.0.0.1",
    taken: ["localhost", "LOCALHOST:8484", "127.0.0.1:1", "[::1]:8484", "localhost.", "[::1]"],
    refused: [
      ...["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"],
      ...["evil.example:8484", "localhost@evil.example", "localhost/x", "localhost:x", " ", ""],
      ...["localhost evil.example", "[::1", "[::ffff:10.0.0.1]", "0.0.0.0", undefined],
    ],
  },
  "one with names of its own": {
    host: "api.internal",
    hosts: ["llm.example.com", "*.lab.example"],
    taken: ["api.internal:443", "LLM.example.com", "a.lab.example", "localhost"],
    refused: ["example.com", "lab.example.evil", "x.llm.example.com", "10.0.0.1"],
  },
  "one that listens everywhere": {
    host: "0.0.0.0",
    taken: ["192.168.1.7:8484", "[fe80::1]:8484", "localhost"],
    refused: ["rebound.example", "192.168.1.7.evil.example"],
  },
  "one behind a proxy that checks": {
    host: "127.0.0.1",
    hosts: ["*"],
    taken: ["anything.example"],
    refused: ["", "a b"],
  },
};

describe("the check of hosts", () => {
  for (const [name, { host, hosts = [], taken, refused }] of Object.entries(ROWS)) {
    const check = createHostCheck({ host, hosts });
    it(`lets ${name} be called by its names`, () => {
      for (const given of taken) check(given);
    });
    it(`lets ${name} be called nothing else`, () => {
      for (const given of refused) {
        assert.throws(() => check(given), { code: "forbidden" }, String(given));
      }
    });
  }
});
