export { followFrom, keptMs } from './follow.ts';
export { Hub, type LiveEvent } from './hub.ts';
export { stoppable } from './stoppable.ts';
