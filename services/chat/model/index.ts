export { AnswerFilter } from './filter.ts';
export { ChatModel, type ModelUsage, type Sampling, type ToolOffer } from './model.ts';
export { type PromptMessage, promptOf } from './prompt.ts';
export { checkSupport } from './support.ts';
