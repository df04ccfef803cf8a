import type { Html } from '@octavo/web/html';
import { barChart, card, columnChart } from '@octavo/web/html';
import { pageRoutes, pathOf } from '../routes.ts';
import { money, shortMoney } from '../site.ts';
import type { SectorAmount, YearAmount } from '../store/names.ts';

/** Most currencies shown; more would fill the page. */
const currenciesMax = 3;
const sectorsMax = 20;
const yearsMax = 20;
const ticksMax = 6;

/** Invested amounts of the sectors, as bars and numbers: a chart for each of the most frequent currencies. */
export function amountCharts(amounts: readonly SectorAmount[]): Html[] {
  const groups = byCurrency(amounts);
  return groups.slice(0, currenciesMax).map(([currency, rows]) =>
    card(
      groups.length > 1 ? `Invested by sector, in ${currency}` : 'Invested by sector',
      barChart({
        caption: `Invested amount of each sector in ${currency}`,
        heads: ['Sector', 'Invested'],
        points: rows.slice(0, sectorsMax).map(({ name, slug, minor }) => ({
          label: name,
          value: minor,
          text: money(minor, currency),
          href: pathOf(pageRoutes.sector, slug),
        })),
      }),
    ),
  );
}

/** Invested amounts of the 20 years up to the last one with investments, as columns that lead to them: a chart for each of the most frequent currencies. */
export function yearCharts(amounts: readonly YearAmount[]): Html[] {
  const groups = byCurrency(amounts);
  return groups.slice(0, currenciesMax).map(([currency, rows]) => {
    const points = everyYear(rows).map(({ year, minor }) => ({
      label: year,
      value: minor,
      text: money(minor, currency),
      href: `${pageRoutes.investments}?from=${year}-01-01&to=${year}-12-31`,
    }));
    const step = Math.ceil(points.length / ticksMax);
    return card(
      groups.length > 1 ? `Invested by year, in ${currency}` : 'Invested by year',
      columnChart({
        caption: `Invested amount of each year in ${currency}`,
        heads: ['Year', 'Invested'],
        points,
        ticks: points.map((_, index) => index).filter((index) => (points.length - 1 - index) % step === 0),
        format: (minor) => shortMoney(minor, currency),
      }),
    );
  });
}

/** The years from the first to the last one, those without investments too. */
function everyYear(rows: readonly YearAmount[]): { year: string; minor: number }[] {
  const amounts = new Map(rows.map(({ year, minor }) => [Number(year), minor]));
  const last = Math.max(...amounts.keys());
  const first = Math.max(Math.min(...amounts.keys()), last - yearsMax + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const year = first + index;
    return { year: String(year).padStart(4, '0'), minor: amounts.get(year) ?? 0 };
  });
}

/** The amounts of each currency, that with the most investments first. */
function byCurrency<T extends { currency: string; investments: number }>(
  amounts: readonly T[],
): [currency: string, amounts: T[]][] {
  const investmentsIn = (rows: readonly T[]) => rows.reduce((sum, { investments }) => sum + investments, 0);
  const groups = [...Map.groupBy(amounts, ({ currency }) => currency)];
  return groups.sort(([, one], [, other]) => investmentsIn(other) - investmentsIn(one));
}
