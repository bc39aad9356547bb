/** Responses that continue others: a chain of `previous_response_id`, and a conversation. */

import { runInTurn, runLoad } from "../gateway/load.ts";
import {
  type Bench,
  type Figure,
  type Goal,
  measureServer,
  NOTHING,
  print,
  takeTurns,
  toBody,
  toHealthGoal,
  toLoad,
} from "./bench.ts";
import { type Server, startServer } from "./server.ts";

const LINKS = [10, 100, 1000];
const QUICK_LINKS = [10, 100];
const REQUESTS = 40;
const ROUNDS = 3;
/** A chain costs what a conversation costs. */
const MOST_TIMES_CONVERSATION = 1.2;

export async function measureChains({ store, upstream, isFull }: Bench): Promise<Goal[]> {
  const goals: Goal[] = [];
  const server = await startServer({ store, upstreamPort: upstream.port, workers: 1, core: 0 });
  try {
    await runLoad({ ...toLoad(server, toBody("streamed")), connections: 8, requests: 300 });
    const grown = { previous: "", conversation: await makeConversation(server), links: 0 };
    for (const links of isFull ? LINKS : QUICK_LINKS) {
      await grow(server, grown, links - grown.links);
      grown.links = links;
      goals.push(...(await measureAt(server, grown, `${store}, ${links} links`)));
    }
  } finally {
    await server.close();
  }
  return goals;
}

interface Grown {
  /** The last response of the chain. */
  previous: string;
  readonly conversation: string;
  links: number;
}

async function measureAt(server: Server, grown: Grown, at: string): Promise<Goal[]> {
  const { previous: previous_response_id, conversation } = grown;
  const ask = (more: object) => (): Promise<Figure> => {
    const load = toLoad(server, toBody("plain", more));
    return measureServer(server, { ...load, requests: REQUESTS });
  };
  const figures = await takeTurns(
    {
      "no chain": ask({}),
      conversation: ask({ conversation }),
      chain: ask({ previous_response_id }),
    },
    ROUNDS,
  );
  for (const [name, figure] of Object.entries(figures)) print(`${at}: ${name}`, figure);
  const { chain = NOTHING, conversation: other = NOTHING, "no chain": none = NOTHING } = figures;
  const value = chain.cpu / other.cpu;
  return [
    { name: `${at}: CPU, times a conversation`, value, atMost: MOST_TIMES_CONVERSATION },
    toHealthGoal(at, chain, none),
  ];
}

async function grow(server: Server, grown: Grown, links: number): Promise<void> {
  const { conversation } = grown;
  const load = { ...toLoad(server, ""), requests: links };
  await runInTurn(load, () => toBody("streamed", { conversation }));
  await runInTurn({ ...load, requests: links }, (answer) => {
    grown.previous = idOf(answer) ?? grown.previous;
    const { previous } = grown;
    return toBody("streamed", previous === "" ? {} : { previous_response_id: previous });
  }).then((answer) => {
    grown.previous = idOf(answer) ?? grown.previous;
  });
}

async function makeConversation(server: Server): Promise<string> {
  const load = { ...toLoad(server, "{}"), path: "/v1/conversations", requests: 1 };
  const answer = await runInTurn(load, () => "{}");
  return /conv_\w+/.exec(answer)?.[0] ?? "";
}

function idOf(answer: string): string | undefined {
  return /"id":\s*"(resp_\w+)"/.exec(answer)?.[1];
}
