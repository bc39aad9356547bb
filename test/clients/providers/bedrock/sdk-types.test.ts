/**
 * The body is what the vendor's own package would send. The compiler is the test: the package's type of the
 * request, with bytes as the base64 they are in JSON, must accept every body that our type allows.
 */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { ConverseStreamRequest } from "@aws-sdk/client-bedrock-runtime";
import type { Json } from "../../../../src/base/json.ts";
import type { ConverseBody } from "../../../../src/providers/bedrock/schema.ts";
import { encode } from "../../../providers/bedrock/converse.ts";

/** The package's type for any JSON. */
type Document = NonNullable<ConverseStreamRequest["additionalModelRequestFields"]>;

/** A type of the package in its JSON form. */
type InJson<Given> = [Document] extends [Given]
  ? Json | Extract<Given, undefined>
  : Given extends Uint8Array
    ? string
    : Given extends readonly (infer Entry)[]
      ? readonly InJson<Entry>[]
      : Given extends object
        ? { readonly [Key in keyof Given]: InJson<Given[Key]> }
        : Given;

type SdkBody = InJson<Omit<ConverseStreamRequest, "modelId">>;

const toSdk = (body: ConverseBody): SdkBody => body;

// Fields that the package does not know are errors here, and only here: a type may always have more.
type Unknown = Exclude<keyof ConverseBody, keyof SdkBody>;
const unknown: readonly Unknown[] = [] satisfies readonly never[];

it("a converse body is one of the vendor's own package", () => {
  assert.equal(toSdk(encode()).messages?.length, 1);
  assert.deepEqual(unknown, []);
});
