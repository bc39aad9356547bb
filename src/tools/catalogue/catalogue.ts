/**
 * Every built-in tool, one row each. A tool's arguments are loaded with its row, its code with its first
 * call.
 */

import { shellTool } from "../commands/shell.ts";
import { terminalTool } from "../commands/terminal.ts";
import { bashFindTool } from "../files/bash-find.ts";
import { bashReadTool } from "../files/bash-read.ts";
import { bashRipgrepTool } from "../files/bash-ripgrep.ts";
import { editTool } from "../files/edit.ts";
import { fileOpsTool } from "../files/file-ops.ts";
import { globTool } from "../files/glob.ts";
import { grepTool } from "../files/grep.ts";
import { readTool } from "../files/read.ts";
import { writeTool } from "../files/write.ts";
import { createPythonTool } from "../python/python-execute.ts";
import type { PythonOptions } from "../python/run-python.ts";
import type { Skill } from "../skills/skill.ts";
import { createSkillTool } from "../skills/skill-tool.ts";
import type { Tool } from "../tool.ts";
import { createFetchTool } from "../web/fetch.ts";
import type { WebSettings } from "../web/network/open-web.ts";
import { createScrapeWebpageTool } from "../web/scrape-webpage.ts";
import { createSearchWebTool, type WebSearchSettings } from "../web/search-web.ts";

export interface CatalogueRow {
  readonly tool: Tool;
  /** True if it is offered when no tools are named: one tool for each kind of work. */
  readonly isUsual: boolean;
}

export interface CatalogueSettings {
  readonly python: PythonOptions;
  readonly web: WebSettings;
  readonly search: WebSearchSettings;
  /** The skills that the tool `skill` can load. Without any, the tool does not exist. */
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

/** The catalogue without any settings. */
export const CATALOGUE: readonly CatalogueRow[] = createCatalogue(CATALOGUE_DEFAULTS);
