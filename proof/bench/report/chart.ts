const width = 760;
const labelWidth = 270;
const valueWidth = 90;
const barHeight = 18;
const titleHeight = 26;
const gap = 14;

/** Rates of ours and of others, ours first. */
export interface Comparison {
  readonly title: string;
  readonly figures: Readonly<Record<string, number>>;
}

/** Bars for each comparison, as SVG that is readable on light and dark pages. The longest bar of each comparison is the fastest. */
export function chart(comparisons: readonly Comparison[]): string {
  let y = gap;
  const drawn = comparisons.map((comparison) => {
    const group = bars(comparison, y);
    y += titleHeight + Object.keys(comparison.figures).length * (barHeight + 4) + gap;
    return group;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="system-ui, sans-serif" font-size="13">
<title>${escapeXml(comparisons.map(({ title }) => title).join('; '))}</title>
<style>text{fill:#1f2328}.title{font-weight:600}.ours{fill:#0b6bcb}.other{fill:#8c959f}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#58a6ff}.other{fill:#6e7681}}</style>
${drawn.join('\n')}
</svg>
`;
}

function bars({ title, figures }: Comparison, top: number): string {
  const largest = Math.max(...Object.values(figures), 1);
  const room = width - labelWidth - valueWidth;
  const lines = Object.entries(figures).map(([name, rate], index) => {
    const y = top + titleHeight + index * (barHeight + 4);
    const length = Math.max(1, (rate / largest) * room);
    const middle = y + barHeight - 5;
    return `<text x="${labelWidth - 8}" y="${middle}" text-anchor="end">${escapeXml(name)}</text>
<rect class="${name.startsWith('ours') ? 'ours' : 'other'}" x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>
<text x="${(labelWidth + length + 6).toFixed(1)}" y="${middle}">${Math.round(rate).toLocaleString('en-US')}/s</text>`;
  });
  return [`<text class="title" x="0" y="${top + 14}">${escapeXml(title)}</text>`, ...lines].join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
