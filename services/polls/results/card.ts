import { count, formatPercent } from '@octavo/web/html';
import { ink, type Picture, sharedSize, type TextBox } from '@octavo/web/pictures';
import { type Poll, type PollState, takesSeveral, toCounts } from '../poll.ts';

const rowsMax = 4;
const rowStep = 64;
const left = 80;
const width = sharedSize.width - 2 * left;
const top = 136;
const bottom = 530;

/** A poll as a picture for links that are shared: the question, its first choices, and their results where everybody may see them. */
export function pollCard({ question, choices }: Poll, { isClosed, showsResults }: PollState): Picture {
  const { total, choices: counts } = toCounts(question, choices);
  const rows = choices.length > rowsMax ? choices.slice(0, rowsMax - 1) : choices;
  const facts = [
    count(choices.length, 'choice'),
    ...(showsResults ? [count(total, takesSeveral(question) ? 'voter' : 'vote')] : []),
    isClosed ? 'closed' : 'open',
  ];
  const rowsTop = bottom - rows.length * rowStep;
  const line = { x: left, width, font: 'sans', color: ink.accent } as const;
  return {
    ...sharedSize,
    parts: [
      { x: 0, y: 0, width: sharedSize.width, height: 14, color: ink.accent },
      { ...line, y: 66, height: 46, texts: ['Polls'], sizes: [32] },
      {
        ...line,
        y: top,
        height: rowsTop - top - 24,
        color: ink.text,
        texts: [question.question_text, 'A poll'],
        sizes: [72, 64, 56, 50, 44, 40, 36, 32, 28],
        place: 'middle',
      },
      ...rows.flatMap(({ choice_text }, index) => {
        const percent = counts[index]?.percent ?? 0;
        const y = rowsTop + index * rowStep;
        const shown = showsResults ? { percent, label: formatPercent(percent) } : undefined;
        return choiceRow({ text: choice_text, number: index + 1, y, shown });
      }),
      { ...line, y: 552, height: 42, color: ink.muted, texts: [facts.join(' · ')], sizes: [28], linesMax: 1 },
    ],
  };
}

interface Row {
  readonly text: string;
  readonly number: number;
  readonly y: number;
  readonly shown: { readonly percent: number; readonly label: string } | undefined;
}

function choiceRow({ text, number, y, shown }: Row): Picture['parts'] {
  const height = rowStep - 12;
  const label: Omit<TextBox, 'texts' | 'x' | 'width'> = {
    y,
    height,
    color: ink.text,
    font: 'sans',
    sizes: [28, 24],
    linesMax: 1,
    place: 'middle',
  };
  const percentWidth = 120;
  const inner = width - 48;
  return [
    { x: left, y, width, height, color: '#eff0fa' },
    ...(shown
      ? [{ x: left, y, width: (width * Math.min(shown.percent, 100)) / 100, height, color: '#c5caf2' }]
      : []),
    {
      ...label,
      x: left + 24,
      width: shown ? inner - percentWidth : inner,
      texts: [text, `Choice ${number}`],
    },
    ...(shown
      ? [
          {
            ...label,
            x: left + 24 + inner - percentWidth,
            width: percentWidth,
            texts: [shown.label],
            align: 'right' as const,
          },
        ]
      : []),
  ];
}
