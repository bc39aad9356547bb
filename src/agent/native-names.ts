/**
 * Native tools of a run, which the model's vendor runs, by their names among the run's tools:
 * `native:web_search`. They pass no gate: naming one lets the vendor run it.
 */

import { Failure } from "../base/failure.ts";
import type { Tool } from "../protocol/tools.ts";
import type { AgentTask } from "./task.ts";

const PREFIX = "native:";

export function isNativeName(name: string): boolean {
  return name.startsWith(PREFIX) && name.length > PREFIX.length;
}

/** The tools that the vendor of a model runs itself. */
interface Running {
  runs(tool: Tool, asked: { readonly tools: readonly Tool[]; readonly include: [] }): boolean;
  isPriced(tool: Tool): boolean;
  isClients(tool: Tool): boolean;
  readonly types: readonly string[];
}

/** The tools that the names mean, as far as the model's vendor runs them together with `others`. */
export function nativeToolsOf(
  { tools: names }: Pick<AgentTask, "tools">,
  native: Running | undefined,
  others: readonly Tool[],
): Tool[] {
  const own = named(names);
  return own.filter((tool) => native && isRun(tool, native, [...others, ...own]));
}

function isRun(tool: Tool, native: Running, tools: readonly Tool[]): boolean {
  return !native.isClients(tool) && native.runs(tool, { tools, include: [] });
}

/**
 * Rejects a name that the vendor does not run, and a tool without a known price if dollars are
 * limited.
 */
export function checkNative(
  { model, tools: names, limits }: Pick<AgentTask, "model" | "tools" | "limits">,
  native: Running | undefined,
  others: readonly Tool[],
): void {
  const own = named(names);
  for (const tool of own) {
    if (!native || !isRun(tool, native, [...others, ...own])) {
      throw refused(toProblem(model, tool, native));
    }
    if (limits.usd !== null && !native.isPriced(tool)) {
      throw refused(
        `The price of \`${PREFIX}${tool.type}\` is not known, so no limit in US dollars can be kept. Limit tokens instead.`,
      );
    }
  }
}

function toProblem(model: string, tool: Tool, native: Running | undefined): string {
  const name = `\`${PREFIX}${tool.type}\``;
  if (!native) return `${name}: the vendor of ${model} runs no tools itself.`;
  if (isRun(tool, native, [tool])) {
    return `${name}: ${model} does not run it together with functions. Give it alone with --tools, or use another model.`;
  }
  return `${name}: the vendor of ${model} does not run it. It runs: ${native.types.join(", ")}.`;
}

function named(names: readonly string[]): Tool[] {
  return names
    .filter(isNativeName)
    .map((name) => ({ type: name.slice(PREFIX.length) }) as unknown as Tool);
}

function refused(message: string): Failure {
  return new Failure("invalid_request", message, { param: "tools" });
}
