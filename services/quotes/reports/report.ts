export const reasons = ['misattributed', 'duplicate', 'offensive', 'typo', 'other'] as const;
export type Reason = (typeof reasons)[number];

export const reportStatuses = ['open', 'resolved', 'dismissed'] as const;

/** Limit in code points. */
export const noteMax = 1_000;

export interface Report {
  readonly id: number;
  readonly quote: number;
  readonly reason: Reason;
  readonly note: string;
}

/** Labels of the reasons for a report. */
export const reasonLabels: Readonly<Record<Reason, string>> = {
  misattributed: 'Another person said it',
  duplicate: 'It is a duplicate',
  offensive: 'It is offensive',
  typo: 'It has a mistake',
  other: 'Something else',
};
