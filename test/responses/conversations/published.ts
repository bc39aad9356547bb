/** Objects held against the published description of the API. */

import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { readShared } from "../../protocol/shared-files.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
ajv.addSchema(JSON.parse(readShared("oracles/openai.openapi.json")) as object, "oracle");

const validators = new Map<string, ValidateFunction>();

/** `schema` is a name under `components.schemas`. The value is checked as it goes over the wire. */
export function assertPublished(schema: string, value: unknown): void {
  const known = validators.get(schema);
  const validate = known ?? ajv.compile({ $ref: `oracle#/components/schemas/${schema}` });
  validators.set(schema, validate);
  const sent: unknown = JSON.parse(JSON.stringify(value));
  if (validate(sent)) return;
  const problems = validate.errors?.map(
    ({ instancePath, message }) => `${instancePath} ${message}`,
  );
  assert.fail(`${JSON.stringify(sent)} is no ${schema}: ${problems?.join("; ")}`);
}
