/** How each provider handles everything that a request may contain, from the table that is tested. */

import { CELLS, COLUMNS, cellOf, GROUPS, type Row } from "../../test/conformance/matrix/cells.ts";
import { renderCode, renderPage, renderTable } from "./page.ts";

const INTRO = `On this page you see what each provider does with every part of a request. Every cell is a request that a test sends through a whole server to a scripted server of that API, or to the embedded
model: \`test/conformance/matrix/\`. The test fails when a cell is not what this page says.`;

const MODELS = `The columns are APIs: \`chat\` is \`openai-chat\`, \`responses\` is \`openai-responses\`, \`messages\` is \`anthropic\`; the others have the names that \`--provider\` takes.
The scripted server of \`chat\` is as strict as OpenAI. Servers such as vLLM take more, for example \`top_k\`: [options.md](options.md#in-requests-to-the-server).
\`openrouter\` is OpenRouter's server of chat completions, with a Claude behind it; \`bedrock\` has a Claude if a row is about cache points or \`top_k\`. A video of YouTube is read by Gemini; other models get the page at the address, as at any other, and the test does not fetch it.
A model may take less than its API: what the model table says it refuses is left out and reported, too.
\`responses\` is OpenAI's own API; of another server of it less is expected, and more is bridged.`;

const NATIVE = `What each vendor runs itself, and the words that reach it, are in [providers.md](providers.md#what-each-vendor-has-natively).
Nova models run \`web_search\` themselves only under ids of the United States (\`us.\`). xAI and Groq have no column here: \`test/server/native-tools.test.ts\` and \`test/providers/\` test their tools.`;

export function renderMatrixPage(): string {
  const classes = Object.entries(CELLS).map(([name, meaning]) => [renderCode(name), meaning]);
  return renderPage("What works on which provider", [
    INTRO,
    renderTable(["cell", "what it means"], classes),
    MODELS,
    ...GROUPS.flatMap(({ title, what, rows }) => renderGroup(title, what, rows)),
    NATIVE,
  ]);
}

function renderGroup(
  title: string,
  what: string,
  table: Readonly<Record<string, Row>>,
): readonly string[] {
  const rows = Object.entries(table).map(([name, row]) => [
    name,
    ...COLUMNS.map((column) => cellOf(row, column)),
  ]);
  return [`## ${title}`, renderTable([what, ...COLUMNS], rows)];
}
