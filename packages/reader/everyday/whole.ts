import { comparedIn } from '../questions/parts.ts';
import type { Documents, ListedDocument } from './documents.ts';
import { intentOf, withoutCourtesy } from './intent.ts';
import { documentsMeant } from './reply.ts';

/** The documents that are to be summed up, or compared with each other, by all that they say; none for other questions. */
export async function wholeDocuments(
  question: string,
  open: () => Promise<Documents>,
): Promise<readonly ListedDocument[]> {
  const intent = intentOf(question);
  const topics = intent?.kind === 'summary' ? [intent.topic] : (comparedIn(withoutCourtesy(question)) ?? []);
  if (topics.length === 0) return [];
  const documents = await open();
  const listed = await documents.list();
  const meant = await Promise.all(topics.map((topic) => documentsMeant(documents, topic, listed)));
  if (meant.some((each) => each === listed && each.length > 1)) return [];
  const found = meant.flatMap(([first]) => first ?? []);
  return new Set(found).size === topics.length ? found : [];
}
