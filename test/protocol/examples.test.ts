/** Every kind of value of the API parses, and nothing of it is lost. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Annotation, ContentPart, PART_TYPES } from "../../src/protocol/content.ts";
import { InputItem, ITEM_TYPES, Item } from "../../src/protocol/items.ts";
import { CreateResponse, ReasoningConfig, TextConfig } from "../../src/protocol/request.ts";
import { Response } from "../../src/protocol/response.ts";
import { TOOL_TYPES, Tool } from "../../src/protocol/tools.ts";
import { describeExamples, type ExampleGroup, typeOf } from "./example-suite.ts";
import {
  ANNOTATIONS,
  EASY_ITEMS,
  ITEMS,
  LISTS,
  PARTS,
  REASONING,
  REQUESTS,
  RESPONSES,
  TEXTS,
  TOOLS,
} from "./examples.ts";

const ANNOTATION_TYPES = ["url_citation", "file_citation", "container_file_citation", "file_path"];

const GROUPS: Readonly<Record<string, ExampleGroup>> = {
  items: { schema: Item, types: ITEM_TYPES, examples: ITEMS },
  "items of input": { schema: InputItem, types: ITEM_TYPES, examples: [...ITEMS, ...EASY_ITEMS] },
  "content parts": { schema: ContentPart, types: PART_TYPES, examples: PARTS },
  annotations: { schema: Annotation, types: ANNOTATION_TYPES, examples: ANNOTATIONS },
  tools: { schema: Tool, types: TOOL_TYPES, examples: TOOLS },
  "formats of text": { schema: TextConfig, examples: TEXTS },
  reasoning: { schema: ReasoningConfig, examples: REASONING },
  requests: { schema: CreateResponse, examples: REQUESTS },
  responses: { schema: Response, examples: RESPONSES },
  "lists of items": { schema: z.looseObject({ data: z.array(Item) }), examples: LISTS },
};

describeExamples("examples of the API", GROUPS);

describe("examples of the API", () => {
  for (const [name, { types, examples }] of Object.entries(GROUPS)) {
    if (!types) continue;
    it(`include one for each kind: ${name}`, () => {
      const found = new Set(examples.map(typeOf));
      assert.deepEqual(
        types.filter((type) => !found.has(type)),
        [],
      );
    });
  }
});
