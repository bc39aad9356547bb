/**
 * Every built-in tool, one row each. Only what a tool takes is loaded with it; what it does comes with
 * its first call.
 */

import { shellTool } from "./commands/shell.ts";
import { terminalTool } from "./commands/terminal.ts";
import { bashFindTool } from "./files/bash-find.ts";
import { bashReadTool } from "./files/bash-read.ts";
import { bashRipgrepTool } from "./files/bash-ripgrep.ts";
import { editTool } from "./files/edit.ts";
import { fileOpsTool } from "./files/file-ops.ts";
import { globTool } from "./files/glob.ts";
import { grepTool } from "./files/grep.ts";
import { readTool } from "./files/read.ts";
import { writeTool } from "./files/write.ts";
import { createPythonTool, type PythonOptions } from "./python/python-execute.ts";
import type { Skill } from "./skills/skill.ts";
import { createSkillTool } from "./skills/skill-tool.ts";
import type { Tool } from "./tool.ts";
import { createFetchTool } from "./web/fetch.ts";
import type { WebSettings } from "./web/network/open-web.ts";
import { createScrapeWebpageTool } from "./web/scrape-webpage.ts";
import { createSearchWebTool, type SearchSettings } from "./web/search-web.ts";

export interface CatalogueRow {
  readonly tool: Tool;
  /** Whether it is offered when no tools are named: one tool for each thing that can be done. */
  readonly isUsual: boolean;
}

export interface CatalogueSettings {
  readonly python: PythonOptions;
  readonly web: WebSettings;
  readonly search: SearchSettings;
  /** What the tool `skill` loads; without any there is no such tool. */
  readonly skills: readonly Skill[];
}

export function createCatalogue(settings: CatalogueSettings): CatalogueRow[] {
  const { python, web, search, skills } = settings;
  return [
    usual(readTool),
    usual(writeTool),
    usual(editTool),
    usual(bashFindTool),
    usual(bashRipgrepTool),
    usual(shellTool),
    usual(createPythonTool(python)),
    usual(createSearchWebTool({ ...search, web })),
    usual(createFetchTool(web)),
    ...(skills.length > 0 ? [usual(createSkillTool(skills))] : []),
    alias(bashReadTool),
    alias(globTool),
    alias(grepTool),
    alias(fileOpsTool),
    alias(terminalTool),
    alias(createScrapeWebpageTool(web)),
  ];
}

const usual = (tool: Tool): CatalogueRow => ({ tool, isUsual: true });
const alias = (tool: Tool): CatalogueRow => ({ tool, isUsual: false });

export const CATALOGUE_DEFAULTS: CatalogueSettings = {
  python: { host: false, wheels: undefined, index: undefined, mounts: [] },
  web: { userAgent: "offshoot", privateHosts: [], respectRobots: true },
  search: { provider: undefined, url: undefined, env: {} },
  skills: [],
};

/** As it is when nothing is set. */
export const CATALOGUE: readonly CatalogueRow[] = createCatalogue(CATALOGUE_DEFAULTS);
