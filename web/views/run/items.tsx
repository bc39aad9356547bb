/** Items of a request or an answer, as the model got them: short, and whole on demand. */

import { clip } from "../../core/format.ts";
import { Code, pretty } from "../../parts/code.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { type Fields, outputOf, saidOf, textOf } from "./item-text.ts";
import { Pictures } from "./pictures.tsx";

export function Items({ items }: { readonly items: readonly unknown[] }) {
  return (
    <div class="stack tight">
      {items.map((item, at) => (
        <ItemView key={at} item={item as Fields} />
      ))}
    </div>
  );
}

function ItemView({ item }: { readonly item: Fields }) {
  switch (item["type"] ?? "message") {
    case "message":
      return <MessageView item={item} />;
    case "function_call":
    case "custom_tool_call": {
      const given = textOf(item["arguments"]) || textOf(item["input"]);
      return <Folded name={textOf(item["name"])} about={given} text={pretty(given)} />;
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { text, pictures } = outputOf(item);
      return (
        <Folded name="result" about={text} text={text}>
          <Pictures urls={pictures} />
        </Folded>
      );
    }
    case "reasoning": {
      const text = saidOf(item["summary"]).text || saidOf(item["content"]).text;
      return <Folded name="reasoning" about={text} text={text || "sealed"} />;
    }
    default: {
      const text = JSON.stringify(item, null, 2);
      return <Folded name={textOf(item["type"])} about={text} text={text} />;
    }
  }
}

function MessageView({ item }: { readonly item: Fields }) {
  const role = textOf(item["role"]) || "user";
  const { text, pictures } = saidOf(item["content"]);
  return (
    <div class={`item ${role}`}>
      <span class="chip">{role}</span>
      {role === "assistant" ? <Markdown text={text} /> : <pre class="plain said">{text}</pre>}
      <Pictures urls={pictures} />
    </div>
  );
}

interface FoldedProps {
  readonly name: string;
  readonly about: string;
  readonly text: string;
  readonly children?: preact.ComponentChildren;
}

function Folded({ name, about, text, children }: FoldedProps) {
  return (
    <details class="item">
      <summary class="row fixed">
        <span class="chip">{name}</span>
        <span class="clip grow quiet mono">{clip(about.replace(/\s+/g, " "), 160)}</span>
      </summary>
      <Code text={text} language={name} />
      {children}
    </details>
  );
}
