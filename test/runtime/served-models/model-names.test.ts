/** The forms of `server.models`. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../../src/base/json.ts";
import { checkModelNames, toNamedModels } from "../../../src/runtime/served-models/model-names.ts";
import { routeModel } from "../../../src/runtime/served-models/model-routes.ts";

const GPU_1 = "http://gpu-1:8000/v1";
const GPU_2 = "http://gpu-2:8000/v1";
const plain = { provider: null, url: null, api_key_name: null };

function read(row: Json): unknown {
  return toNamedModels(checkModelNames({ fast: row }, "config.yaml"))[0]?.[1];
}

describe("a row of `server.models`", () => {
  it("is a list of deployments, the first of which stands for all", () => {
    const rows = [
      { model: "openai/gpt-5.1-mini", fallback: true },
      { model: "qwen3-8b", url: GPU_1, weight: 2 },
      { model: "qwen3-8b", url: GPU_2 },
    ];
    const own = { model: "custom/qwen3-8b", provider: null, api_key_name: null };
    assert.deepEqual(read(rows), {
      ...own,
      url: GPU_1,
      deployments: [
        { ...plain, model: "openai/gpt-5.1-mini", weight: 1, fallback: true },
        { ...own, url: GPU_1, weight: 2, fallback: false },
        { ...own, url: GPU_2, weight: 1, fallback: false },
      ],
    });
  });

  it("is the same as a single model if the list has one", () => {
    assert.deepEqual(read(["openai/gpt-5.1"]), { ...plain, model: "openai/gpt-5.1" });
  });

  it("uses the address of `--url` for the deployments that have none", () => {
    const named = toNamedModels({ fast: ["custom/a", { model: "custom/a", url: GPU_2 }] });
    const own = { ...plain, vendor: "custom", url: GPU_1 };
    const { url, deployments } = routeModel({ named, usual: undefined, own }, "fast");
    assert.deepEqual([url, ...(deployments ?? []).map((one) => one.url)], [GPU_1, GPU_1, GPU_2]);
  });

  const wrong: readonly [Json, string][] = [
    [[], "At least one deployment must be listed that is not a `fallback`."],
    [
      [{ model: "openai/a", fallback: true }],
      "At least one deployment must be listed that is not a `fallback`.",
    ],
    [[{ model: "openai/a", weight: 0 }], "Row 1: `weight` must be a number above 0."],
    [
      ["openai/a", { model: "openai/b", fallback: "yes" }],
      "Row 2: `fallback` must be `true` or `false`.",
    ],
    [
      ["openai/a", { model: "openai/b", fallback: true, weight: 2 }],
      "Row 2: `weight` and `fallback` exclude each other: fallbacks are asked in their order.",
    ],
    [
      ["openai/a", "openai/b", "openai/a"],
      "Rows 1 and 3 are the same deployment. Give one of them a larger `weight`.",
    ],
    [["openai/a", { url: GPU_1 }], "Row 2: `model` is missing."],
    [[{ model: "openai/a", wieght: 2 }], "Row 1: There is no `wieght`. Did you mean `weight`?"],
    [
      { model: "openai/a", weight: 2 },
      "`weight` belongs to one of several deployments: write the rows as a list.",
    ],
    [
      7,
      "It must be `vendor/model`, or a map with model, provider, url, api_key_name, or a list of these.",
    ],
  ];
  for (const [row, reason] of wrong) {
    it(`is refused: ${JSON.stringify(row)}`, () => {
      assert.throws(() => checkModelNames({ fast: row }, "config.yaml"), {
        message: `config.yaml: \`fast\`: ${reason}`,
      });
    });
  }
});
