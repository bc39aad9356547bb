import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLog, type Log, silentLog } from "../../src/base/log.ts";
import { createRedact } from "../../src/base/redact.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";

const LEVELS = ["error", "warn", "info", "debug"] as const;

function setUp(area: string, setting: string | undefined): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog(area, {
    setting,
    clock: createManualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
    redact: createRedact(["hunter2-hunter2"]),
    write: (line) => void lines.push(line),
  });
  return { log, lines };
}

describe("log", () => {
  it("writes time, level, area, fields and message on one line", () => {
    const { log, lines } = setUp("http", "info");
    log.info("answered", { status: 200, url: "/v1/models", why: "so it is", list: [1], no: null });
    assert.deepEqual(lines, [
      '2026-01-02T03:04:05.006Z info http status=200 url=/v1/models why="so it is" list=[1] no=null answered\n',
    ]);
  });

  it("quotes a value that could be read as another field", () => {
    const { log, lines } = setUp("http", "info");
    log.info("m", { a: "x=1", b: 'say "hi"', c: "two\nlines" });
    assert.match(lines[0] ?? "", /a="x=1" b="say \\"hi\\"" c="two\\nlines" m\n$/);
  });

  const settings: readonly [setting: string | undefined, area: string, shown: number][] = [
    [undefined, "http", 0],
    ["", "http", 0],
    ["off", "http", 0],
    ["error", "http", 1],
    ["warn", "http", 2],
    ["info", "http", 3],
    ["debug", "http", 4],
    ["loud", "http", 0],
    ["http=debug", "http", 4],
    ["http=debug", "engine", 0],
    ["http=debug,engine=info", "engine", 3],
    ["warn,http=debug", "http", 4],
    ["warn,http=debug", "engine", 2],
    ["http=debug,warn", "engine", 2],
    ["debug,http=off", "http", 0],
    [" warn , http = x", "http", 2],
  ];
  for (const [setting, area, shown] of settings) {
    it(`shows ${shown} of four levels of ${area} for ${JSON.stringify(setting)}`, () => {
      const { log, lines } = setUp(area, setting);
      for (const level of LEVELS) log[level](level);
      assert.deepEqual(
        lines.map((line) => line.trim().split(" ").at(-1)),
        LEVELS.slice(0, shown),
      );
    });
  }

  it("lets no secret through, in the message or in a field", () => {
    const { log, lines } = setUp("http", "debug");
    log.debug("sent hunter2-hunter2", { key: "hunter2-hunter2" });
    assert.ok(!lines.join("").includes("hunter2"));
  });

  it("writes nothing when it is switched off", () => {
    for (const level of LEVELS) assert.equal(silentLog[level]("nothing"), undefined);
  });
});
