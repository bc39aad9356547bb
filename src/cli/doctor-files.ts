/**
 * The checks of `offshoot doctor` for the user's files: stored keys, aliases, templates, AGENTS.md and skills. None
 * shows the value of a key, or asks the keyring for one.
 */

import { dirname } from "node:path";
import { parseModelRef } from "../providers/models/model-ref.ts";
import { findKeyring } from "../runtime/auth/keyring.ts";
import type { Config } from "../runtime/config/config.ts";
import { catalogOf } from "../runtime/model-address.ts";
import { userPaths } from "../runtime/paths.ts";
import { readProjectNotes } from "../runtime/prompt/project-notes.ts";
import type { DoctorCheck, DoctorSurroundings } from "./doctor-check.ts";
import { keyStoreOf } from "./open-keys.ts";
import { openSkills } from "./open-skills.ts";
import { openTemplates } from "./open-templates.ts";

/**
 * The place and the names of stored keys. A bad file or mode counts as broken, because runs fail for it.
 */
export async function checkStoredKeys(around: DoctorSurroundings): Promise<DoctorCheck[]> {
  const { entries, problems } = await (await keyStoreOf(around)).list();
  const { authDir } = userPaths(around.env, around.home);
  const name = "stored keys";
  const faults = problems.map((problem): DoctorCheck => {
    const [found = problem, advice] = problem.split(/\. (?=Run |Remove )/);
    return { name, status: "broken", found, advice };
  });
  const listed = entries.map(({ variable, place }) => {
    const isHidden = Boolean(around.env[variable]?.trim());
    return `${variable} (${place}${isHidden ? ", the environment's wins" : ""})`;
  });
  const found = listed.length > 0 ? `${listed.join(", ")} in ${authDir}` : "none";
  if (faults.length > 0 && listed.length === 0) return faults;
  return [{ name, status: "ok", found, advice: undefined }, ...faults];
}

/**
 * Where the next key would be stored. The keyring's program is not asked here: that could open a window.
 */
export function checkKeyStore(
  { env }: DoctorSurroundings,
  config: Config | undefined,
): DoctorCheck {
  const wish = config?.get("key_store") ?? "auto";
  const keyring = findKeyring(env, process.platform);
  const name = "key store";
  if (wish === "keyring" && !keyring) {
    const advice =
      "Install `secret-tool` (libsecret-tools), or run `offshoot config set key_store file`.";
    return { name, status: "gap", found: "`keyring`, and this system has none", advice };
  }
  const auto = keyring ? `${keyring.name} where it answers, else files` : "files (no keyring here)";
  return { name, status: "ok", found: wish === "auto" ? auto : wish, advice: undefined };
}

/** An alias is looked up when it is used. Here the user learns before that it names nothing. */
export function checkAliases(config: Config | undefined): DoctorCheck[] {
  const aliases = Object.entries(config?.get("aliases") ?? {});
  if (!config || aliases.length === 0) return [];
  const catalog = catalogOf(config);
  return aliases.flatMap(([alias, model]): DoctorCheck[] => {
    try {
      parseModelRef(String(model), undefined, catalog);
      return [];
    } catch {
      const found = `\`${alias}\` names ${String(model)}, whose vendor is unknown`;
      const advice = `Correct \`aliases\` (${config.sourceOf("aliases")}).`;
      return [{ name: "aliases", status: "gap", found, advice }];
    }
  });
}

/** Templates that cannot be used. */
export async function checkTemplates(around: DoctorSurroundings): Promise<DoctorCheck[]> {
  const { found } = await openTemplates(around);
  return found
    .filter(({ standing }) => standing === "broken")
    .map(({ path, problem }) => ({
      ...({ name: "templates", status: "gap", found: `${path} ${problem}` } as const),
      advice: "Correct it: `run -t` refuses it until then.",
    }));
}

/** What goes into the prompt of a model: AGENTS.md and skills that are refused, shortened or too large. */
export async function checkNotes(
  { env, home, cwd }: DoctorSurroundings,
  config: Config | undefined,
): Promise<DoctorCheck[]> {
  const { configFile } = userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home);
  const search = { cwd, home, userFolder: dirname(configFile), uid: process.getuid?.() };
  const notes =
    config?.get("project_notes") === false
      ? { parts: [], warnings: [] }
      : await readProjectNotes(search);
  const skills =
    config?.get("skills") === false
      ? { skills: [], warnings: [] }
      : await openSkills({ env, home, cwd });
  const used = notes.parts.filter(({ text }) => text !== "").map(({ source }) => source);
  return [
    toCheck("project notes", used.join(", ") || "no AGENTS.md"),
    ...notes.warnings.map((warning) => toCheck("project notes", warning, "gap")),
    toCheck("skills", skills.skills.map(({ name }) => name).join(", ") || "none"),
    ...skills.warnings.map((warning) => toCheck("skills", warning, "gap")),
  ];
}

function toCheck(name: string, found: string, status: DoctorCheck["status"] = "ok"): DoctorCheck {
  return { name, status, found, advice: undefined };
}
