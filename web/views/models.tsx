/**
 * Models and vendors: which deployments answer, how much vendors allow, and how many calls wait.
 */

import { toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { toCount, toDuration, toMoney } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type {
  DeploymentView,
  NamedModelView,
  ServedModelsView,
  UsageView,
  VendorView,
} from "../core/views.ts";
import { Empty, Loaded, Section, ViewHead } from "../parts/loaded.tsx";
import { Meter } from "../parts/meter.tsx";

/** The load of a vendor changes each second, and no event of a run reports it. */
const REFRESH_MS = 5000;

export function ModelsView() {
  const state = useResource("models", (stop) => get<ServedModelsView>("admin/models", {}, stop), {
    everyMs: REFRESH_MS,
  });
  return (
    <div class="view">
      <ViewHead
        title="Models"
        about="Health of deployments, limits of vendors, and calls that wait for them."
      />
      <Loaded of={state}>
        {({ names, deployments, vendors }) => (
          <>
            <Section title="Vendors">
              <Vendors vendors={vendors} />
            </Section>
            {(names.length > 0 || deployments.length > 0) && (
              <Section title="Names and deployments">
                <Names names={names} deployments={deployments} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      <Section title="Models that may be asked">
        <Listed />
      </Section>
    </div>
  );
}

function Vendors({ vendors }: { readonly vendors: readonly VendorView[] }) {
  if (vendors.length === 0) {
    return <Empty title="No vendor has been asked since the server started." icon="model" />;
  }
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Vendor</th>
            <th>State</th>
            <th>In flight</th>
            <th class="number">Waiting</th>
            <th>What is waited for</th>
          </tr>
        </thead>
        <tbody>
          {vendors.map((vendor) => (
            <VendorRow key={vendor.name} vendor={vendor} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function VendorRow({ vendor }: { readonly vendor: VendorView }) {
  const { name, limit = 0, in_flight = 0, waiting = 0, paused_seconds = 0 } = vendor;
  const isPaused = paused_seconds > 0;
  const isFull = in_flight >= limit;
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td>
        {isPaused ? (
          <span class="chip warn">asked to wait</span>
        ) : isFull ? (
          <span class="chip warn">full</span>
        ) : (
          <span class="chip good">takes calls</span>
        )}
      </td>
      <td class="wide">
        <Meter name="Calls" used={in_flight} limit={limit} format={toCount} />
      </td>
      <td class="number">{toCount(waiting)}</td>
      <td class="quiet">
        {isPaused
          ? `The vendor asked all clients to wait ${toDuration(paused_seconds * 1000)} more.`
          : waiting > 0
            ? `One of ${toCount(limit)} calls in flight to end.`
            : "Nothing waits."}
      </td>
    </tr>
  );
}

interface NamesProps {
  readonly names: readonly NamedModelView[];
  readonly deployments: readonly DeploymentView[];
}

function Names({ names, deployments }: NamesProps) {
  return (
    <div class="columns">
      {names.map((named) => (
        <article key={named.name} class="panel">
          <header>
            <b class="mono">{named.name}</b>
            <span class="quiet">
              {named.deployments.length === 1
                ? "one deployment"
                : `${named.deployments.length} deployments`}
            </span>
          </header>
          <ul class="body stack tight plain-list">
            {named.deployments.map((one, at) => (
              <li key={at} class="row spread">
                <span class="mono">
                  {one.model} {one.fallback && <span class="chip">fallback</span>}
                </span>
                <span class="quiet">{toFacts(one)}</span>
              </li>
            ))}
          </ul>
        </article>
      ))}
      {deployments.map((one) => (
        <DeploymentCard key={one.name} deployment={one} />
      ))}
    </div>
  );
}

function toFacts({ facts, weight }: NamedModelView["deployments"][number]): string {
  const parts = [`weight ${weight}`];
  if (facts?.context_tokens) parts.push(`${toCount(facts.context_tokens)} tokens`);
  const { price } = facts ?? {};
  parts.push(price ? `$${price.input} / $${price.output} for 1M` : "price unknown");
  return parts.join(", ");
}

function DeploymentCard({ deployment }: { readonly deployment: DeploymentView }) {
  const { name, ready = 0, workers, failures = 0, cooldown_seconds = 0, reason } = deployment;
  const isWell = ready === workers;
  return (
    <article class="panel">
      <header>
        <b class="mono clip">{name}</b>
        <span class={isWell ? "chip good" : "chip bad"}>{isWell ? "well" : "cools down"}</span>
      </header>
      <div class="body">
        <p>
          Asked as usual by {ready} of {workers} processes; {toCount(failures)} failed tries.
        </p>
        {cooldown_seconds > 0 && (
          <p class="warn">Next try in {toDuration(cooldown_seconds * 1000)}.</p>
        )}
        {reason && <p class="quiet">{reason}</p>}
      </div>
    </article>
  );
}

/** The list of `/v1/models`, with recent use. */
function Listed() {
  const models = useResource("listed", async (stop) => {
    const [listed, usage] = await Promise.all([
      get<{ data: readonly { id: string; owned_by: string }[] }>("models", {}, stop),
      get<UsageView>("usage", { by: "model", daily: false }, stop),
    ]);
    return { listed: listed.data, used: new Map(usage.data.map((row) => [row.key, row])) };
  });
  return (
    <Loaded of={models}>
      {({ listed, used }) => (
        <div class="table" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Model</th>
                <th>Owner</th>
                <th class="number">Calls, 30 days</th>
                <th class="number">Tokens</th>
                <th class="number">Cost</th>
                <th>
                  <span class="hidden-text">Try</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {listed.slice(0, 300).map(({ id, owned_by }) => {
                const row = used.get(id);
                return (
                  <tr key={id}>
                    <td>
                      <a class="mono" href={toHref(`runs?model=${encodeURIComponent(id)}`)}>
                        {id}
                      </a>
                    </td>
                    <td class="quiet">{owned_by}</td>
                    <td class="number">{row ? toCount(row.calls) : "–"}</td>
                    <td class="number">
                      {row ? toCount(row.input_tokens + row.output_tokens) : "–"}
                    </td>
                    <td class="number">{row ? toMoney(row.cost_usd) : "–"}</td>
                    <td class="number">
                      <a href={toHref(`playground?model=${encodeURIComponent(id)}`)}>Try it</a>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Loaded>
  );
}
