/**
 * Searches the deferred tools, which the model does not see yet: by the names of namespaces, servers and functions,
 * and by words of their descriptions. Pure, and the same whenever it is repeated.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import type { FunctionTool, NamespaceTool, Tool } from "../../protocol/tools.ts";
import { scoreTexts } from "../vector-stores/search-terms.ts";
import type { DeferredTool } from "./tool-kind.ts";

export interface ToolQuery {
  /** Names of namespaces, of servers, or of functions. */
  readonly paths: readonly string[];
  /** Words to search for. */
  readonly query: string;
  /** The most results; undefined for the usual number. */
  readonly limit: number | undefined;
}

/** The results of a search by words that sets no limit; more would make the search useless. */
const USUAL_FOUND = 8;
/** The most results of one search: many providers accept 128 tools in total. */
const MAX_FOUND = 50;
/** Results with less than this share of the best score are chance. */
const MIN_SHARE = 0.3;
/** The most text about deferred tools that the model gets. */
const MAX_LISTED_CHARS = 8000;
const MAX_LINE_CHARS = 300;
/** Schemas can be nested without end. */
const MAX_DEPTH = 5;

/** Tools of one namespace or server are returned together in it. */
export function findTools(deferred: readonly DeferredTool[], question: ToolQuery): Tool[] {
  const paths = question.paths.map((path) => path.trim().toLowerCase());
  const within = deferred.filter(({ tool }) => pathsOf(tool).some((path) => paths.includes(path)));
  const known = new Set(deferred.flatMap(({ tool }) => pathsOf(tool)));
  // A path that names no tool is searched as a word.
  const words = [question.query, ...paths.filter((path) => !known.has(path))].join(" ").trim();
  const ranked = rank(within.length > 0 ? within : deferred, words);
  const found = ranked.length > 0 ? ranked : within;
  const usual = words !== "" && ranked.length > 0 ? USUAL_FOUND : MAX_FOUND;
  const limit = Math.min(Math.max(question.limit ?? usual, 1), MAX_FOUND);
  return joinFound(found.slice(0, limit).map(({ tool }) => tool));
}

/** The best first, without tools that match nothing, or little compared with the best. */
function rank(deferred: readonly DeferredTool[], words: string): DeferredTool[] {
  if (words === "") return [];
  const names = deferred.map(({ spec }) => toWords(spec.name));
  const inName = scoreTexts(names, words);
  const texts = deferred.map(({ spec }, at) => `${names[at]} ${describe(spec)}`);
  const scores = scoreTexts(texts, words).map((score, at) => score + (inName[at] ?? 0));
  const least = MIN_SHARE * scores.reduce((best, score) => Math.max(best, score), 0);
  return deferred
    .map((one, at) => ({ one, score: scores[at] ?? 0 }))
    .filter(({ score }) => score > 0 && score >= least)
    .sort((first, second) => second.score - first.score)
    .map(({ one }) => one);
}

function describe({ description, parameters }: FunctionTool): string {
  return `${description ?? ""} ${wordsOf(parameters ?? {}, 0)}`;
}

/** The names and descriptions of parameters. */
function wordsOf(schema: Json, depth: number): string {
  if (depth > MAX_DEPTH || typeof schema !== "object" || schema === null) return "";
  if (Array.isArray(schema)) return schema.map((one) => wordsOf(one, depth + 1)).join(" ");
  return Object.entries(schema)
    .map(([key, value]) => {
      if (key === "description" && typeof value === "string") return value;
      const names = key === "properties" && isJsonObject(value) ? Object.keys(value) : [];
      return `${names.map(toWords).join(" ")} ${wordsOf(value ?? null, depth + 1)}`;
    })
    .join(" ");
}

/** `getOpenOrders` and `get_open_orders` are three words each. */
function toWords(name: string): string {
  return name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ");
}

/** All names that a model uses for one tool. */
function pathsOf(tool: Tool): string[] {
  const group = groupOf(tool);
  const name = nameOf(tool);
  const inGroup = group ? ["__", ".", "/"].map((between) => group.name + between + name) : [];
  return [...(group ? [group.name] : []), name, ...inGroup].map((path) => path.toLowerCase());
}

interface Group {
  readonly name: string;
  readonly description: string;
}

function groupOf(tool: Tool): Group | undefined {
  if (tool.type === "namespace") return { name: tool.name, description: tool.description ?? "" };
  if (tool.type !== "mcp") return undefined;
  return { name: tool.server_label, description: tool.server_description ?? "" };
}

function nameOf(tool: Tool): string {
  const one = tool.type === "namespace" ? tool.tools[0]?.name : undefined;
  const listed = tool.type === "mcp" && Array.isArray(tool.allowed_tools) && tool.allowed_tools[0];
  const own = "name" in tool && typeof tool.name === "string" ? tool.name : "";
  return one ?? (listed || own);
}

function joinFound(tools: readonly Tool[]): Tool[] {
  const joined = new Map<string, Tool>();
  for (const tool of tools) {
    const key = `${tool.type} ${groupOf(tool)?.name ?? nameOf(tool)}`;
    const before = joined.get(key);
    joined.set(key, before ? join(before, tool) : tool);
  }
  return [...joined.values()];
}

function join(before: Tool, tool: Tool): Tool {
  if (before.type === "namespace") {
    return { ...before, tools: [...before.tools, ...(tool as NamespaceTool).tools] };
  }
  if (before.type !== "mcp") return tool;
  return { ...before, allowed_tools: [before, tool as McpTool].flatMap(namesIn) };
}

function namesIn({ allowed_tools }: McpTool): string[] {
  return Array.isArray(allowed_tools) ? allowed_tools : [];
}

/** The list of deferred tools for the model: groups by their names alone, functions one by one. */
export function listDeferred(deferred: readonly DeferredTool[]): string {
  const counts = new Map<string, number>();
  const groups = new Map<string, Group>();
  const lone: string[] = [];
  for (const { tool, spec } of deferred) {
    const group = groupOf(tool);
    if (!group) lone.push(toLine(spec.name, spec.description ?? ""));
    else groups.set(group.name, group);
    if (group) counts.set(group.name, (counts.get(group.name) ?? 0) + 1);
  }
  const shared = [...groups.values()].map(({ name, description }) => {
    const count = counts.get(name) ?? 0;
    return `${toLine(name, description)} (${count} ${count === 1 ? "tool" : "tools"})`;
  });
  return cutLines([...shared, ...lone]);
}

function toLine(name: string, description: string): string {
  const about = description.replaceAll(/\s+/g, " ").trim();
  return `- ${name}${about === "" ? "" : `: ${clip(about, MAX_LINE_CHARS)}`}`;
}

function cutLines(lines: readonly string[]): string {
  let chars = 0;
  const fitting = lines.filter((line) => {
    chars += line.length + 1;
    return chars <= MAX_LISTED_CHARS;
  });
  const left = lines.length - fitting.length;
  return [...fitting, ...(left > 0 ? [`- and ${left} more, found by words`] : [])].join("\n");
}
