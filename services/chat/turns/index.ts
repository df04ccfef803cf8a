export { searchPassages, type TurnParts } from './answer-turn.ts';
export { createTurnMetrics } from './metrics.ts';
export { ChatRequest, queryMax, toQuestionRequest, toTurnRequest } from './question.ts';
export { type Client, TurnRegistry } from './registry/turn-registry.ts';
export type { TurnStream } from './registry/turn-stream.ts';
export { deleteTurnsOf } from './store.ts';
export type { SessionTurn } from './store-parts.ts';
export type { ChatMessage, TurnAnswer, TurnEvent, TurnRequest } from './turn.ts';
export { builtInModel } from './write-answer.ts';
