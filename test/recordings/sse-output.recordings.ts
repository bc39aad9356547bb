/** The SSE form of a structured answer is the example of the founding document, word for word. */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { createSseOutput } from "../../src/cli/output/sse-output.ts";
import { project } from "../cli/output/screen.ts";
import { message, runEnd, runStart, turn } from "../responses/logged-run.ts";
import { readFoundingDocument } from "./folder.ts";

it("ends a structured answer with the frames of the founding document", async () => {
  const document = readFoundingDocument("000");
  const example =
    /^SSE example\n```\n([\s\S]*?)```/m.exec(document)?.[1] ?? assert.fail("no example");
  const data = /^data: (.*)$/m.exec(example)?.[1] ?? assert.fail("no data");
  const { delta } = JSON.parse(data) as { delta: string };
  const log = [
    runStart(),
    ...turn(1, ...message(0, delta.slice(0, 5), delta.slice(5))),
    runEnd({ output_json: JSON.parse(delta) as Json }),
  ];
  const { stdout } = await project(createSseOutput, log, { isStructured: true });
  assert.equal(stdout, `${example}\n`);
});
