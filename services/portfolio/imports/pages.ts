import type { AccountSession } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { encodingIn, mappingIn, receiveUpload } from '@octavo/web/import-pages';
import { guessMapping, lettersNote, textOfFile } from '@octavo/web/imports';
import type { PageRoutes } from '@octavo/web/pages';
import { csrfFieldName } from '@octavo/web/pages';
import { goneSignal, sendStream } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { type Kind, kinds } from '../records.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Visitor, Visitors } from '../site.ts';
import { type FileGuess, guessFile, importFieldsOf } from './fields.ts';
import {
  forgetFile,
  type ImportState,
  type ImportsContext,
  importFile,
  keepFile,
  type Options,
  previewFile,
  requireFile,
  uploadBytesMax,
} from './pages-run.ts';
import { previewPage, resultPage, uploadPage } from './pages-views.ts';

export interface ImportPagesParts extends ImportsContext {
  readonly visitors: Visitors;
}

type Administrator = Awaited<ReturnType<Visitors['administrator']>>;

/** A file is uploaded, then previewed with the columns to take, then imported. */
export function addImportPages(routes: PageRoutes<AccountSession>, parts: ImportPagesParts): void {
  const access = parts.visitors.administrator;
  routes.get(pageRoutes.import, { access }, async (visitor) => uploadPage(visitor));
  routes.post(
    pageRoutes.import,
    { access, accepts: 'multipart/form-data', bodyBytesMax: uploadBytesMax + 64 * 1_024 },
    (visitor) => upload(visitor, parts),
  );
  routes.get(pageRoutes.importFile, { access }, (visitor) => show(visitor, parts));
  routes.post(pageRoutes.importFile, { access }, (visitor) => decide(visitor, parts));
}

async function upload(visitor: Administrator, parts: ImportPagesParts): Promise<string | FastifyReply> {
  const { visit, user } = visitor;
  let encoding: string | undefined;
  try {
    const { file } = await receiveUpload(visit.request, {
      bytesMax: uploadBytesMax,
      onFile: (fields) => {
        visit.checkToken(fields[csrfFieldName]);
        encoding = encodingIn(fields.encoding);
      },
      keep: async (chunks, name) => ({
        name,
        read: textOfFile(Buffer.concat(await Array.fromAsync(chunks)), encoding),
      }),
    });
    if (!file) throw new AppError('invalid_input', 'Choose a file first.');
    const { text, letters } = file.read;
    if (text === '') throw new AppError('invalid_input', 'The file is empty.');
    const id = await keepFile(parts, user.id, { name: file.name, content: text });
    const note = encoding === undefined ? lettersNote(letters) : undefined;
    return visit.redirect(
      pathOf(pageRoutes.importFile, id),
      note === undefined ? undefined : { tone: 'info', text: note },
    );
  } catch (error) {
    if (!(error instanceof AppError) || !['invalid_input', 'too_large'].includes(error.code)) throw error;
    visit.reply.code(error.code === 'too_large' ? 413 : 422);
    return uploadPage(visitor, error.message);
  }
}

async function show(visitor: Administrator, parts: ImportPagesParts): Promise<string> {
  const ref = refOf(visitor);
  const { name, content, result } = await requireFile(parts, ref);
  if (result !== null) return resultPage(visitor, { name, result: JSON.parse(result) });
  const guess = guessFile(content);
  const query = visitor.visit.request.query as Readonly<Record<string, string | undefined>>;
  const options = optionsIn(guess, (field) => query[field]);
  const preview = await previewFile(parts, content, options);
  if (preview.message !== undefined) visitor.visit.reply.code(422);
  return previewPage(visitor, { id: ref.id, name, guess, options, preview });
}

/** Another preview, the import, or neither. */
async function decide(visitor: Administrator, parts: ImportPagesParts): Promise<string | FastifyReply> {
  const { visit } = visitor;
  const ref = refOf(visitor);
  const action = visit.field('do');
  if (action === 'cancel') {
    await forgetFile(parts, ref);
    return visit.redirect(pageRoutes.import);
  }
  const { content } = await requireFile(parts, ref);
  const fields = visit.fields();
  const guess = guessFile(content);
  const options = optionsIn(guess, (field) => fields[field]);
  const path = pathOf(pageRoutes.importFile, ref.id);
  const preview = `${path}?${new URLSearchParams(chosen(fields))}`;
  if (action === 'preview') return visit.redirect(preview);
  const signal = goneSignal(visit.reply);
  const states = importFile(parts, ref, { ...options, signal });
  if (visit.request.headers.accept?.includes('application/x-ndjson')) {
    visit.reply.type('application/x-ndjson; charset=utf-8');
    return sendStream(visit.reply, asLines(states));
  }
  let last: ImportState | undefined;
  for await (const state of states) last = state;
  if (last?.problem !== undefined) return visit.redirect(preview, { tone: 'bad', text: last.problem });
  return visit.redirect(path);
}

async function* asLines(states: AsyncIterable<ImportState>): AsyncGenerator<string> {
  for await (const state of states) yield `${JSON.stringify(state)}\n`;
}

/** Reads the choices of the form, and guesses missing ones. */
function optionsIn(
  { kind: guessed, isList, header }: FileGuess,
  sent: (field: string) => string | undefined,
): Options {
  const decimal = ([',', '.'] as const).find((sign) => sign === sent('decimal'));
  const currency = sent('currency')?.trim().toUpperCase() || undefined;
  const options = { replaces: sent('replaces') === 'true', decimal, currency, isList };
  const kind = isList ? (kinds.find((each) => each === sent('kind')) ?? guessed) : undefined;
  if (kind === undefined) return options;
  return { ...options, kind, mapping: header.length > 0 ? mappingOf(kind, header, sent) : undefined };
}

/** The columns that are chosen for this kind, else those that fit by their names. */
function mappingOf(kind: Kind, header: readonly string[], sent: (field: string) => string | undefined) {
  const fields = importFieldsOf(kind, header);
  const mapping = sent('mapped') === kind ? mappingIn(fields, sent) : undefined;
  if (!mapping) return guessMapping(fields, header);
  return Object.fromEntries(Object.entries(mapping).filter(([, column]) => header.includes(column)));
}

/** The choices of the form, for the address of another preview. */
function chosen(fields: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value !== undefined && /^(kind|mapped|replaces|decimal|currency|map-\w+)$/.test(name)
      ? [[name, value] as [string, string]]
      : [],
  );
}

function refOf({ visit, user }: Visitor & { readonly user: { readonly id: number } }) {
  return { id: (visit.request.params as { readonly id: string }).id, userId: user.id };
}
