/** The URL space of the API. `:id` and kin are as the router wants them. */
export const routes = {
  login: '/api/v1/auth/login',
  posts: '/api/v1/posts',
  post: '/api/v1/posts/:id',
  postSentiment: '/api/v1/posts/:id/sentiment',
  bulk: '/api/v1/posts/bulk',
  export: '/api/v1/posts/export',
  analytics: '/api/v1/posts/analytics',
  reanalyze: '/api/v1/posts/reanalyze',
  reanalysis: '/api/v1/posts/reanalyze/:jobId',
  exports: '/api/v1/exports',
  storedExport: '/api/v1/exports/:key',
  /** The same where the slash of the key is not encoded. */
  storedExportPlain: '/api/v1/exports/exports/:name',
  sentiment: '/api/v1/ml/sentiment',
  adminStatus: '/api/v1/admin/status',
} as const;

/** Everything below needs a token, known route or not. */
export const protectedPrefix = '/api/v1';

/** A path with its query; parameters without a value are left out. */
export function link(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? path : `${path}?${search}`;
}
