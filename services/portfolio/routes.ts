/** The URL space of the API. `:id` is an id or a slug. */
export const routes = {
  token: '/auth/token',
  team: '/api/team',
  member: '/api/team/:id',
  memberInvestments: '/api/team/:id/investments',
  investments: '/api/investments',
  investment: '/api/investments/:id',
  sectors: '/api/sectors',
  sector: '/api/sectors/:id',
  sectorInvestments: '/api/sectors/:id/investments',
} as const;

/** The URL space of the pages. */
export const pageRoutes = {
  home: '/',
  team: '/team',
  member: '/team/:id',
  investments: '/investments',
  investment: '/investments/:id',
  sectors: '/sectors',
  sector: '/sectors/:id',
  import: '/import',
  importFile: '/import/:id',
  signIn: '/admin/login/',
  signOut: '/admin/logout/',
  admin: '/admin/',
} as const;

/** Prefix of all addresses that need a token, also those without a route. */
export const protectedPrefix = '/api/';

/** The address of a route for one record. */
export function pathOf(route: string, id: unknown): string {
  return route.replace(':id', encodeURIComponent(String(id)));
}
