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
  newPoll: '/polls/new/',
  mine: '/polls/mine/',
  mineOne: '/polls/mine/:id/',
  /** A poll of a stranger, for the holder of the token. */
  manage: '/polls/manage/:token/',
  poll: '/polls/:id/',
  vote: '/polls/:id/vote/',
  results: '/polls/:id/results/',
  stream: '/polls/:id/results/stream',
  votesOverTime: '/polls/:id/results/times/',
  resultsFile: '/polls/:id/results.csv',
  /** The question and its results for a projector. */
  screen: '/polls/:id/screen/',
  /** The question and its results for frames on other sites. */
  embed: '/polls/:id/embed/',
  qrCode: '/polls/:id/qr.svg',
  card: '/polls/:id/card.png',
} as const;

/** The address of a route for one question or choice: `pathOf(routes.choice, 7)` is `/api/choices/7/`. */
export function pathOf(route: string, id: number): string {
  return route.replace(':id', String(id));
}
