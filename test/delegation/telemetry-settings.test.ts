import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HISTOGRAMS, toModelFields } from "../../src/delegation/telemetry/genai.ts";
import { openTelemetry } from "../../src/delegation/telemetry/open-telemetry.ts";
import {
  type OtlpSettings,
  readOtlpSettings,
} from "../../src/delegation/telemetry/otlp-settings.ts";
import { parseTraceparent } from "../../src/delegation/telemetry/trace-context.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

function read(env: Record<string, string>): OtlpSettings {
  const settings = readOtlpSettings({ ...ENDPOINT, ...env }, "1.2.3");
  assert.ok(settings && !("problem" in settings), JSON.stringify(settings));
  return settings;
}

describe("the settings of telemetry", () => {
  it("switch telemetry off if no collector is named", () => {
    assert.equal(readOtlpSettings({}, "1"), undefined);
    assert.equal(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, "1"), undefined);
    assert.equal(readOtlpSettings({ OTEL_SERVICE_NAME: "mine" }, "1"), undefined);
  });

  it("load nothing if no collector is named", async () => {
    assert.equal(await openTelemetry({ OTEL_SERVICE_NAME: "mine" }, { version: "1" }), undefined);
  });

  it("add the kind's path to the common endpoint, but not to a kind's own", () => {
    const { traces, metrics } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/base/",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://other/m",
    });
    assert.equal(traces?.url, "http://collector:4318/base/v1/traces");
    assert.equal(metrics?.url, "https://other/m");
  });

  it("send only one kind if only that one is named", () => {
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector/t" };
    const settings = readOtlpSettings(env, "1");
    assert.ok(settings && !("problem" in settings));
    assert.deepEqual([settings.traces?.url, settings.metrics], ["http://collector/t", undefined]);
  });

  it("switch everything off with OTEL_SDK_DISABLED", () => {
    assert.equal(readOtlpSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }, "1"), undefined);
    assert.ok(read({ OTEL_SDK_DISABLED: "no" }).traces);
  });

  it("switch a kind off that is sent elsewhere or nowhere", () => {
    assert.equal(read({ OTEL_TRACES_EXPORTER: "none" }).traces, undefined);
    assert.equal(read({ OTEL_METRICS_EXPORTER: "prometheus" }).metrics, undefined);
    assert.ok(read({ OTEL_TRACES_EXPORTER: "console,otlp" }).traces);
    const none = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };
    assert.equal(readOtlpSettings({ ...ENDPOINT, ...none }, "1"), undefined);
  });

  it("join the headers of all kinds with those of one", () => {
    const { traces, metrics } = read({
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x=1,broken",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x=2",
    });
    assert.deepEqual(traces?.headers, { authorization: "Bearer abc", x: "2" });
    assert.deepEqual(metrics?.headers, { authorization: "Bearer abc", x: "1" });
  });

  it("name the service by its variable, then by the resource's, then by the program", () => {
    assert.deepEqual(read({}).resource, { "service.name": "offshoot", "service.version": "1.2.3" });
    const OTEL_RESOURCE_ATTRIBUTES = "service.name=theirs,team=a%20b,service.version=9";
    assert.deepEqual(read({ OTEL_RESOURCE_ATTRIBUTES }).resource, {
      "service.name": "theirs",
      "service.version": "9",
      team: "a b",
    });
    const { resource } = read({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: "mine" });
    assert.equal(resource["service.name"], "mine");
  });

  it("prefer timeout and compression of a kind to those of all", () => {
    const { traces, metrics } = read({
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "700",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    });
    assert.deepEqual([traces?.timeoutMs, metrics?.timeoutMs], [700, 500]);
    assert.equal(traces?.compression, "gzip");
    assert.equal(read({ OTEL_EXPORTER_OTLP_TIMEOUT: "soon" }).traces?.timeoutMs, 10_000);
  });

  for (const [name, value] of [
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "not an address"],
  ] as const) {
    it(`report ${name}=${value} as invalid, and send nothing`, async () => {
      const lines: string[] = [];
      const keep = (line: string): void => void lines.push(line);
      const log = { error: keep, warn: keep, info: keep, debug: keep };
      const env = { ...ENDPOINT, [name]: value };
      assert.equal(await openTelemetry(env, { version: "1", log }), undefined);
      assert.match(lines.join(), /^No telemetry is sent\. .*OTLP/);
    });
  }

  const remote = (flags: string) =>
    parseTraceparent(`00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`, undefined);
  const low = "1".padStart(32, "0");
  const high = "f".repeat(32);
  for (const [sampler, argument, expected] of [
    ["", "", [true, true, true, false]],
    ["always_on", "", [true, true, true, true]],
    ["always_off", "", [false, false, false, false]],
    ["parentbased_always_off", "", [false, false, true, false]],
    ["traceidratio", "0.5", [true, false, true, true]],
    ["parentbased_traceidratio", "0.5", [true, false, true, false]],
    ["traceidratio", "7", [true, true, true, true]],
  ] as const) {
    it(`decide by the sampler \`${sampler}\` ${argument}`, () => {
      const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument };
      const { isSampled } = read(env);
      const decided = [
        isSampled(low, undefined),
        isSampled(high, undefined),
        isSampled(low, remote("01")),
        isSampled(low, remote("00")),
      ];
      assert.deepEqual(decided, expected);
    });
  }
});

describe("the table of the conventions", () => {
  it("has the buckets that the conventions name", () => {
    assert.deepEqual(
      HISTOGRAMS.tokens.buckets,
      [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864],
    );
    assert.deepEqual(
      HISTOGRAMS.duration.buckets,
      [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
    );
  });

  for (const [ref, vendor, model] of [
    ["openai/gpt-5", "openai", "gpt-5"],
    ["bedrock/us.anthropic/x", "aws.bedrock", "us.anthropic/x"],
    ["vertexai/gemini", "gcp.vertex_ai", "gemini"],
    ["custom/test", "custom", "test"],
    ["embedded", "embedded", "embedded"],
  ] as const) {
    it(`knows the vendor of ${ref}`, () => {
      assert.deepEqual(toModelFields(ref), { vendor, model });
    });
  }
});
