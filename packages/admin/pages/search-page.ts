import { type Content, card, empty, type Html, html, notice } from '@octavo/web/html';
import { type AdminVisit, abilitiesOf, adminPage, capitalized, queryOf } from '../context.ts';
import type { Choice } from '../field.ts';
import { wordsOf } from '../lists/state.ts';
import type { Model } from '../model.ts';
import { findObjects } from '../table/objects.ts';

const shownMax = 5;

/** Matches of one model; undefined if it could not be searched. */
interface Found {
  readonly model: Model;
  readonly objects: readonly Choice[] | undefined;
}

/** Objects of all models that the user may view, by words and by number. */
export async function searchPage(context: AdminVisit): Promise<string> {
  const { registry, user } = context;
  const words = wordsOf(queryOf(context).get('q'));
  const models = registry.models.filter((model) => abilitiesOf(user, model).view);
  const found: Found[] = [];
  // One after another: a large table is read to its end if nothing matches.
  for (const model of words.length > 0 ? models : [])
    found.push({ model, objects: await search(context, model, words) });
  const matching = found.filter(({ objects }) => objects && objects.length > 0);
  const failed = found.filter(({ objects }) => objects === undefined);
  return adminPage(context.frame(), {
    title: 'Search',
    ...(words.length > 0 && { lead: html`Results for “${words.join(' ')}”` }),
    main: html`${failed.length > 0 && notice('warn', `Could not search ${failed.map(({ model }) => model.plural).join(', ')}. Try again in a moment.`)}${
      matching.length > 0
        ? html`<div class="stack object">${matching.map((each) => resultsCard(each, words))}</div>`
        : nothing(words, models)
    }`,
  });
}

async function search(
  { registry, actor, visit }: AdminVisit,
  model: Model,
  words: readonly string[],
): Promise<Found['objects']> {
  try {
    return await findObjects(registry, model, { words, limit: shownMax + 1 }, actor);
  } catch (error) {
    visit.request.log.warn({ err: error, model: model.path }, 'could not search the objects of a model');
    return undefined;
  }
}

function resultsCard({ model, objects = [] }: Found, words: readonly string[]): Html {
  const lines = objects
    .slice(0, shownMax)
    .map(
      ([id, title]) =>
        html`<li><a href="/admin/${model.path}/${encodeURIComponent(id)}/change/">${title}</a></li>`,
    );
  const all = `/admin/${model.path}/?${new URLSearchParams({ q: words.join(' ') })}`;
  return card(
    capitalized(model.plural),
    html`<ul class="models found">${lines}</ul>${objects.length > shownMax && html`<p><a href="${all}">All matching ${model.plural}</a></p>`}`,
  );
}

function nothing(words: readonly string[], models: readonly Model[]): Content {
  const places = models.map(({ plural }) => plural).join(', ');
  if (words.length === 0)
    return empty({
      icon: 'search',
      title: 'Search everything',
      text: `Type words or a number to find ${places}.`,
    });
  return empty({ icon: 'search', title: 'No matches', text: `Every word is looked for in ${places}.` });
}
