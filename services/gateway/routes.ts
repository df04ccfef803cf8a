/** The URL space of the API. `:id` and the like are in Fastify's syntax. */
export const routes = {
  login: '/api/v1/auth/login',
  posts: '/api/v1/posts',
  post: '/api/v1/posts/:id',
  restorePost: '/api/v1/posts/:id/restore',
  deletedPosts: '/api/v1/posts/deleted',
  postSentiment: '/api/v1/posts/:id/sentiment',
  bulk: '/api/v1/posts/bulk',
  export: '/api/v1/posts/export',
  analytics: '/api/v1/posts/analytics',
  dailyAnalytics: '/api/v1/posts/analytics/daily',
  reanalyze: '/api/v1/posts/reanalyze',
  reanalysis: '/api/v1/posts/reanalyze/:jobId',
  exports: '/api/v1/exports',
  storedExport: '/api/v1/exports/:key',
  /** Path for a key whose slash is not encoded. */
  storedExportPlain: '/api/v1/exports/exports/:name',
  sentiment: '/api/v1/ml/sentiment',
  adminStatus: '/api/v1/admin/status',
} as const;

/** Prefix of all addresses that need a token, also those without a route. */
export const protectedPrefix = '/api/v1';

/** The URL space of the pages. A form posts to the address that shows it. */
export const pageRoutes = {
  posts: '/',
  newPost: '/posts/new',
  deletePosts: '/posts/delete',
  deletedPosts: '/posts/deleted',
  restorePosts: '/posts/restore',
  post: '/posts/:id',
  editPost: '/posts/:id/edit',
  deletePost: '/posts/:id/delete',
  importPosts: '/posts/import',
  importFile: '/posts/import/:importId',
  importFailed: '/posts/import/:importId/failed',
  exportPosts: '/posts/export',
  storedExports: '/exports',
  storedExport: '/exports/:name',
  deleteExport: '/exports/:name/delete',
  analysis: '/analysis',
  reanalyses: '/analysis/reanalyses',
  cancelReanalysis: '/analysis/reanalyses/:jobId/cancel',
  sentiment: '/sentiment',
  status: '/status',
  users: '/users',
  newUser: '/users/new',
  user: '/users/:uid',
  userRole: '/users/:uid/role',
  disableUser: '/users/:uid/disable',
  enableUser: '/users/:uid/enable',
  resetPassword: '/users/:uid/password',
  resetApp: '/users/:uid/second-factor',
  account: '/account',
  leave: '/account/leave',
  ownPassword: '/account/password',
  setUpApp: '/account/second-factor',
  confirmApp: '/account/second-factor/confirm',
  removeApp: '/account/second-factor/remove',
  signIn: '/sign-in',
  signOut: '/sign-out',
} as const;

/** A path with a query. Parameters without a value are left out. */
export function link(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** The address of a page about one post. */
export function postPath(route: 'post' | 'editPost' | 'deletePost', id: number): string {
  return pageRoutes[route].replace(':id', String(id));
}

/** The address of a page about one import. */
export function importPath(route: 'importFile' | 'importFailed', id: string): string {
  return pageRoutes[route].replace(':importId', id);
}

/** The address of a page about one stored export. */
export function exportPath(route: 'storedExport' | 'deleteExport', name: string): string {
  return pageRoutes[route].replace(':name', name);
}

/** The address of a page about one user. */
export function userPath(
  route: 'user' | 'userRole' | 'disableUser' | 'enableUser' | 'resetPassword' | 'resetApp',
  uid: number,
): string {
  return pageRoutes[route].replace(':uid', String(uid));
}
