/**
 * Finds the prompt templates of the user and of the project. For a name in both, the user's own is used. A project's
 * template is text: its model is ignored until the user has trusted the file as it is.
 */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, parse, resolve } from "node:path";
import { readNotesFile } from "../../base/notes-file.ts";
import type { Standing } from "../../runtime/trust.ts";
import { parseTemplate, TEMPLATE_NAME, type Template } from "./template.ts";

export interface TemplatePlace {
  readonly scope: "user" | "project";
  readonly folder: string;
}

export interface FoundTemplate {
  readonly name: string;
  readonly scope: TemplatePlace["scope"];
  readonly path: string;
  /** `shadowed`: an earlier file has the same name. */
  readonly standing: "used" | "shadowed" | "broken";
  /** Undefined if the file is invalid. */
  readonly template: Template | undefined;
  /** The template's problem; empty if there is none. */
  readonly problem: string;
  /** True if its model is used. */
  readonly trusted: boolean;
}

export interface LoadedTemplates {
  /** Templates that are used, by name. */
  readonly templates: readonly Template[];
  readonly found: readonly FoundTemplate[];
}

interface Surroundings {
  readonly userFolder: string;
  readonly cwd: string;
  readonly home: string;
}

const PROJECT_FOLDER = join(".offshoot", "templates");

/**
 * In order of precedence. The search for a project ends with the folder that contains `.git`, and before the home
 * folder.
 */
export function toTemplatePlaces({ userFolder, cwd, home }: Surroundings): TemplatePlace[] {
  const folders: string[] = [];
  for (let at = resolve(cwd); at !== resolve(home); at = dirname(at)) {
    folders.push(join(at, PROJECT_FOLDER));
    if (existsSync(join(at, ".git")) || at === dirname(at)) break;
  }
  return [
    { scope: "user", folder: userFolder },
    ...folders.map((folder) => ({ scope: "project", folder }) as const),
  ];
}

interface Reading {
  readonly uid: number | undefined;
  standingOf(file: { readonly path: string; readonly bytes: Buffer }): Promise<Standing>;
}

/** The most templates of one place; a folder with more holds something else. */
const MAX_TEMPLATES = 200;

export async function loadTemplates(
  places: readonly TemplatePlace[],
  reading: Reading,
): Promise<LoadedTemplates> {
  const found: FoundTemplate[] = [];
  const taken = new Set<string>();
  for (const place of places) {
    for (const name of await listNames(place.folder)) {
      const one = await readTemplate(name, place, reading);
      if (!one) continue;
      const isTaken = one.standing === "used" && taken.has(name);
      found.push(isTaken ? { ...one, standing: "shadowed" } : one);
      if (one.standing === "used") taken.add(name);
    }
  }
  const templates = found.flatMap(({ standing, template, trusted }) => {
    if (standing !== "used" || !template) return [];
    return [trusted ? template : { ...template, model: undefined }];
  });
  return { templates, found };
}

async function listNames(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  const names = files.filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3));
  return names
    .filter((name) => TEMPLATE_NAME.test(name))
    .sort()
    .slice(0, MAX_TEMPLATES);
}

async function readTemplate(
  name: string,
  { scope, folder }: TemplatePlace,
  { uid, standingOf }: Reading,
): Promise<FoundTemplate | undefined> {
  const path = join(folder, `${name}.md`);
  // The user's own may be anywhere; a link in a project must not lead out of its folder.
  const root = scope === "user" ? parse(resolve(folder)).root : folder;
  const read = await readNotesFile(path, { root, uid });
  if (!read) return undefined;
  const broken = { name, scope, path, standing: "broken", template: undefined } as const;
  if ("refused" in read) return { ...broken, problem: read.refused, trusted: false };
  const parsed = await parseTemplate(name, read.text);
  if ("problem" in parsed) return { ...broken, problem: parsed.problem, trusted: false };
  const trusted = scope === "user" || (await standingOf(toFile(path, read.text))) === "trusted";
  return { name, scope, path, standing: "used", template: parsed, problem: "", trusted };
}

/** Trust is bound to the text as it was read. */
export function toFile(path: string, text: string): { path: string; bytes: Buffer } {
  return { path, bytes: Buffer.from(text) };
}
