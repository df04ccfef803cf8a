/** The URL space of the pages. A form is sent to the address it is shown at. */
export const pageRoutes = {
  posts: '/',
  newPost: '/posts/new',
  post: '/posts/:id',
  editPost: '/posts/:id/edit',
  deletePost: '/posts/:id/delete',
  importPosts: '/posts/import',
  importRows: '/posts/import/rows',
  exportPosts: '/posts/export',
  storedExports: '/exports',
  storedExport: '/exports/:name',
  analysis: '/analysis',
  reanalyses: '/analysis/reanalyses',
  cancelReanalysis: '/analysis/reanalyses/:jobId/cancel',
  sentiment: '/sentiment',
  status: '/status',
  signIn: '/sign-in',
  signOut: '/sign-out',
} as const;

/** The address of a page about one post. */
export function postPath(route: 'post' | 'editPost' | 'deletePost', id: number): string {
  return pageRoutes[route].replace(':id', String(id));
}

/** Where the form goes that cancels a reanalysis. */
export function cancelReanalysisPath(jobId: string): string {
  return pageRoutes.cancelReanalysis.replace(':jobId', encodeURIComponent(jobId));
}

/** The address of a stored file. */
export function storedExportPath(name: string): string {
  return pageRoutes.storedExport.replace(':name', name);
}
