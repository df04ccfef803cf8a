import { card, linkButton } from '../html/blocks.ts';
import { time } from '../html/format.ts';
import { type Content, type Html, html } from '../html/html.ts';
import { type AdminVisit, abilitiesOf, adminPage, capitalized, groupOf } from './context.ts';
import { type HistoryEntry, historyOfUser } from './history.ts';
import type { Model } from './model.ts';
import { actionBadge } from './pages-history.ts';

const recentMax = 12;

/** All models that the user may see, by app, and what the user did last. With `app`, only those of one app. */
export async function indexPage(context: AdminVisit, app?: string): Promise<string> {
  const { site, user } = context;
  const models = site.models.filter(
    (model) => abilitiesOf(user, model).view && (app === undefined || model.path.startsWith(`${app}/`)),
  );
  const groups = [...new Set(models.map(groupOf))];
  const recent = site.hasDatabase ? await historyOfUser(site.database, user.id, recentMax) : [];
  return adminPage(context.frame(), {
    title: app === undefined ? 'Overview' : (groups[0] ?? 'Overview'),
    ...(models.length === 0 && {
      lead: 'You do not have permission for anything here. Ask an administrator.',
    }),
    main: html`<div class="beside"><div class="stack">${groups.map((group) =>
      card(
        group,
        modelList(
          context,
          models.filter((model) => groupOf(model) === group),
        ),
      ),
    )}</div>${recentCard(context, recent)}</div>`,
  });
}

function modelList({ user }: AdminVisit, models: readonly Model[]): Html {
  const lines = models.map((model) => {
    const add = html`Add<span class="hidden"> ${model.label}</span>`;
    return html`<li><div><a href="/admin/${model.path}/">${capitalized(model.plural)}</a>${model.description && html`<small>${model.description}</small>`}</div>
${abilitiesOf(user, model).add && linkButton(`/admin/${model.path}/add/`, add, 'quiet')}</li>`;
  });
  return html`<ul class="models">${lines}</ul>`;
}

function recentCard({ site }: AdminVisit, entries: readonly HistoryEntry[]): Content {
  if (!site.hasDatabase) return undefined;
  const known = new Map(site.models.map((model) => [model.path, model]));
  const lines = entries.map(({ model, id, title, action, atMs }) => {
    const isThere = known.has(model) && action !== 'delete';
    const href = `/admin/${model}/${encodeURIComponent(id)}/change/`;
    return html`<li>${isThere ? html`<a href="${href}">${title}</a>` : html`<span>${title}</span>`}
<span class="small muted">${actionBadge(action)} ${known.get(model)?.label ?? model}, ${time(atMs)}</span></li>`;
  });
  return card(
    'Your recent actions',
    lines.length === 0 ? html`<p class="muted">None yet.</p>` : html`<ul class="recent">${lines}</ul>`,
  );
}
