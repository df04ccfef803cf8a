import { type Database, queriedGauges } from '@octavo/data';
import type { Registry } from 'prom-client';
import { everyoneKey } from '../../library.ts';
import type { Tables } from '../../tables.ts';

/** Counts all documents for operators, and for pages those that are no secret. */
export function addDocumentMetrics(registry: Registry, { kysely }: Database<Tables>): void {
  const helps = {
    chat_documents: 'Documents of all libraries.',
    chat_documents_everyone: 'Documents that everyone may read.',
    chat_documents_failed: 'Documents that could not be read.',
  };
  queriedGauges(registry, helps, async () => {
    const [all, everyones, failed] = await Promise.all([
      kysely
        .selectFrom('document')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow(),
      kysely
        .selectFrom('document')
        .innerJoin('library', 'library.id', 'document.library')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('library.key', '=', everyoneKey)
        .executeTakeFirstOrThrow(),
      kysely
        .selectFrom('document')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('status', '=', 'failed')
        .executeTakeFirstOrThrow(),
    ]);
    return {
      chat_documents: all.total,
      chat_documents_everyone: everyones.total,
      chat_documents_failed: failed.total,
    };
  });
}
