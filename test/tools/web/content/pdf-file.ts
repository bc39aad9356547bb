/** A very small PDF, written by hand. */

import { deflateSync } from "node:zlib";

export interface PdfPage {
  readonly lines: readonly string[];
  readonly isCompressed?: boolean;
}

/** `lock` is the content of an encryption dictionary. */
export function writePdf(pages: readonly PdfPage[], lock?: string): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
    ...pages.flatMap((page, index) => writePage(page, 5 + 2 * index)),
    ...(lock === undefined ? [] : [Buffer.from(`<< ${lock} >>`)]),
  ];
  const id = "<00112233445566778899aabbccddeeff>";
  const locked = lock === undefined ? "" : ` /Encrypt ${objects.length} 0 R /ID [${id} ${id}]`;
  return assemble(objects, locked);
}

function writePage({ lines, isCompressed = false }: PdfPage, content: number): Buffer[] {
  const shown = lines.map((line) => `(${line}) Tj T*`).join(" ");
  const plain = Buffer.from(`BT /F1 12 Tf 72 720 Td 14 TL ${shown} ET`);
  const stream = isCompressed ? deflateSync(plain) : plain;
  const filter = isCompressed ? " /Filter /FlateDecode" : "";
  const fonts = "/Resources << /Font << /F1 3 0 R >> >>";
  return [
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R ${fonts} >>`,
    ),
    Buffer.concat([
      Buffer.from(`<< /Length ${stream.length}${filter} >>\nstream\n`),
      stream,
      Buffer.from("\nendstream"),
    ]),
  ];
}

function assemble(objects: readonly Buffer[], trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  let length = 9;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  const places = objects.map((object, index) => {
    const place = length;
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]));
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}`;
  const end = `trailer\n<< /Size ${size} /Root 1 0 R${trailer} >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table), Buffer.from(end)]);
}
