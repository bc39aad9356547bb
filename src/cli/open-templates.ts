/** Finds the prompt templates for a command, and the one that a run uses. */

import { dirname, join } from "node:path";
import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { AgentLayer } from "../runtime/config/config.ts";
import { userPaths } from "../runtime/paths.ts";
import type { Options } from "./command.ts";
import type { UserTemplate } from "./input.ts";
import type { Io } from "./io.ts";
import {
  type FoundTemplate,
  type LoadedTemplates,
  loadTemplates,
  toTemplatePlaces,
} from "./templates/load-templates.ts";
import { fillTemplate, needsInput, parseVariables, type Template } from "./templates/template.ts";

type Place = Pick<Io, "env" | "home" | "cwd">;

/** In the usual folder of the configuration, even if `OFFSHOOT_CONFIG` names another file. */
export function toTemplatesFolder({ env, home }: Pick<Io, "env" | "home">): string {
  const { configFile } = userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home);
  return join(dirname(configFile), "templates");
}

export async function openTemplates({ env, home, cwd }: Place): Promise<LoadedTemplates> {
  const { standingOf } = await import("../runtime/trust.ts");
  const { trustFile } = userPaths(env, home);
  return await loadTemplates(
    toTemplatePlaces({ userFolder: toTemplatesFolder({ env, home }), cwd, home }),
    {
      uid: process.getuid?.(),
      standingOf: (file) => standingOf(trustFile, file),
    },
  );
}

export interface AskedTemplate extends UserTemplate {
  /** The template's model as a layer of the settings; undefined if it names none, or may not. */
  readonly layer: AgentLayer | undefined;
  /** Templates that were left out and why, for standard error. */
  readonly warnings: readonly string[];
}

/**
 * Undefined if no template is named. Rejects a template that does not exist or is invalid, and `--var` without one.
 */
export async function findTemplate(
  options: Options,
  place: Place,
): Promise<AskedTemplate | undefined> {
  const { template: name, var: given } = options;
  const texts = Array.isArray(given) ? given : [];
  if (typeof name !== "string") {
    if (texts.length === 0) return undefined;
    throw new Failure("invalid_request", "`--var` is for a template: give -t NAME too.");
  }
  const variables = parseVariables(texts);
  const loaded = await openTemplates(place);
  const found = loaded.found.find((one) => one.name === name && one.standing === "used");
  const template = loaded.templates.find((one) => one.name === name);
  if (!found || !template) throw unknown(name, loaded.found);
  const left = found.template?.model !== undefined && template.model === undefined;
  return {
    name,
    needsInput: needsInput(template),
    fill: (input) => fillTemplate(template, variables, input),
    layer: toLayer(template),
    warnings: left
      ? [
          `The template \`${name}\` of the project is not trusted, so its \`model\` is ignored. Look at ${found.path}, then run \`offshoot templates trust ${name}\`.`,
        ]
      : [],
  };
}

function toLayer({ name, model }: Template): AgentLayer | undefined {
  if (model === undefined) return undefined;
  return { source: `template ${name}`, settings: new Map([["model", model]]) };
}

export function unknown(name: string, found: readonly FoundTemplate[]): Failure {
  const broken = found.find((one) => one.name === name && one.standing === "broken");
  if (broken) {
    const message = `The template \`${name}\` cannot be used: ${broken.path} ${broken.problem}.`;
    return new Failure("invalid_request", message, { param: "template" });
  }
  const names = [...new Set(found.map((one) => one.name))].sort();
  const near = nearest(name, names);
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  const there =
    names.length === 0
      ? " There are none yet: offshoot templates new NAME."
      : ` Available: ${clip(names.join(", "), 200)}.`;
  const message = `Unknown template \`${clip(name, 64)}\`.${hint}${there}`;
  return new Failure("invalid_request", message, { param: "template" });
}
