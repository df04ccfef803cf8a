import type { FastifyReply, FastifyRequest } from 'fastify';
import { canceled } from './call.ts';
import type { MethodDefinition } from './contract.ts';
import type { NoteCall } from './metrics.ts';
import { sendBytes, sendError } from './reply.ts';
import { bodyOf, formatOf, readCallStart, readMessage, refuseEncoding, writeJson } from './request.ts';
import { hideForeign, type RunStart, runUnary, type ServedMethod } from './run.ts';
import { createWriter } from './writer.ts';

/** The route of a unary method. */
export function serveUnary(
  definition: MethodDefinition,
  method: ServedMethod,
  note: NoteCall,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { requestType, responseType } = definition;
  const writeProto = createWriter(responseType);

  return (request, reply) => {
    const startedMs = performance.now();
    const format = formatOf(request, 'application/');
    refuseEncoding(request.headers['content-encoding']);
    const start = { ...readCallStart(request), onSignal: abortOnClose(method, reply) };
    const message = readMessage(requestType, format, bodyOf(request));
    answer().then(
      (bytes) => {
        note('ok', startedMs);
        sendBytes(reply, 200, `application/${format}`, bytes);
      },
      (error: unknown) => {
        const shown = hideForeign(error, method, request.id);
        note(shown.code, startedMs);
        sendError(reply, shown);
      },
    );

    async function answer(): Promise<Uint8Array> {
      const response = await runUnary(method, message, start);
      return format === 'proto' ? writeProto(response) : writeJson(responseType, response);
    }
  };
}

/** Watches for the caller's going away only where a handler asks. */
function abortOnClose(method: ServedMethod, { raw }: FastifyReply): RunStart['onSignal'] {
  return (abort) => {
    const onClose = () => {
      if (!raw.writableFinished) abort(canceled(method.name));
    };
    if (raw.destroyed) onClose();
    else raw.once('close', onClose);
  };
}
