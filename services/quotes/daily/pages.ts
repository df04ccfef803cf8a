import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import { type Content, empty, formatNumber, type Html, html, icon, linkButton, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { addVary } from '@octavo/web/server';
import { likeButton, likes } from '../likes/index.ts';
import {
  type Category,
  type CountedQuote,
  countedQuotes,
  excerpt,
  largestCategories,
  quoteFigure,
} from '../quotes/index.ts';
import { categoryPath, pageRoutes, quotePath } from '../routes.ts';
import { isForStrangers, type PageSession, type Visitor, type Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { type DayKeys, dayOf } from './permutation.ts';
import { earlierDays, quoteOfDay } from './store.ts';

const earlierShown = 6;
const categoriesShown = 40;

export interface DailyPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly dayKeys: DayKeys;
}

export function addDailyPages(routes: PageRoutes<PageSession>, parts: DailyPagesParts): void {
  routes.get(pageRoutes.home, { access: parts.visitors }, (visitor) => showHome(visitor, parts));
}

async function showHome(visitor: Visitor, { database, clock, dayKeys }: DailyPagesParts): Promise<string> {
  const { day, secondsLeft } = dayOf(clock.now());
  const choice = await quoteOfDay(database, day, dayKeys);
  if (!choice) return emptyPage(visitor);
  const { id, isPinned } = choice;
  const earlier = await earlierDays(database, { day, limit: earlierShown });
  const quotes = await countedQuotes(database, [id, ...earlier.map((each) => each.id)]);
  const quote = quotes.find((each) => each.id === id);
  if (!quote) return emptyPage(visitor);
  const days = earlier.flatMap((each) => {
    const found = quotes.find((other) => other.id === each.id);
    return found ? [{ day: each.day, quote: found }] : [];
  });
  const categories = await largestCategories(database, categoriesShown);
  const isLiked =
    visitor.reader !== undefined && (await likes(database, { quoteId: id, userId: visitor.reader.id }));
  if (isPinned && isForStrangers(visitor)) {
    visitor.visit.reply.header('cache-control', `public, max-age=${secondsLeft}`);
    addVary(visitor.visit.reply, 'Cookie');
  }
  return homePage(visitor, { day, quote, isLiked, days, categories });
}

interface HomeView {
  readonly day: string;
  readonly quote: CountedQuote;
  readonly isLiked: boolean;
  readonly days: readonly { readonly day: string; readonly quote: CountedQuote }[];
  readonly categories: readonly Category[];
}

function homePage(visitor: Visitor, { day, quote, isLiked, days, categories }: HomeView): string {
  const frame = visitor.frame();
  const path = quotePath(pageRoutes.quote, quote.id);
  const comments = `${formatNumber(quote.comments)} ${quote.comments === 1 ? 'comment' : 'comments'}`;
  return site(frame, {
    title: 'Quote of the day',
    modules: ['quotes.js'],
    sharing: {
      description: `“${excerpt(quote.text, 200)}” — ${quote.author}`,
      path: pageRoutes.home,
      image: quotePath(pageRoutes.card, quote.id),
    },
    main: html`<h1 class="eyebrow">Quote of the day <time datetime="${day}" data-day>${longDay(day)}</time></h1>
${quoteFigure(quote, { isHero: true, isLink: true })}
<div class="deeds">${likeButton({ quote, isLiked, csrfField: frame.csrfField, back: pageRoutes.home })}
${linkButton(`${path}#comments`, html`${icon('comment')}${comments}`)}</div>
${days.length > 0 && earlierSection(days)}
<section><h2>Browse by category</h2><ul class="shelf">${categories.map(categoryLink)}</ul></section>`,
  });
}

function earlierSection(days: HomeView['days']): Html {
  return html`<section><h2>Earlier</h2><ol class="days">${days.map(
    ({ day, quote }) => html`<li><time datetime="${day}" data-day>${shortDay(day)}</time>
<div><a href="${quotePath(pageRoutes.quote, quote.id)}">${excerpt(quote.text, 110)}</a><small>${quote.author}</small></div></li>`,
  )}</ol></section>`;
}

function categoryLink({ name, slug, quotes }: Category): Html {
  return html`<li><a href="${categoryPath(slug)}">${name}<small>${formatNumber(quotes)}</small></a></li>`;
}

function emptyPage(visitor: Visitor): string {
  const { reader } = visitor;
  const actions: Content = reader
    ? linkButton(pageRoutes.newQuote, 'Add the first quote', 'primary')
    : linkButton(pageRoutes.signUp, 'Create account', 'primary');
  return site(visitor.frame(), {
    title: 'Quote of the day',
    sharing: { description: 'A collection of quotes.', path: pageRoutes.home },
    main: html`<h1 class="eyebrow">Quote of the day</h1>${empty({
      icon: 'inbox',
      title: 'No quotes yet',
      text: 'The quote of the day appears here as soon as the collection has quotes.',
      actions,
    })}`,
  });
}

const longFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeZone: 'UTC' });
const shortFormat = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });

/** Day such as `Sunday, November 22, 2026`. */
function longDay(day: string): string {
  return longFormat.format(new Date(day));
}

/** Day such as `November 22`. */
function shortDay(day: string): string {
  return shortFormat.format(new Date(day));
}
