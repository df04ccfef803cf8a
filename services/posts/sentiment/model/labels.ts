export const labels = ['negative', 'neutral', 'positive'] as const;

export type Label = (typeof labels)[number];
