import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AppError, describeSystemError } from '@octavo/core';
import { startSystem, topology, upNames } from '../index.ts';
import { unknownService } from '../system.ts';

const fetchMs = 10_000;
/** First line of a file that this command wrote, and may write again. */
const mark = '// Written by "octavo client';

/** `octavo client`. */
export async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { url: { type: 'string' }, out: { type: 'string' } },
  });
  const [name, ...rest] = positionals;
  if (name === undefined || rest.length > 0)
    throw new AppError('invalid_input', 'usage: octavo client NAME [--url URL] [--out FILE]');
  if (!upNames().includes(name)) throw unknownService(name, upNames());
  if (values.out !== undefined) await refuseForeignFile(values.out);
  const document = values.url === undefined ? await ownDocument(name) : await documentAt(values.url, name);
  const text = `${mark} ${name}". Its npm package openapi-fetch makes a typed client of it.\n\n${await typesOf(document)}`;
  if (values.out === undefined) process.stdout.write(text);
  else await writeFile(values.out, text).catch((error) => throwKnown(error, values.out));
  return 0;
}

/** Keeps people from losing a file that they wrote by hand. */
async function refuseForeignFile(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throwKnown(error, file);
  });
  if (text && !text.startsWith(mark))
    throw new AppError('conflict', `${file} exists and was not written by octavo client; name another file`);
}

function throwKnown(error: unknown, file = ''): never {
  const code = String(Reflect.get(Object(error), 'code'));
  if (code === 'EISDIR') throw new AppError('invalid_input', `${file} is a folder; name a file`);
  if (code === 'ENOENT') throw new AppError('invalid_input', `the folder of ${file} does not exist`);
  throw describeSystemError(error, file) ?? error;
}

/** The document of this version, from a server on a free port with a folder that is removed afterwards. */
async function ownDocument(name: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'octavo-client-'));
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: folder,
    HOST: '127.0.0.1',
    PORT: '0',
  };
  try {
    await using system = await startSystem([name], { environment, ports: { [name]: 0 } });
    return await documentAt((await system.urlOf(name)) ?? '', name);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The document of a running service. */
async function documentAt(base: string, name: string): Promise<unknown> {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base))
    throw new AppError('invalid_input', `--url needs an address such as http://localhost:3000, not ${base}`);
  const url = new URL('openapi.json', base.endsWith('/') ? base : `${base}/`);
  const response = await fetch(url, { signal: AbortSignal.timeout(fetchMs) }).catch((error: Error) => {
    const why = error.name === 'TimeoutError' ? `after ${fetchMs / 1_000} s` : '';
    throw new AppError('unavailable', `${url.origin} does not answer ${why}`.trim(), { cause: error });
  });
  if (response.status >= 500) throw new AppError('unavailable', `${url} answers ${response.status}`);
  if (!response.ok)
    throw new AppError('invalid_input', `${url} answers ${response.status}; is ${name} there?`);
  const document: unknown = await response.json().catch((error: Error) => {
    if (error.name !== 'TimeoutError') return undefined;
    throw new AppError('unavailable', `${url} takes longer than ${fetchMs / 1_000} s`, { cause: error });
  });
  return checked(document, url, name);
}

/** Refuses anything but an OpenAPI document of the service, and references outside of it. */
function checked(document: unknown, url: URL, name: string): unknown {
  const { openapi, paths, info } = Object(document) as Record<string, unknown>;
  if (typeof openapi !== 'string' || !openapi.startsWith('3.') || typeof paths !== 'object' || !paths)
    throw new AppError('invalid_input', `${url} has no OpenAPI 3 document`);
  const title = topology.find((entry) => entry.name === name)?.site?.title;
  const served = Reflect.get(Object(info), 'title');
  if (served !== title)
    throw new AppError('invalid_input', `${url} describes ${served}, not ${title} (${name})`);
  JSON.stringify(document, (key, value) => {
    if (key === '$ref' && typeof value === 'string' && !value.startsWith('#/'))
      throw new AppError('invalid_input', `${url} refers to ${value}, which is outside of it`);
    return value;
  });
  return document;
}

async function typesOf(document: unknown): Promise<string> {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  try {
    return astToString(await openapiTS(JSON.stringify(document), { alphabetize: false }));
  } catch (error) {
    throw new AppError('invalid_input', `the OpenAPI document is faulty: ${(error as Error).message}`);
  }
}
