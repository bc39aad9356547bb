/**
 * Children in processes of their own, made from the runtime's parts. Loaded by the first such
 * child.
 */

import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import type { JsonObject } from "../base/json.ts";
import { createTurnstile } from "../base/turnstile.ts";
import type { ChildPlaces, Executor } from "../delegation/child.ts";
import { countProcessPlaces } from "../delegation/executors/process-places.ts";
import type { OpenQuestions } from "../delegation/questions.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { RunContext } from "../engine/engine.ts";
import { variableIn } from "../providers/http/own-fields.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { findModel, type ModelOverride } from "../providers/models/models.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import { type Cloud, isCloud, type Vendor } from "../providers/vendors/vendor.ts";
import { isPostgres } from "../store/open-kept.ts";
import type { Always } from "../tools/gate/always.ts";
import { withoutPassword } from "./config/address-text.ts";
import { CONFIG_NAMES, variableOf } from "./config/config-keys.ts";
import type { SafetyParts } from "./open-gate.ts";
import { SAFETY, type SafetySettings } from "./safety-settings.ts";

export interface ChildProcessSettings {
  /** The command that starts a runner; the package's own when left out. */
  readonly command?: readonly [string, ...string[]] | undefined;
  /** The file of the key that grants are signed with; created when it is first needed. */
  readonly grantKeyFile: string;
  /** Where places for processes come from; what the machine has room for when left out. */
  readonly places?: ChildPlaces | undefined;
}

interface Parts {
  readonly childProcess: ChildProcessSettings;
  readonly storePath: string | undefined;
  readonly safety: SafetyParts;
  readonly settings: DelegationSettings;
  readonly clock: Clock;
  /** The allowances of a person for the whole tree of a run. */
  alwaysOf(run: Pick<RunContext, "id">): Always;
  /** Receives what children ask. */
  readonly questions?: OpenQuestions | undefined;
  readonly catalog?: Catalog | undefined;
  readonly overrides?: readonly ModelOverride[] | undefined;
}

interface Known {
  readonly catalog: Catalog;
  readonly overrides: Parts["overrides"];
}

/** Makes the executor of one run. */
export type ProcessChildren = (parent: Pick<RunContext, "id" | "path" | "uncounted">) => Executor;

export function createProcessChildren(parts: Parts): ProcessChildren {
  const { childProcess, storePath, safety, settings, clock, catalog = CATALOG, overrides } = parts;
  const { env } = safety;
  const asks = safety.ask !== undefined || safety.approvalWaitMs !== undefined;
  const { questions } = parts;
  const maxProcesses = settings.maxProcesses ?? countProcessPlaces();
  // Each run limits its own children; this limits the children of all runs together.
  const places = childProcess.places ?? createTurnstile(maxProcesses);
  return (parent) => ({
    places: maxProcesses,
    enter: places.enter,
    async run(order, signal) {
      const [{ createChildProcessExecutor }, { findRunnerCommand }, { openGrantKey }] =
        await Promise.all([
          import("../delegation/executors/child-process.ts"),
          import("../delegation/executors/runner-command.ts"),
          import("../delegation/runner/grant-key.ts"),
        ]);
      // A child that another process had started has its money already.
      const leave = order.leave ?? (await places.enter(signal));
      const executor = createChildProcessExecutor({
        questions,
        // While it waits for its parent another may work: its parent may be waiting for that one.
        onQuestion: leave,
        command: childProcess.command ?? findRunnerCommand(),
        grantKey: () => openGrantKey(childProcess.grantKeyFile),
        parent: { id: parent.id, path: parent.path },
        safety: toJson(safety),
        asks,
        person: {
          ask: safety.ask,
          uncounted: parent.uncounted,
          always: parts.alwaysOf(parent),
        },
        variablesFor: (task) => [
          ...variablesFor(task, env, { catalog, overrides }),
          ...recordVariables(storePath, env),
        ],
        providerOf: (task) => providerOf(task, catalog),
        settings: { ...settings, maxProcesses },
        // The child has the password from the same variable.
        storePath: storePath && withoutPassword(storePath),
        env,
        clock,
        places,
      });
      try {
        return await executor.run(order, signal);
      } finally {
        leave();
      }
    },
  });
}

/** All safety settings except whom to ask: a child process asks through its parent. */
const NAMES = (Object.keys(SAFETY) as (keyof SafetySettings)[]).filter((name) => name !== "ask");

function toJson(safety: SafetySettings): JsonObject {
  return Object.fromEntries(NAMES.map((name) => [name, safety[name]])) as JsonObject;
}

/** The wire that the child would choose by itself. */
export function providerOf(
  { model, url }: Pick<AgentTask, "model" | "url">,
  catalog: Catalog = CATALOG,
): string | null {
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === GGUF) return null;
  return vendor === EMBEDDED ? EMBEDDED : catalog.of(vendor).wire;
}

/** The credentials of a cloud are many variables, and files that they name. */
const CLOUDS: Readonly<Record<Cloud, RegExp>> = {
  google: /^(GOOGLE|CLOUDSDK|GCE|GCLOUD|VERTEX)_/,
  aws: /^AWS_/,
  azure: /^(AZURE|IDENTITY)_/,
};

/** A runner is not a server: it does not get the server's settings, nor its key. */
const SETTINGS = CONFIG_NAMES.filter((name) => !name.startsWith("server.")).map(variableOf);

function variablesFor(task: AgentTask, env: Environment, known: Known): string[] {
  const search = task.tools.includes("search_web")
    ? Object.keys(env).filter((name) => /^(BRAVE_SEARCH|TAVILY|EXA|GOOGLE_CSE)_/.test(name))
    : [];
  return [...SETTINGS, ...modelVariables(task, env, known), ...search];
}

/** Where the driver of a database looks for what an address leaves out. */
function recordVariables(storePath: string | undefined, env: Environment): string[] {
  if (storePath === undefined || !isPostgres(storePath)) return [];
  return Object.keys(env).filter((name) => /^PG[A-Z]+$/.test(name));
}

function modelVariables(
  { model, url, api_key_name }: AgentTask,
  env: Environment,
  { catalog, overrides }: Known,
): string[] {
  const { vendor, model: name } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return [];
  const row = catalog.of(vendor);
  const { auth, keyVariable = "", otherKeyVariables = [] } = row;
  const keys = api_key_name === null ? [keyVariable, ...otherKeyVariables] : [api_key_name];
  const cloud = isCloud(auth) ? Object.keys(env).filter((name) => CLOUDS[auth].test(name)) : [];
  // May be stored; then it is not among the variables of the environment.
  if (auth === "aws") cloud.push("AWS_BEARER_TOKEN_BEDROCK");
  const { headers } = findModel(vendor, name, overrides);
  const values = Object.values({ ...row.fields?.headers, ...headers });
  const named = values.flatMap((value) => variableIn(value) ?? []);
  return [...keys, ...addressVariables(row), ...named, ...cloud];
}

/** The variables that say where the vendor is asked. */
function addressVariables({ baseUrl, baseUrlVariable = "" }: Vendor): string[] {
  const holes = [...baseUrl.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return [baseUrlVariable, ...holes];
}
