/** Every example of the founding reference of the Responses API parses, and nothing of it is lost. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { z } from "zod";
import type { Json } from "../../src/base/json.ts";
import { Annotation, ContentPart, PART_TYPES } from "../../src/protocol/content.ts";
import { InputItem, ITEM_TYPES, Item } from "../../src/protocol/items.ts";
import { CreateResponse, ReasoningConfig, TextConfig } from "../../src/protocol/request.ts";
import { Response } from "../../src/protocol/response.ts";
import { TOOL_TYPES, Tool } from "../../src/protocol/tools.ts";
import { describeExamples, type ExampleGroup } from "../protocol/example-suite.ts";
import { readFoundingDocument } from "./folder.ts";

interface Section extends Omit<ExampleGroup, "examples"> {
  /** How many examples the section has; one that disappears unseen would test nothing. */
  readonly count: number;
}

const SECTIONS: Readonly<Record<string, Section>> = {
  "`reasoning` Object": { schema: ReasoningConfig, count: 1 },
  "`text` Object (Response Format)": { schema: TextConfig, count: 3 },
  "Input Item Types": { schema: InputItem, count: 6, types: ITEM_TYPES },
  "Content Part Types (for structured content arrays)": {
    schema: ContentPart,
    count: 9,
    types: PART_TYPES,
  },
  "Tool Types": { schema: Tool, count: 7, types: TOOL_TYPES },
  "Output Item Types": { schema: Item, count: 11, types: ITEM_TYPES },
  "Response Object": { schema: Response, count: 1 },
  "GET /v1/responses/{response_id}/input_items": {
    schema: z.looseObject({ data: z.array(Item) }),
    count: 1,
  },
  "Annotations Types": { schema: Annotation, count: 3 },
  "Conversation Object": { schema: CreateResponse, count: 1 },
  "Context Management": { schema: CreateResponse, count: 1 },
};

/** JSON text in quotes, so that what looks like a comment or a brace inside it is left alone. */
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;

/** As many as the longest list of alternatives in an example has members. */
const VARIANTS = [0, 1, 2, 3, 4];

const found = readExamples(readFoundingDocument("004"));

it("finds all examples of the reference", () => {
  const counts = Object.fromEntries([...found].map(([name, blocks]) => [name, blocks.length]));
  const expected = Object.entries(SECTIONS).map(([name, { count }]) => [name, count]);
  assert.deepEqual(counts, Object.fromEntries(expected));
});

const groups = Object.entries(SECTIONS).map(([name, section]): [string, ExampleGroup] => {
  const texts = found.get(name) ?? [];
  const examples = texts.flatMap((text) =>
    VARIANTS.map((variant) => JSON.parse(pickAlternatives(text, variant)) as Json),
  );
  return [name, { ...section, examples }];
});
describeExamples("the reference's examples", Object.fromEntries(groups));

/** Examples by the nearest heading above them that the table knows. */
function readExamples(text: string): Map<string, string[]> {
  const examples = new Map<string, string[]>();
  let section = "";
  for (const [, heading, block] of text.matchAll(/^#+ (.+)$|^```json\n([\s\S]*?)^```/gm)) {
    if (heading !== undefined && SECTIONS[heading]) section = heading;
    if (block === undefined) continue;
    examples.set(section, [...(examples.get(section) ?? []), ...splitDocuments(block)]);
  }
  return examples;
}

/** The top-level objects of a block, without comments. */
function splitDocuments(block: string): string[] {
  const comment = new RegExp(String.raw`(${STRING})|//[^\n]*|/\*[\s\S]*?\*/`, "g");
  const bare = block.replace(comment, (_, text: string | undefined) => text ?? "");
  const documents: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: mark, index } of bare.matchAll(new RegExp(`${STRING}|[{}]`, "g"))) {
    if (mark === "{" && depth++ === 0) start = index;
    if (mark === "}" && --depth === 0) documents.push(bare.slice(start, index + 1));
  }
  return documents;
}

/** Decides every `"a" | "b" | ...` and every range of an example, another way for each variant. */
function pickAlternatives(text: string, variant: number): string {
  const value = String.raw`(?:${STRING}|null|\[\]|\.\.\.)`;
  return text
    .replace(new RegExp(String.raw`${value}(?:\s*\|\s*${value})+`, "g"), (list) => {
      const options = list.split("|").map((option) => option.trim());
      const named = options.filter((option) => option !== "...");
      return named[variant % named.length] ?? "null";
    })
    .replace(/(\d+)-(\d+)(?=,?\n)/g, (_, low: string, high: string) => (variant % 2 ? high : low));
}
