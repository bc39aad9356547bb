import assert from "node:assert/strict";
import { it } from "node:test";
import { createRedact } from "../../../src/base/redact.ts";
import { toSettingViews } from "../../../src/runtime/config/setting-views.ts";

it("settings shown to other clients hide headers, variables and secrets, and show the rest", () => {
  const entries = () => [
    { name: "model" as const, value: "openai/gpt", source: "user file" },
    { name: "max_turns" as const, value: undefined, source: "default" },
    {
      name: "vendors" as const,
      value: {
        gpu: {
          url: "http://gpu/v1?key=sk-secret-1",
          headers: { "x-team": "sesame" },
          token: "abc",
          api_key_name: "GPU_KEY",
          weight: 2,
        },
      },
      source: "user file",
    },
  ];
  const views = toSettingViews({ entries }, createRedact(["sk-secret-1"]));
  const text = JSON.stringify(views);
  for (const secret of ["sk-secret-1", "sesame", "abc"]) assert.ok(!text.includes(secret), secret);
  for (const shown of ["GPU_KEY", "x-team", '"weight":2', "user file"]) {
    assert.ok(text.includes(shown), shown);
  }
  assert.deepEqual([views[1]?.value, typeof views[0]?.summary], [null, "string"]);
});
