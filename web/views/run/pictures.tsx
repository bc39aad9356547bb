/** Pictures inside an item, each after a click: a model's picture is never drawn automatically. */

import { Picture } from "../../parts/markdown.tsx";

export function Pictures({ urls }: { readonly urls: readonly string[] }) {
  return (
    <>
      {urls.map((url, at) => (
        <p key={at}>
          <Picture href={url} text={`picture ${at + 1}`} />
        </p>
      ))}
    </>
  );
}
