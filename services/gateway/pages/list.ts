import { AppError, type Fields } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { compileTextValidator } from '#kit/http/validation/text-parameters.ts';
import type { Validation } from '#kit/http/validation/validator.ts';
import { type Listing, ListQuery, toListing } from '../listing.ts';
import { pageRoutes } from '../page-routes.ts';
import { postListPage } from '../views/post-list.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { ForReaders } from './reader.ts';

type Query = Readonly<Record<string, unknown>>;
type ReadQuery = (query: Query) => Validation<ListQuery>;

export function addListPage(
  routes: PageRoutes<Ticket>,
  forReaders: ForReaders,
  { posts }: Pick<PageParts, 'posts'>,
): void {
  const readQuery = compileTextValidator(ListQuery) as ReadQuery;
  routes.get(
    pageRoutes.posts,
    forReaders('post', 'read', async ({ visit, caller, may, call, frame }) => {
      const { listing, problem } = readListing(visit.request.query as Query, readQuery);
      const found = await posts.list(listing, call);
      const { uid } = caller;
      return postListPage(frame(), { listing, found, uid, may, problem });
    }),
  );
}

/** A list without the part of its address that cannot be used, and with a word on it, is better than none. */
function readListing(query: Query, readQuery: ReadQuery): { listing: Listing; problem?: string } {
  // A form sends its empty fields too.
  const given = Object.fromEntries(Object.entries(query).filter(([, text]) => text !== ''));
  try {
    const reading = readQuery(given);
    if (reading.fields) throw new AppError('invalid_input', 'query', { fields: reading.fields });
    return { listing: toListing(reading.value) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const usable = Object.entries(given).filter(([name]) => !Object.hasOwn(error.fields, name));
    const { listing } = readListing(Object.fromEntries(usable), readQuery);
    return { listing, problem: inWords(error.fields) };
  }
}

function inWords(fields: Fields): string {
  const labels: Record<string, string> = { userId: 'User number', search: 'Search', page: 'Page' };
  const problems = Object.entries(fields).map(([name, problem]) => `${labels[name] ?? name} ${problem}`);
  return `${problems.join('; ')}. It was left out.`;
}
