export { normalize as fold } from '#kit/search/index.ts';

import { storedNormalized } from '#kit/search/index.ts';
export const divider = 'A';
export const storedFold = (title: string, body: string) => storedNormalized([title, body]);
