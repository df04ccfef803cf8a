/** The URLs of the API. */
export const routes = {
  chat: '/api/chat',
  cancel: '/api/chat/:id/cancel',
  feedback: '/api/chat/:id/feedback',
  completions: '/api/chat/completions',
  openaiCompletions: '/v1/chat/completions',
  openaiModels: '/v1/models',
  openaiModel: '/v1/models/:id',
  mcp: '/mcp',
  search: '/api/search',
  session: '/api/session',
  sessionItem: '/api/session/:id',
  sessionClear: '/api/session/:id/clear',
  sessionExport: '/api/session/:id/export',
  sessionShare: '/api/session/:id/share',
  sessions: '/api/sessions',
  upload: '/api/upload',
  documents: '/api/documents',
  document: '/api/documents/:id',
  documentSync: '/api/documents/sync',
  documentReindex: '/api/documents/:id/reindex',
  documentContent: '/api/documents/:id/content',
  documentText: '/api/documents/:id/text',
  documentChunks: '/api/documents/:id/chunks',
  documentPicture: '/api/documents/:id/pages/:page.png',
  strategies: '/api/strategies',
  tools: '/api/tools',
  systemInfo: '/api/system/info',
  livez: '/livez',
  readyz: '/readyz',
  health: '/health',
} as const;

/** The URLs of the pages. */
export const pageRoutes = {
  home: '/',
  settings: '/settings',
  signIn: '/sign-in',
  signOut: '/sign-out',
  account: '/account',
  leave: '/account/leave',
  ask: '/ask',
  rate: '/answers/:id/rate',
  chats: '/chats',
  chat: '/chats/:id',
  renameChat: '/chats/:id/rename',
  deleteChat: '/chats/:id/delete',
  shareChat: '/chats/:id/share',
  shared: '/shared/:id',
  documents: '/documents',
  formerlyShared: '/documents/formerly-shared',
  deleteDocument: '/documents/:id/delete',
  shareDocument: '/documents/:id/visibility',
  document: '/documents/:id',
} as const;

/** The address of a route for one item. */
export function pathOf(route: string, id: string): string {
  return route.replace(':id', encodeURIComponent(id));
}
