import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addVary } from '../../http/responses/cors.ts';

/** The better of the two encodings that a browser accepts (RFC 9110 section 12.5.3), if any. */
export function encodingFor(request: FastifyRequest): 'br' | 'gzip' | undefined {
  const accepted = request.headers['accept-encoding'] ?? '';
  if (/\bbr\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(accepted)) return 'br';
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(accepted) ? 'gzip' : undefined;
}

/**
 * A page in the smallest encoding that the browser accepts. Its size does not reveal secrets (BREACH): tokens differ each time,
 * and a request from another site comes without the session.
 */
export async function compressPage(page: string, reply: FastifyReply): Promise<string | Buffer> {
  addVary(reply, 'Accept-Encoding');
  const encoding = encodingFor(reply.request);
  if (!encoding || page.length < bytesMin || reply.hasHeader('content-encoding')) return page;
  reply.header('content-encoding', encoding).removeHeader('content-length');
  return encoding === 'br' ? brotliAsync(page, { params: quick }) : gzipAsync(page);
}

// A smaller page fits in one packet anyway.
const bytesMin = 1_200;
const quick = { [constants.BROTLI_PARAM_QUALITY]: 4 };
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
