import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';

/** A program of others that turns a file into text. */
interface Tool {
  readonly name: string;
  readonly endings: readonly string[];
  /** The text of a file; undefined if the program cannot read it. */
  read(path: string): string | undefined;
}

const timeoutMs = 60_000;

function outputOf(command: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout : undefined;
}

/** LibreOffice writes files; text of documents, one CSV for each sheet, and slides by way of a PDF. */
function officeText(path: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'independent-'));
  try {
    const isSheet = /\.(?:xlsx|ods)$/i.test(path);
    const isSlides = /\.(?:pptx|odp)$/i.test(path);
    const format = isSheet
      ? 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1'
      : isSlides
        ? 'pdf'
        : 'txt:Text (encoded):UTF8';
    outputOf('soffice', ['--headless', '--convert-to', format, '--outdir', folder, path]);
    const texts = readdirSync(folder).map((name) =>
      isSlides
        ? (outputOf('pdftotext', [join(folder, name), '-']) ?? '')
        : readFileSync(join(folder, name), 'utf8'),
    );
    return texts.length > 0 ? texts.join('\n') : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Not RTF, of which pandoc reads no code pages but that of Western Europe. */
const pandocFormats: Readonly<Record<string, string>> = {
  docx: 'docx',
  odt: 'odt',
  epub: 'epub',
  html: 'html',
  xhtml: 'html',
  md: 'gfm',
  rst: 'rst',
  org: 'org',
  ipynb: 'ipynb',
};

const all: readonly Tool[] = [
  {
    name: 'pandoc',
    endings: Object.keys(pandocFormats),
    read: (path) =>
      outputOf('pandoc', ['-f', pandocFormats[endingOf(path)] ?? '', '-t', 'plain', '--wrap=none', path]),
  },
  { name: 'pdftotext', endings: ['pdf'], read: (path) => outputOf('pdftotext', [path, '-']) },
  { name: 'soffice', endings: ['xlsx', 'ods', 'pptx', 'odp'], read: officeText },
];

/** The programs that are installed here. */
export function installedTools(): readonly Tool[] {
  const flags: Readonly<Record<string, string>> = { pdftotext: '-v' };
  return all.filter(({ name }) => outputOf(name, [flags[name] ?? '--version']) !== undefined);
}

/** A reading of a file by others, and whose it is: a program that is installed, else the text beside it that one wrote before. */
export function independentReading(
  tools: readonly Tool[],
  folder: string,
  file: string,
): { readonly by: string; readonly text: string } | undefined {
  const tool = tools.find(({ endings }) => endings.includes(endingOf(file)));
  // pandoc reads UTF-8 alone, and numbers notes, which stand in our text themselves.
  const isWide =
    tool?.name === 'pandoc' &&
    /^(?:\ufffe|\ufeff)/.test(readFileSync(join(folder, file)).toString('utf16le'));
  const text = isWide ? undefined : tool?.read(join(folder, file))?.replace(/\[\d+\]/g, ' ');
  if (tool && text !== undefined) return { by: tool.name, text };
  const kept = join(folder, 'truth', `${file}.txt`);
  return existsSync(kept) ? { by: 'kept', text: readFileSync(kept, 'utf8') } : undefined;
}

function endingOf(file: string): string {
  return extname(file).slice(1).toLowerCase();
}
