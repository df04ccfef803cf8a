/** The URLs of the API. */
export const routes = {
  questions: '/api/questions/',
  question: '/api/questions/:id/',
  voteOnQuestion: '/api/questions/:id/vote/',
  choices: '/api/choices/',
  choice: '/api/choices/:id/',
  token: '/api/token/',
} as const;

/** The URLs of the pages. */
export const pageRoutes = {
  home: '/',
  polls: '/polls/',
  poll: '/polls/:id/',
  vote: '/polls/:id/vote/',
  results: '/polls/:id/results/',
  stream: '/polls/:id/results/stream',
  card: '/polls/:id/card.svg',
} as const;

/** The address of a route for one question or choice: `pathOf(routes.choice, 7)` is `/api/choices/7/`. */
export function pathOf(route: string, id: number): string {
  return route.replace(':id', String(id));
}
