/** The settings of `agent.subagent`, as a configuration file nests them: ranges, defaults, effects. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { stringify } from "yaml";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createRedact } from "../../src/base/redact.ts";
import { type Config, loadConfig } from "../../src/runtime/config/config.ts";
import { createManualClock, reply } from "../../src/testing/index.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { CALL, call, delegate, eventsIn, outputsIn } from "./delegate.ts";

function load(t: TestContext, subagent: JsonObject): Promise<Config> {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, stringify({ agent: { subagent } }));
  return loadConfig(sandbox);
}

const KEYS = [
  { name: "max_depth", default: 3, takes: [1, 5, 10], refuses: [0, -1, 11, 2.5, "deep", true] },
  {
    name: "default_max_turns",
    default: 10,
    // No call may ask for more than 50 either.
    takes: [1, 15, 50],
    refuses: [0, -1, 51, 1.5, "many"],
  },
  {
    name: "output_max_size",
    default: 4096,
    takes: [1024, 8192, 2 ** 31],
    refuses: [0, 1023, 4096.5, "big"],
  },
  { name: "telemetry_enabled", default: true, takes: [true, false], refuses: ["maybe", 2, []] },
  { name: "persistence_enabled", default: false, takes: [true, false], refuses: ["maybe", 2, []] },
] as const;

for (const { name, default: usual, takes, refuses } of KEYS) {
  const key = `agent.subagent.${name}` as const;
  describe(`the setting ${key}`, () => {
    it(`is ${usual} by default`, async (t) => {
      const config = await loadConfig(createSandbox(t));
      assert.deepEqual([config.get(key), config.sourceOf(key)], [usual, "default"]);
    });

    for (const value of takes) {
      it(`may be ${value}`, async (t) => {
        const config = await load(t, { [name]: value });
        assert.equal(config.get(key), value);
        assert.match(config.sourceOf(key), /^user file /);
      });
    }

    for (const value of refuses) {
      it(`must not be ${JSON.stringify(value)}, and the error names the place`, async (t) => {
        await assert.rejects(load(t, { [name]: value as never }), (failure: Error) => {
          assert.match(failure.message, new RegExp(`^\\S+:\\d+:\\d+: .*\`${key}\` must be `));
          return true;
        });
      });
    }
  });
}

describe("the section agent.subagent", () => {
  it("accepts all five settings together, nested as the contract shows them", async (t) => {
    const sandbox = createSandbox(t);
    const lines = [
      "agent:",
      "  subagent:",
      "    max_depth: 5",
      "    default_max_turns: 15",
      "    output_max_size: 8192",
      "    telemetry_enabled: false",
      "    persistence_enabled: true",
    ];
    put(sandbox.userFile, `${lines.join("\n")}\n`);
    const config = await loadConfig(sandbox);
    assert.deepEqual(
      KEYS.map(({ name }) => config.get(`agent.subagent.${name}`)),
      [5, 15, 8192, false, true],
    );
  });

  it("refuses an unknown name", async (t) => {
    await assert.rejects(load(t, { max_depht: 3 }), /max_depht/);
  });

  for (const [name, value] of [
    ["max_executions", 4],
    ["max_total_tokens", 100_000],
    ["max_total_time", 60],
  ] as const) {
    it(`has the quota \`${name}\`, which is unset by default`, async (t) => {
      const key = `agent.subagent.${name}` as const;
      assert.equal((await loadConfig(createSandbox(t))).get(key), undefined);
      assert.equal((await load(t, { [name]: value })).get(key), value);
    });
  }
});

describe("the effects of the settings", () => {
  it("telemetry_enabled decides whether the lifecycle is logged", async (t) => {
    for (const telemetryEnabled of [true, false]) {
      const lines: string[] = [];
      const subagentLog = createLog("subagent", {
        setting: "info",
        clock: createManualClock(),
        redact: createRedact([]),
        write: (line) => lines.push(line),
      });
      await delegate(t, CALL, { subagentLog, delegation: { telemetryEnabled } });
      assert.equal(lines.length, telemetryEnabled ? 2 : 0, lines.join(""));
    }
  });

  it("max_depth decides how deep children nest: at 1 a child starts none", async (t) => {
    const { asked } = await delegate(t, CALL, {
      delegation: { maxDepth: 1 },
      child: (request) =>
        outputsIn(request).length === 0 && request.tools.length > 0
          ? reply.calls([call(CALL)])
          : reply.text("Found."),
    });
    assert.match(outputsIn(asked.at(-1))[0] ?? "", /recursion depth \(1\) exceeded/);
  });

  it("default_max_turns is overridden by the `max_turns` of a call", async (t) => {
    const delegation = { defaultMaxTurns: 15 };
    const { events } = await delegate(t, { ...CALL, max_turns: 4 }, { delegation });
    assert.equal(eventsIn(events, "child_start")[0]?.effective["max_turns"], 4);
  });

  it("max_executions limits the whole session's tree", async (t) => {
    const { envelope, asked } = await delegate(t, CALL, {
      request: { limits: { turns: null, tokens: null, usd: null, tool_calls: null, children: 1 } },
      child: (request) =>
        outputsIn(request).length === 0 && request.tools.length > 0
          ? reply.calls([call(CALL)])
          : reply.text("Found."),
    });
    assert.equal(envelope.success, true);
    const [nested = ""] = asked.flatMap(outputsIn);
    assert.equal(JSON.parse(nested).success, false, nested);
  });
});
