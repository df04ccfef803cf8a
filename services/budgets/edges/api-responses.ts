import type { FastifyReply } from 'fastify';
import { pathOf, routes } from '../routes.ts';

/** Adds status 202 and the address of a task that was queued. */
export function accepted<T extends { readonly id: string }>(reply: FastifyReply, task: T): T {
  reply.code(202).header('location', pathOf(routes.task, task.id));
  return task;
}
