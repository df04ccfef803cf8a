import type { Html } from '@octavo/web/html';
import { barChart, card } from '@octavo/web/html';
import { money } from '../site.ts';
import type { SectorAmount } from '../store/names.ts';

/** Most currencies shown; more would fill the page. */
const currenciesMax = 3;
const sectorsMax = 20;

/** Invested amounts of the sectors, as bars and numbers: a chart for each of the most frequent currencies. */
export function amountCharts(amounts: readonly SectorAmount[]): Html[] {
  const groups = [...Map.groupBy(amounts, ({ currency }) => currency)];
  const investmentsIn = (rows: readonly SectorAmount[]) =>
    rows.reduce((sum, { investments }) => sum + investments, 0);
  return groups
    .sort(([, one], [, other]) => investmentsIn(other) - investmentsIn(one))
    .slice(0, currenciesMax)
    .map(([currency, rows]) =>
      card(
        groups.length > 1 ? `Invested by sector, in ${currency}` : 'Invested by sector',
        barChart({
          caption: `Invested amount of each sector in ${currency}`,
          heads: ['Sector', 'Invested'],
          points: rows.slice(0, sectorsMax).map(({ name, minor }) => ({
            label: name,
            value: minor,
            text: money(minor, currency),
          })),
        }),
      ),
    );
}
