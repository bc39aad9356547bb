/** `offshoot templates`: the prompt templates of the user and of the project. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { readNotesFile } from "../../base/notes-file.ts";
import { clip } from "../../base/text.ts";
import { PROJECT_FILE, projectConfigFile, userPaths } from "../../runtime/paths.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openTemplates, toTemplatesFolder, unknown } from "../open-templates.ts";
import { type FoundTemplate, toFile } from "../templates/load-templates.ts";
import { TEMPLATE_NAME, toNewTemplate } from "../templates/template.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  const [action = "list", name, extra] = words;
  const unwanted = extra ?? (action === "list" ? name : undefined);
  if (unwanted !== undefined || (action !== "list" && name === undefined)) {
    const line = `offshoot templates ${action}${action === "list" ? "" : " NAME"}`;
    throw new Failure("invalid_request", `Write \`${line}\`.`);
  }
  const act = ACTIONS[action] ?? list;
  const isJson = options["json"] === true;
  return await act({ io, name: name ?? "", isJson, isProject: options["project"] === true });
};

interface Action {
  readonly io: Io;
  readonly name: string;
  readonly isJson: boolean;
  readonly isProject: boolean;
}

const ACTIONS: Readonly<Record<string, ((action: Action) => Promise<number>) | undefined>> = {
  list,
  show,
  new: create,
  trust: trustTemplate,
  untrust: untrustTemplate,
};

const STANDINGS = {
  used: "",
  shadowed: "another one of this name is used",
  broken: "broken",
} as const;

async function list({ io, isJson }: Action): Promise<number> {
  const { found } = await openTemplates(io);
  if (isJson) return await printJson(io, found.map(toShown));
  if (found.length === 0) {
    await io.stderr.write("No templates yet. Make one: offshoot templates new NAME\n");
  }
  const width = Math.max(0, ...found.map(({ name }) => name.length));
  for (const { name, scope, standing, template, problem } of found) {
    const mark = STANDINGS[standing] === "" ? "" : ` (${STANDINGS[standing]})`;
    const text = clip(template?.description ?? problem, 100);
    const line = `${name.padEnd(width)}  ${scope.padEnd(7)}  ${text}${mark}`;
    await io.stdout.write(`${toOneLine(line).trimEnd()}\n`);
  }
  return 0;
}

async function show({ io, name, isJson }: Action): Promise<number> {
  const one = await find(name, io);
  if (isJson) return await printJson(io, { ...toShown(one), text: one.template?.text ?? null });
  const { template, trusted } = one;
  const variables = [...(template?.variables ?? [])].map(([key, value]) =>
    value === undefined ? `${key} (must be given)` : `${key} (${value})`,
  );
  const model = template?.model ?? "the one of the settings";
  const rows: readonly (readonly [string, string])[] = [
    ["file", one.path],
    ["standing", STANDINGS[one.standing] || "used"],
    ...(one.problem === "" ? [] : [["problem", one.problem] as const]),
    ["description", template?.description || "-"],
    ["model", trusted || template?.model === undefined ? model : `${model} (not trusted: ignored)`],
    ["variables", variables.join(", ") || "none"],
  ];
  for (const [key, value] of rows) {
    await io.stdout.write(`${key.padEnd(11)}  ${toOneLine(value)}\n`);
  }
  if (template) await io.stdout.write(`\n${cleanForTerminal(template.text)}\n`);
  return 0;
}

async function find(name: string, io: Io): Promise<FoundTemplate> {
  const { found } = await openTemplates(io);
  const named = found.filter((one) => one.name === name);
  const best = named.find(({ standing }) => standing === "used") ?? named[0];
  if (best) return best;
  throw unknown(name, found);
}

async function create({ io, name, isProject }: Action): Promise<number> {
  if (!TEMPLATE_NAME.test(name)) {
    const message = `\`${clip(name, 64)}\` cannot be a template's name: use small letters, digits, \`-\` and \`_\`.`;
    throw new Failure("invalid_request", message);
  }
  const path = join(isProject ? toProjectFolder(io) : toTemplatesFolder(io), `${name}.md`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, toNewTemplate(name), { flag: "wx" });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "exists already" : `cannot be written (${code})`;
    throw new Failure("invalid_request", `${path} ${reason}.`, { cause });
  }
  await io.stdout.write(`Created ${path}. Edit it, then: offshoot run -t ${name} "…"\n`);
  return 0;
}

/** Beside the project's settings if there are any, else in this folder. */
function toProjectFolder({ cwd, home }: Io): string {
  if (resolve(cwd) === resolve(home)) {
    throw new Failure(
      "invalid_request",
      "The home folder is not a project. Leave `--project` out.",
    );
  }
  const file = projectConfigFile(cwd, home) ?? join(resolve(cwd), PROJECT_FILE);
  return join(dirname(file), "templates");
}

async function trustTemplate({ io, name }: Action): Promise<number> {
  const { path, scope, template } = await find(name, io);
  if (scope === "user") {
    throw new Failure("invalid_request", `${path} is your own file: it needs no trust.`);
  }
  const read = await readNotesFile(path, { root: dirname(path), uid: process.getuid?.() });
  if (!template || !read || "refused" in read) throw unknown(name, (await openTemplates(io)).found);
  const { trust } = await import("../../runtime/trust.ts");
  await trust(userPaths(io.env, io.home).trustFile, toFile(path, read.text));
  await io.stdout.write(`${path} is now trusted. Trust it again after you change it.\n`);
  return 0;
}

async function untrustTemplate({ io, name }: Action): Promise<number> {
  const { path } = await find(name, io);
  const { untrust } = await import("../../runtime/trust.ts");
  const wasTrusted = await untrust(userPaths(io.env, io.home).trustFile, path);
  await io.stdout.write(`${path} ${wasTrusted ? "is no longer trusted" : "was not trusted"}.\n`);
  return 0;
}

function toShown({
  name,
  scope,
  path,
  standing,
  template,
  problem,
  trusted,
}: FoundTemplate): object {
  const { description = null, model = null, variables = [] } = template ?? {};
  const named = [...variables].map(([key, value]) => [key, value ?? null]);
  const shown = { name, scope, path, standing, description, model, trusted, problem };
  return { ...shown, variables: Object.fromEntries(named) };
}

async function printJson(io: Io, value: unknown): Promise<number> {
  await io.stdout.write(`${JSON.stringify(value)}\n`);
  return 0;
}
