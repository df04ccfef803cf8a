import type { FastifyReply } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { Asserted, Registered } from '../passkey-answers.ts';
import type { Reading } from './reader.ts';

export const json = { accepts: 'application/json' } as const;
export const readAsserted = refusing(compileValidator(Asserted));
export const readRegistered = refusing(compileValidator(Registered));

export function sendJson({ reply }: Reading, value: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}

function refusing<T>(read: (body: unknown) => { value: T; fields?: undefined } | { fields: object }) {
  return ({ request }: Reading): T => {
    const reading = read(request.body);
    if (reading.fields) throw new AppError('invalid_input', 'Your browser sent something unexpected.');
    return (reading as { value: T }).value;
  };
}
