/**
 * Checks by the compiler that every body we can write is one of Google's own package. `Written` turns the
 * package's types into those of JSON, where an enum is its words and a list may be read-only.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
  Content,
  GenerateContentConfig,
  GenerationConfig,
  Part,
  Tool,
  ToolConfig,
} from "@google/genai";
import { toGeminiRequest } from "../../../../src/providers/gemini/encode.ts";
import type {
  GeminiContent,
  GeminiGenerationConfig,
  GeminiPart,
  GeminiRequest,
  GeminiTool,
  GeminiToolConfig,
} from "../../../../src/providers/gemini/schema.ts";
import { request } from "../../../providers/provider-contract.ts";

type Written<Value> = Value extends string
  ? `${Value}`
  : Value extends readonly (infer Entry)[]
    ? readonly Written<Entry>[]
    : Value extends (...args: never[]) => unknown
      ? never
      : Value extends object
        ? { readonly [Name in keyof Value]: Written<Value[Name]> }
        : Value;

/** The body on the wire: the package divides the top level into `contents` and `config`. */
interface Body {
  readonly contents: readonly Written<Content>[];
  readonly systemInstruction?: Written<Content>;
  readonly tools?: readonly Written<Tool>[];
  readonly toolConfig?: Written<ToolConfig>;
  readonly generationConfig?: Written<GenerationConfig>;
  readonly continuationToken?: NonNullable<GenerateContentConfig["continuationToken"]>;
  readonly serviceTier?: Written<NonNullable<GenerateContentConfig["serviceTier"]>>;
}

/** Fields of ours that the package does not have: there must be none. */
type Extra<Ours, Theirs> = Exclude<keyof Ours, keyof Theirs>;

type Data<Kind extends keyof Part & keyof GeminiPart> = readonly [
  NonNullable<GeminiPart[Kind]>,
  NonNullable<Part[Kind]>,
];
type ExtraIn<Pair extends readonly [unknown, unknown]> = Extra<Pair[0], Pair[1]>;

type Extras =
  | Extra<GeminiRequest, Body>
  | Extra<GeminiContent, Content>
  | Extra<GeminiPart, Part>
  | ExtraIn<Data<"functionCall">>
  | ExtraIn<Data<"functionResponse">>
  | ExtraIn<Data<"inlineData">>
  | ExtraIn<Data<"fileData">>
  | Extra<GeminiTool, Tool>
  | Extra<
      NonNullable<GeminiTool["functionDeclarations"]>[number],
      NonNullable<Tool["functionDeclarations"]>[number]
    >
  | Extra<GeminiToolConfig, ToolConfig>
  | Extra<GeminiGenerationConfig, GenerationConfig>
  | Extra<
      NonNullable<GeminiGenerationConfig["thinkingConfig"]>,
      NonNullable<GenerationConfig["thinkingConfig"]>
    >;

describe("a gemini body and Google's package", () => {
  it("have the same types", () => {
    const body: Body = toGeminiRequest(request(), "studio");
    const isSame: [Extras] extends [never] ? true : Extras = true;
    assert.ok(isSame && body.contents.length === 1);
  });
});
