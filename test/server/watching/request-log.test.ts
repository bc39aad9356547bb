import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createCooldownLog,
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
  it("say which run the server continues, in the format of the settings", () => {
    const lines: string[] = [];
    const record = { time: "2026-01-02T03:04:05.678Z", takeover: "run_1" };
    for (const format of ["text", "json", "off"] as const) {
      createTakeoverLog(format, (line) => lines.push(line))(record);
    }
    const text = "03:04:05 continues run_1, whose process ended\n";
    assert.deepEqual(lines, [text, `${JSON.stringify(record)}\n`]);
  });
});

describe("the lines of cooldowns", () => {
  it("say which deployment is not asked, for how long and why", () => {
    const lines: string[] = [];
    const time = "2026-01-02T03:04:05.678Z";
    const record = {
      time,
      cooldown: "custom/a@gpu-1:8000",
      seconds: 30,
      reason: "Refused.\u001b[2J",
    };
    for (const format of ["text", "json", "off"] as const) {
      createCooldownLog(format, (line) => lines.push(line))(record);
    }
    const text = "03:04:05 custom/a@gpu-1:8000 is not asked for 30 s: Refused. [2J\n";
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

  it("say why a request was refused", () => {
    const refused = { ...RECORD, status: 503, error: "key_missing" as const, target: "r" };
    assert.match(
      write("text", refused),
      /^03:04:05 POST \/v1\/responses 503 key_missing 312 ms r /,
    );
  });

  it("name the deployment that answered, and its tries if it was not the first", () => {
    const record = { ...RECORD, target: "resp_1", deployment: "custom/a@gpu-1:8000" };
    assert.match(write("text", { ...record, tries: 1 }), / custom\/a@gpu-1:8000 120\+45\n$/);
    assert.match(write("text", { ...record, tries: 2 }), /@gpu-1:8000 2 tries 120\+45\n$/);
  });

  it("are JSON, one document a line, or nothing", () => {
    const text = write("json", RECORD);
    assert.deepEqual(JSON.parse(text), RECORD);
    assert.equal(text.indexOf("\n"), text.length - 1);
    assert.equal(write("off", RECORD), "");
  });
});
