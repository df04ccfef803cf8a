import { AppError } from '@octavo/core';
import type { PermissionAction } from '@octavo/people/accounts';
import { type Frame, layout, type NavigationItem, type PageContent } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { Model } from './model.ts';
import type { Registry } from './registry.ts';
import type { Actor, AdminUser } from './user.ts';

/** A request of a signed-in user for a page of the admin. */
export interface AdminVisit {
  readonly registry: Registry;
  readonly user: AdminUser;
  readonly actor: Actor;
  /** Visit without the session's type, which pages do not read. */
  readonly visit: Visit<never>;
  /** Frame shared by all pages. It takes the flash message, so call it once for a page. */
  frame(): Frame;
}

/** A visit to the pages of one model. */
export interface ModelVisit extends AdminVisit {
  readonly model: Model;
  /** Actions that the user may do and the model allows. */
  readonly may: Readonly<Record<PermissionAction, boolean>>;
}

/** The query of the address. */
export function queryOf({ visit }: Pick<ModelVisit, 'visit'>): URLSearchParams {
  return new URL(visit.request.url, 'http://localhost').searchParams;
}

/** Returns the actions that a user may do with a model. */
export function abilitiesOf(user: AdminUser, model: Model): ModelVisit['may'] {
  const can = (action: 'add' | 'change' | 'delete') =>
    model.can?.[action] !== false && hasFunction(model, action) && user.permissions.may(model.path, action);
  return {
    view: user.permissions.may(model.path, 'view'),
    add: can('add'),
    change: can('change'),
    delete: can('delete'),
  };
}

function hasFunction(model: Model, action: 'add' | 'change' | 'delete'): boolean {
  if (model.kind === 'table') return true;
  return model[{ add: 'create', change: 'update', delete: 'delete' }[action] as 'create'] !== undefined;
}

/** Throws `forbidden` unless the user may do it. */
export function demand({ may, model }: ModelVisit, action: PermissionAction): void {
  if (may[action]) return;
  throw new AppError('forbidden', `You do not have permission to ${action} ${model.plural}.`);
}

/** The frame of the admin's pages: navigation to the models that the user may see, by app. */
export function adminFrame(
  registry: Registry,
  visit: Visit<never>,
  user: AdminUser,
  hasPassword: boolean,
): Frame {
  return {
    ...visit.frame(),
    service: registry.title,
    home: '/admin/',
    isAdministrator: true,
    navigation: navigationOf(registry, user),
    search: { href: '/admin/search/', label: 'Search all', value: searchedIn(visit) },
    account: {
      name: user.name,
      detail: user.detail,
      signOutHref: '/admin/logout/',
      ...(hasPassword && { href: '/admin/password_change/' }),
    },
    flash: visit.takeFlash(),
  };
}

/** Text of the search in the frame: that of the page with its results. */
function searchedIn(visit: Visit<never>): string {
  const { pathname, searchParams } = new URL(visit.request.url, 'http://localhost');
  return pathname === '/admin/search/' ? (searchParams.get('q') ?? '') : '';
}

/** A page of the admin with its stylesheet and module, and those of its own. */
export function adminPage(frame: Frame, page: PageContent): string {
  return layout(frame, {
    ...page,
    styles: ['admin.css', ...(page.styles ?? [])],
    modules: ['admin.js', ...(page.modules ?? [])],
  });
}

function navigationOf(registry: Registry, user: AdminUser): NavigationItem[] {
  const models = registry.models.filter((model) => abilitiesOf(user, model).view);
  return [
    { href: '/admin/', label: 'Overview', icon: 'inbox' },
    ...models.map((model) => ({
      href: `/admin/${model.path}/`,
      label: capitalized(model.plural),
      icon: model.icon ?? (isAccountModel(model) ? ('users' as const) : ('list' as const)),
      group: groupOf(model),
    })),
  ];
}

function isAccountModel({ path }: Model): boolean {
  return path.startsWith('auth/');
}

/** The heading under which a model is listed. */
export function groupOf(model: Model): string {
  return isAccountModel(model)
    ? 'Accounts'
    : capitalized((model.path.split('/')[0] ?? '').replaceAll('_', ' '));
}

/** A text with a capital letter at the start. */
export function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
