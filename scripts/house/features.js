/**
 * What `offshoot run` does that the first version of docs/shape.md did not do, by the files that do it and nothing
 * else. A walk without them compares the way of what both versions do.
 */

const FEATURES = {
  "the live tree": [
    /^cli\/(output\/(tree|live)|tree-controls)/,
    /^delegation\/ledger\/(tree|queued|follow)/,
  ],
  sessions: [/^runtime\/sessions\//, /^responses\/conversations\//, /^cli\/tell-session/],
  "skills and AGENTS.md in the prompt": [
    ...[
      /^tools\/skills\//,
      /^cli\/(open-skills|run-prompt)/,
      /^runtime\/prompt\//,
      /^agent\/told-parts/,
    ],
  ],
  "agents as files": [/^cli\/(main-agent|open-agents)/, /^delegation\/agents\//],
  "hooks and undo": [/^tools\/(hooks|changes)\//, /^runtime\/(run-hooks|undo\/)/],
  "messages to a run at work": [/^agent\/inbox/, /^runtime\/askers/, /^delegation\/questions/],
  "subagents in the background": [/^(agent|delegation)\/background/],
  telemetry: [/^delegation\/telemetry\//],
  compaction: [/^agent\/context\//, /^runtime\/open-keeper/],
  "stored keys, templates, proxies": [
    /^cli\/(open-keys|open-templates|command-network)/,
    /^runtime\/(auth\/|network)/,
  ],
  "a second engine and a second store": [/^engine\/(engines|open-engine)/, /^store\/open-kept/],
  "leases and takeover": [/^engine\/(lease|resting|worker)/, /^delegation\/past-children/],
  "processes of subagents": [/^delegation\/executors\/process-places/, /^runtime\/child-processes/],
};

/** The entries of a walk that are not of a new feature. */
export function withoutFeatures(walk) {
  const patterns = Object.values(FEATURES).flat();
  return walk.filter(([path]) => !patterns.some((pattern) => pattern.test(path)));
}
