import { AppError } from '@octavo/core';
import { byteOrderMark, csvRecord } from '@octavo/core/text';
import { sendStream } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { type ModelVisit, queryOf } from '../context.ts';
import type { Values } from '../field.ts';
import { ListState } from '../lists/state.ts';
import type { Model } from '../model.ts';
import { fileColumns } from '../registry.ts';
import { streamObjects } from '../table/objects.ts';

/** Sends all objects that match a list, on all pages, as CSV or JSON, while they are read. */
export function exportList(context: ModelVisit): Promise<FastifyReply> {
  const { registry, model, actor, visit } = context;
  const query = queryOf(context);
  const format = query.get('format') ?? 'csv';
  if (format !== 'csv' && format !== 'json')
    throw new AppError('invalid_input', 'The format is csv or json.');
  query.delete('format');
  const { words, filters, sort } = new ListState(model, query, registry.clock.now()).query;
  const rows = streamObjects(registry, model, { words, filters, sort }, actor);
  const name = `${model.path.replace('/', '_')}_${stamp(registry.clock.now())}.${format}`;
  const { reply } = visit;
  reply
    .type(format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}"`);
  return sendStream(reply, format === 'csv' ? csvOf(model, rows) : jsonOf(model, rows), {
    encodings: ['gzip'],
  });
}

async function* csvOf(model: Model, batches: AsyncIterable<readonly Values[]>): AsyncGenerator<string> {
  const columns = fileColumns(model);
  // With the first rows, so that a database that cannot be read is an error response.
  let head = byteOrderMark + csvRecord(columns);
  for await (const rows of batches) {
    yield head + rows.map((row) => csvRecord(columns.map((name) => cellText(model, name, row)))).join('');
    head = '';
  }
  if (head !== '') yield head;
}

function cellText(model: Model, name: string, row: Values): string {
  const value = row[name] ?? null;
  return model.fields[name]?.format(value) ?? String(value ?? '');
}

async function* jsonOf(model: Model, batches: AsyncIterable<readonly Values[]>): AsyncGenerator<string> {
  const columns = fileColumns(model);
  let isFirst = true;
  for await (const rows of batches) {
    const texts = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map((name) => [name, jsonValue(model, name, row)]))),
    );
    yield `${isFirst ? '[\n' : ',\n'}${texts.join(',\n')}`;
    isFirst = false;
  }
  yield isFirst ? '[\n]\n' : '\n]\n';
}

function jsonValue(model: Model, name: string, row: Values): unknown {
  const value = row[name] ?? null;
  const { control } = model.fields[name] ?? {};
  if (value === null) return null;
  if (control?.type === 'flag') return value === 1;
  return control?.type === 'datetime' ? (model.fields[name]?.format(value) ?? value) : value;
}

/** `20260131_120000`, in UTC. */
function stamp(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
}
