import type { Derived, Session, WriteSession } from '../db/index.ts';

/**
 * Fills an index of words for `derived` of a service. `read` returns some documents by ascending id after the given one, or none at the
 * end; `put` adds them to the index.
 */
export function refilledBy<DB, Document extends { readonly id: number }>(
  read: (session: Session<DB>, after: number) => Promise<readonly Document[]>,
  put: (session: WriteSession<DB>, documents: readonly Document[]) => Promise<void>,
): NonNullable<Derived[string]> {
  return {
    async fill(given) {
      const session = given as WriteSession<DB>;
      let after = 0;
      for (;;) {
        const documents = await read(session, after);
        const last = documents.at(-1);
        if (!last) return;
        await put(session, documents);
        after = last.id;
      }
    },
  };
}
