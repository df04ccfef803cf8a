import type { Block, Extracted } from '../blocks.ts';

/** Names of what is read of an entry, in the order in which it is told. */
const told: Readonly<Record<string, string>> = {
  SUMMARY: 'Title',
  DTSTART: 'Start',
  DTEND: 'End',
  DUE: 'Due',
  DURATION: 'Duration',
  RRULE: 'Repeats',
  LOCATION: 'Location',
  ORGANIZER: 'Organizer',
  ATTENDEE: 'Attendees',
  STATUS: 'Status',
  CATEGORIES: 'Categories',
  DESCRIPTION: 'Description',
  URL: 'URL',
};

/** A calendar (iCalendar): each entry with its values by name. */
export function extractCalendar(text: string): Extracted {
  const blocks: Block[] = [];
  let title: string | undefined;
  let entry: Map<string, string[]> | undefined;
  let depth = 0;
  for (const line of text.replace(/\n[ \t]/g, '').split('\n')) {
    const { name, parameters, value } = propertyOf(line);
    if (name === 'X-WR-CALNAME') title = unescaped(value);
    if (name === 'BEGIN') {
      if (entry) depth++;
      else if (/^V(?:EVENT|TODO|JOURNAL)$/.test(value)) [entry, depth] = [new Map(), 0];
    } else if (name === 'END' && entry) {
      if (depth-- > 0) continue;
      const lines = Object.entries(told).flatMap(([key, label]) => {
        const values = entry?.get(key);
        return values ? [`${label}: ${values.join(', ')}`] : [];
      });
      blocks.push({ text: lines.join('\n') });
      entry = undefined;
    } else if (entry && depth === 0 && name in told) {
      const shown = shownValue(name, parameters, value);
      if (shown !== '') entry.set(name, [...(entry.get(name) ?? []), shown]);
    }
  }
  return { blocks, title };
}

interface Property {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

function propertyOf(line: string): Property {
  const [, name = '', parameters = '', value = ''] =
    /^([\w-]+)((?:;[\w-]+=(?:"[^"]*"|[^";:]*))*):(.*)$/.exec(line.trimEnd()) ?? [];
  return { name: name.toUpperCase(), parameters, value };
}

function shownValue(name: string, parameters: string, value: string): string {
  if (name === 'ORGANIZER' || name === 'ATTENDEE') {
    const [, quoted, plain] = /;CN=(?:"([^"]*)"|([^;:]*))/i.exec(parameters) ?? [];
    return quoted ?? plain ?? value.replace(/^mailto:/i, '');
  }
  const [, year, month, day, hour, minute, zulu] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?$/.exec(value) ?? [];
  if (year === undefined) return unescaped(value);
  if (hour === undefined) return `${year}-${month}-${day}`;
  const zone =
    zulu === 'Z' ? ' UTC' : (/;TZID="?([^;:"]*)/i.exec(parameters)?.[1] ?? '').replace(/^(?=.)/, ' ');
  return `${year}-${month}-${day} ${hour}:${minute}${zone}`;
}

function unescaped(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign)).trim();
}
