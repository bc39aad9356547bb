import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createRequestLog,
  createTakeoverLog,
  type LogFormat,
  type RequestRecord,
} from "../../../src/server/watching/request-log.ts";

const RECORD: RequestRecord = {
  time: "2026-01-02T03:04:05.678Z",
  method: "POST",
  route: "/v1/responses",
  status: 200,
  ms: 312.4,
  tenant: "default",
  target: "resp_1\u001b[2J\n",
  model: "openai/gpt-5.1",
  input_tokens: 120,
  output_tokens: 45,
};

describe("the lines of takeovers", () => {
  it("say which run the server goes on with, in the format of the settings", () => {
    const lines: string[] = [];
    const record = { time: "2026-01-02T03:04:05.678Z", takeover: "run_1" };
    for (const format of ["text", "json", "off"] as const) {
      createTakeoverLog(format, (line) => lines.push(line))(record);
    }
    const text = "03:04:05 continues run_1, whose process ended\n";
    assert.deepEqual(lines, [text, `${JSON.stringify(record)}\n`]);
  });
});

describe("the lines of requests", () => {
  const write = (format: LogFormat, record: RequestRecord): string => {
    let text = "";
    createRequestLog(format, (line) => {
      text += line;
    })(record);
    return text;
  };

  it("are for people, and nothing in them moves the cursor", () => {
    assert.equal(
      write("text", RECORD),
      "03:04:05 POST /v1/responses 200 312 ms resp_1 [2J  openai/gpt-5.1 120+45\n",
    );
    assert.match(
      write("text", { ...RECORD, tenant: "acme", left: true }),
      / acme .* client left\n$/,
    );
  });

  it("are JSON, one document a line, or nothing", () => {
    const text = write("json", RECORD);
    assert.deepEqual(JSON.parse(text), RECORD);
    assert.equal(text.indexOf("\n"), text.length - 1);
    assert.equal(write("off", RECORD), "");
  });
});
