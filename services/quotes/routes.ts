/** The URLs of the API. */
export const routes = {
  quotes: '/api/quotes/',
  today: '/api/quotes/today/',
  random: '/api/quotes/random/',
  quote: '/api/quotes/:id/',
  like: '/api/quotes/:id/like/',
  comments: '/api/quotes/:id/comments/',
  comment: '/api/quotes/:id/comments/:commentId/',
  report: '/api/quotes/:id/report/',
  categories: '/api/categories/',
  register: '/api/register/',
  token: '/api/token/',
  refresh: '/api/token/refresh/',
  verify: '/api/token/verify/',
  blacklist: '/api/token/blacklist/',
} as const;

/** The URLs of the pages. */
export const pageRoutes = {
  home: '/',
  category: '/categories/:slug/',
  quotes: '/quotes/',
  author: '/authors/:author/',
  likes: '/likes/',
  quote: '/quotes/:id/',
  card: '/quotes/:id/card.png',
  like: '/quotes/:id/like/',
  comments: '/quotes/:id/comments/',
  deleteComment: '/quotes/:id/comments/:commentId/delete/',
  report: '/quotes/:id/report/',
  newQuote: '/quotes/new/',
  editQuote: '/quotes/:id/edit/',
  deleteQuote: '/quotes/:id/delete/',
  search: '/search/',
  signUp: '/accounts/signup/',
  signIn: '/accounts/login/',
  signOut: '/accounts/logout/',
} as const;

/** The address of a route for one quote: `quotePath(routes.like, 7)` is `/api/quotes/7/like/`. */
export function quotePath(route: string, id: number): string {
  return route.replace(':id', String(id));
}

export function commentPath(route: string, quoteId: number, commentId: number): string {
  return quotePath(route, quoteId).replace(':commentId', String(commentId));
}

export function categoryPath(slug: string): string {
  return pageRoutes.category.replace(':slug', encodeURIComponent(slug));
}

export function signInPath(next: string): string {
  return `${pageRoutes.signIn}?next=${encodeURIComponent(next).replaceAll('%2F', '/')}`;
}

/** Returns the address of the quotes of an author; of a search for a name that no address can hold. */
export function authorPath(author: string): string {
  // Browsers take these for a folder and its parent.
  if (!/^\.{1,2}$/.test(author))
    return pageRoutes.author.replace(':author', () => encodeURIComponent(author));
  return `${pageRoutes.search}?q=${encodeURIComponent(`"${author.replaceAll('"', ' ')}"`)}`;
}
