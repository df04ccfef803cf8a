import { existsSync, readFileSync } from 'node:fs';
import type { Site } from './sites.ts';

/** `dashboard.json` of a service. */
interface ServiceRow {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly description?: string;
    readonly unit: string;
    readonly queries: readonly { readonly expr: string; readonly legend: string }[];
  }[];
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
}

interface Dashboard {
  readonly panels: readonly Panel[];
}

const source = { type: 'prometheus', uid: `\${datasource}` };
const gridWidth = 24;
const panelHeight = 8;

/**
 * `deploy/grafana/octavo.json`: the rows that are about all services stay as they are there, those of services come after them, from the
 * `dashboard.json` in their folders.
 */
export function renderDashboard(sites: readonly Site[], committed: string): string {
  const dashboard = JSON.parse(committed) as Dashboard;
  const rows = sites.flatMap(({ name, folder = name }) => rowOf(folder) ?? []);
  const shared = withoutRows(dashboard.panels, new Set(rows.map(({ title }) => title)));
  const end = Math.max(...shared.map(({ gridPos }) => gridPos.y + gridPos.h));
  const own = rows.flatMap((row, index) => panelsOf(row, end + index * (panelHeight + 1)));
  const panels = [...shared, ...own].map((panel, index) => ({ ...panel, id: index + 1 }));
  const text = JSON.stringify({ ...dashboard, panels }, null, 2);
  // Short lists of texts on one line, as our formatter has them.
  return `${text.replace(/\[\n\s+("[^"\n]*"(?:,\n\s+"[^"\n]*")*)\n\s+\]/g, (_list, items: string) => `[${items.replace(/\n\s+/g, ' ')}]`)}\n`;
}

function rowOf(folder: string): ServiceRow | undefined {
  const file = new URL(`../../services/${folder}/dashboard.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Moves up what stands below a row that goes. */
function withoutRows(panels: readonly Panel[], titles: ReadonlySet<string>): Panel[] {
  const kept: Panel[] = [];
  let isKept = true;
  let y = 0;
  let rowStart = 0;
  for (const panel of panels) {
    if (panel.type === 'row') {
      isKept = !titles.has(panel.title);
      rowStart = panel.gridPos.y;
      y = Math.max(0, ...kept.map(({ gridPos }) => gridPos.y + gridPos.h));
    }
    if (isKept) kept.push({ ...panel, gridPos: { ...panel.gridPos, y: y + panel.gridPos.y - rowStart } });
  }
  return kept;
}

function panelsOf({ title, panels }: ServiceRow, y: number): object[] {
  const width = gridWidth / panels.length;
  const row = { type: 'row', title, collapsed: false, gridPos: { h: 1, w: gridWidth, x: 0, y }, panels: [] };
  return [
    row,
    ...panels.map(({ title: name, description = '', unit, queries }, index) => ({
      type: 'timeseries',
      title: name,
      description,
      datasource: source,
      gridPos: { h: panelHeight, w: width, x: index * width, y: y + 1 },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(({ expr, legend }, nth) => ({
        refId: String.fromCharCode(65 + nth),
        datasource: source,
        expr,
        legendFormat: legend,
      })),
      options: {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    })),
  ];
}
