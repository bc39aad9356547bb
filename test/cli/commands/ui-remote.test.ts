import assert from "node:assert/strict";
import { it } from "node:test";
import { parseServer } from "../../../src/cli/commands/ui-remote.ts";

it("offshoot ui --server accepts HTTPS, and plain HTTP only for this machine", () => {
  const taken: Readonly<Record<string, string>> = {
    "https://llm.example.com": "https://llm.example.com",
    "https://llm.example.com/ai/v1/": "https://llm.example.com/ai",
    "https://llm.example.com/console/": "https://llm.example.com",
    "http://127.0.0.1:8484": "http://127.0.0.1:8484",
    "http://localhost:8484/v1": "http://localhost:8484",
    "http://[::1]:8484": "http://[::1]:8484",
  };
  for (const [given, base] of Object.entries(taken)) assert.equal(parseServer(given), base);
  for (const wrong of [
    "llm.example.com",
    "http://llm.example.com",
    "ftp://a",
    "",
    "http://127.evil.example",
  ]) {
    assert.throws(() => parseServer(wrong), { code: "invalid_request" }, wrong);
  }
});
