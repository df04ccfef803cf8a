export { createTurnMetrics } from './metrics.ts';
export { ChatRequest, toStrategy, toTurnRequest } from './question.ts';
export { searchFor, type TurnParts } from './run.ts';
export type { RunningTurn } from './running.ts';
export type { Said, TurnAnswer, TurnEvent, TurnRequest } from './turn.ts';
export { type Asker, Turns } from './turns.ts';
export { builtInModel } from './write.ts';
