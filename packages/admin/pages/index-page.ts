import {
  type Content,
  card,
  count,
  formatNumber,
  type Html,
  html,
  icon,
  linkButton,
  time,
} from '@octavo/web/html';
import { type HistoryEntry, latestChanges } from '../changes/history.ts';
import { type AdminVisit, abilitiesOf, adminPage, capitalized, groupOf } from '../context.ts';
import { ListState } from '../lists/state.ts';
import type { ListPage, Model } from '../model.ts';
import { countObjects, listObjects } from '../table/objects.ts';
import { actionBadge, places } from './history.ts';

const latestMax = 12;

/** All models that the user may see, by app and with their counts, and the latest changes. With `app`, only those of one app. */
export async function indexPage(context: AdminVisit, app?: string): Promise<string> {
  const { registry, user } = context;
  const models = registry.models.filter(
    (model) => abilitiesOf(user, model).view && (app === undefined || model.path.startsWith(`${app}/`)),
  );
  const groups = [...new Set(models.map(groupOf))];
  const paths = models.map(({ path }) => path);
  const [waiting, counts, latest] = await Promise.all([
    waitingCard(context, models),
    Promise.all(models.map((model) => countOf(context, model))),
    latestChanges(registry.database, paths, latestMax),
  ]);
  const lines = models.map((model, index) => ({ model, count: counts[index] }));
  return adminPage(context.frame(), {
    title: app === undefined ? 'Overview' : (groups[0] ?? 'Overview'),
    ...(models.length === 0 && {
      lead: 'You do not have permission to view anything here. Ask an administrator.',
    }),
    main: html`<div class="beside"><div class="stack">${waiting}${groups.map((group) =>
      card(
        group,
        modelList(
          context,
          lines.filter(({ model }) => groupOf(model) === group),
        ),
      ),
    )}</div>${latestCard(context, latest)}</div>`,
  });
}

/** Links to the lists of what waits for staff; nothing if there is none. */
async function waitingCard(
  { registry, actor, visit }: AdminVisit,
  models: readonly Model[],
): Promise<Content> {
  const lines = models.map(async (model) => {
    const { waiting, path } = model;
    if (!waiting) return [];
    const { query } = new ListState(model, new URLSearchParams(waiting.query), registry.clock.now());
    const { total } = await listObjects(registry, model, { ...query, limit: 1 }, actor).catch((error) => {
      visit.request.log.warn({ err: error, model: path }, 'could not count what waits for staff');
      return { total: 0 };
    });
    if (total === 0) return [];
    const search = waiting.query && `?${waiting.query}`;
    return [
      html`<li><a class="named" href="/admin/${path}/${search}">${icon(model.icon ?? 'inbox')}${count(total, ...waiting.nouns)}</a></li>`,
    ];
  });
  const found = (await Promise.all(lines)).flat();
  return found.length > 0 && card('Waiting for you', html`<ul class="models">${found}</ul>`);
}

type Count = Pick<ListPage, 'total' | 'isCapped'> | undefined;

/** The number of objects; undefined if their service does not tell it now. The other models are shown without it. */
async function countOf({ registry, actor, visit }: AdminVisit, model: Model): Promise<Count> {
  try {
    return await countObjects(registry, model, actor);
  } catch (error) {
    visit.request.log.warn({ err: error, model: model.path }, 'could not count the objects of a model');
    return undefined;
  }
}

function modelList({ user }: AdminVisit, lines: readonly { model: Model; count: Count }[]): Html {
  return html`<ul class="models">${lines.map(({ model, count }) => {
    const add = html`Add<span class="hidden"> ${model.label}</span>`;
    return html`<li><div><a href="/admin/${model.path}/">${capitalized(model.plural)}</a>${model.description && html`<small>${model.description}</small>`}</div>
<span class="count">${shownCount(count)}</span>${abilitiesOf(user, model).add ? linkButton(`/admin/${model.path}/add/`, add, 'quiet') : html`<span class="no-add"></span>`}</li>`;
  })}</ul>`;
}

function shownCount(count: Count): Content {
  if (!count) return html`<span title="The number is not known right now.">—</span>`;
  const number = formatNumber(count.total);
  return count.isCapped ? html`<span title="More than ${number}">${number}+</span>` : number;
}

function latestCard({ registry }: AdminVisit, entries: readonly HistoryEntry[]): Html {
  const known = new Map(registry.models.map((model) => [model.path, model]));
  const lines = entries.map(({ model, id, title, action, atMs, userName, via }) => {
    const href = `/admin/${model}/${encodeURIComponent(id)}/change/`;
    const who = [userName || 'A program', via && via !== 'admin' && `(${places[via]})`].filter(Boolean);
    return html`<li>${action === 'delete' ? html`<span>${title}</span>` : html`<a href="${href}">${title}</a>`}
<span class="small muted">${actionBadge(action)} ${known.get(model)?.label}, ${who.join(' ')}, ${time(atMs)}</span></li>`;
  });
  return card(
    'Latest changes',
    lines.length === 0 ? html`<p class="muted">None yet.</p>` : html`<ul class="recent">${lines}</ul>`,
  );
}
