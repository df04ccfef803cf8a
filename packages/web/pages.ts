/** Pages: routes, sessions of forms, assets. */
export { loadAssets } from './html/pages/assets.ts';
export { csrfFieldName, isFromElsewhere } from './html/pages/csrf.ts';
export { keepActions } from './html/pages/kept-forms.ts';
export { addMailPages, mailsHint, mailsLink, mailView } from './html/pages/mails.ts';
export {
  type PageAccess,
  type PageResponder,
  type PageRoutes,
  type PagesOptions,
  servePages,
} from './html/pages/pages.ts';
export { RenderedPages } from './html/pages/rendered-pages.ts';
export { type Flash, ownPath, Visit } from './html/pages/visit.ts';
