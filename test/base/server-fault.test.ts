import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toToldMessage } from "../../src/base/server-fault.ts";

describe("the message for a client about a model's server", () => {
  it("is a whole sentence without the server's address", () => {
    const told = (code: "host_unknown" | "provider_unreachable", message: string): string =>
      toToldMessage({ code, message });
    assert.equal(
      told("host_unknown", "The host `gpu-1` does not resolve. Check the URL and the network."),
      "The host of the model's server does not resolve. Check the URL and the network.",
    );
    assert.equal(
      told("provider_unreachable", "Nothing answers at `gpu-1:8000`. Is the server running?"),
      "Nothing answers at the model's server. Is the server running?",
    );
  });
});
