import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pdfOf as textPdfOf } from '@octavo/documents/testing';
import { startProcess, stopProcess } from '../../../apps/octavo/testing.ts';

const filesCount = 20;
const documentsCount = 2_000;

/**
 * Chunks a second over HTTP; the memory of the service with its parsers while PDF files of 100 MB in all come in; the time of a PDF of 300
 * pages, and of 2,000 documents of 30 passages, one after another.
 */
export async function measureIngest(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-chat-'));
  const { url, child } = await startProcess('chat', {
    OCTAVO_DATA: folder,
    LOG_LEVEL: 'warn',
    UPLOAD_RATE_LIMIT: '0',
    CHAT_EMBEDDINGS: 'off',
  });
  const upload = (name: string, content: string | Uint8Array<ArrayBuffer>) => uploadTo(url, name, content);
  await upload('first.txt', 'The first document starts the process that reads them.');
  const startMs = performance.now();
  let chunks = 0;
  for (let number = 0; number < filesCount; number++) {
    chunks += await upload(`${number}.txt`, textOf(number, 250));
  }
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(`ingest over HTTP: ${chunks} chunks, ${(chunks / seconds).toFixed(0)}/s`);
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, residentOf(child.pid ?? 0));
  }, 20);
  const before = residentOf(child.pid ?? 0);
  for (let number = 0; number < 5; number++) {
    await upload(`${number}.pdf`, pdfOf(20 * 2 ** 20, number));
  }
  clearInterval(watching);
  console.log(
    `100 MB of PDF in 5 files: ${(most / 2 ** 20).toFixed(0)} MiB at most, ${(before / 2 ** 20).toFixed(0)} before`,
  );
  const timed = async (what: string, act: () => Promise<number>) => {
    const [fromMs, from] = [performance.now(), processorSecondsOf(child.pid ?? 0)];
    const count = await act();
    const [took, used] = [(performance.now() - fromMs) / 1_000, processorSecondsOf(child.pid ?? 0) - from];
    console.log(`${what}: ${count} chunks, ${took.toFixed(1)} s, ${used.toFixed(1)} s of the processor`);
  };
  const pages = (seed: number) =>
    Array.from({ length: 300 }, (_, page) => (textOf(seed + page, 4).match(/.{1,90}/g) ?? []).join('\n'));
  for (const seed of [1, 2, 3])
    await timed('a PDF of 300 pages', () => upload(`${seed}-pages.pdf`, textPdfOf(pages(seed))));
  await timed(`${documentsCount} documents of 30 passages`, async () => {
    let all = 0;
    for (let number = 0; number < documentsCount; number++)
      all += await upload(`document-${number}.txt`, textOf(number + 50, 30));
    return all;
  });
  await stopProcess(child);
  rmSync(folder, { recursive: true });
}

/** Resolves to how many chunks the document has. */
async function uploadTo(
  url: string,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
): Promise<number> {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  const response = await fetch(`${url}/api/upload`, { method: 'POST', body });
  if (response.status !== 201) throw new Error(await response.text());
  const { documents } = (await response.json()) as { documents: { chunks: number }[] };
  return documents[0]?.chunks ?? 0;
}

function textOf(seed: number, paragraphs: number): string {
  const word = (n: number) => `word${(seed * 7_919 + n * 104_729) % 5_000}`;
  return Array.from({ length: paragraphs }, (_, p) =>
    Array.from({ length: 110 }, (_, n) => word(p * 110 + n)).join(' '),
  ).join('.\n\n');
}

/** A PDF of that size: pages with text, and an image that is most of it. */
function pdfOf(bytes: number, seed: number): Uint8Array<ArrayBuffer> {
  const pages = 100;
  const image = Buffer.alloc(Math.floor(bytes / pages) - 6_000, `image ${seed}`);
  const kids = Array.from({ length: pages }, (_, index) => `${4 + index * 3} 0 R`).join(' ');
  const objects: Buffer[] = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from(`<</Type/Pages/Kids[${kids}]/Count ${pages}>>`),
    Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'),
  ];
  for (let page = 0; page < pages; page++) {
    const lines = textOf(seed * pages + page, 6).match(/.{1,80}/g) ?? [];
    const content = `BT /F1 10 Tf 40 760 Td 12 TL ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET /Im Do`;
    objects.push(
      Buffer.from(
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>/XObject<</Im ${6 + page * 3} 0 R>>>>/Contents ${5 + page * 3} 0 R>>`,
      ),
      Buffer.from(`<</Length ${content.length}>>stream\n${content}\nendstream`),
      Buffer.concat([
        Buffer.from(
          `<</Type/XObject/Subtype/Image/Width 400/Height ${Math.floor(image.length / 400)}/ColorSpace/DeviceGray/BitsPerComponent 8/Length ${image.length}>>stream\n`,
        ),
        image,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let offset = 9;
  const offsets = objects.map((object, index) => {
    const at = offset;
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj`), object, Buffer.from('endobj\n')]);
    parts.push(part);
    offset += part.length;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer<</Size ${size}/Root 1 0 R>>startxref\n${offset}\n%%EOF`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}

/** A process and all that it started. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = read(`/proc/${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0));
  }
  const belongs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 0 && (pid === root || belongs(parents.get(pid)));
  return [...parents.keys()].filter(belongs);
}

/** The memory of a process and all that it started. */
function residentOf(root: number): number {
  return treeOf(root).reduce(
    (sum, pid) => sum + Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * 4_096,
    0,
  );
}

const ticksPerSecond = 100;

/** Time of the processor that a process, all that it started, and those of them that ended have used. */
function processorSecondsOf(root: number): number {
  return treeOf(root).reduce((sum, pid) => {
    const stat = read(`/proc/${pid}/stat`);
    const times = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return sum + times.reduce((all, ticks) => all + Number(ticks), 0) / ticksPerSecond;
  }, 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
