export { AnswerFilter } from './filter.ts';
export { ChatModel, type ModelUsage, type Sampling, type ToolOffer, usualContextTokens } from './model.ts';
export { noAnswer, type PromptMessage, promptOf } from './prompt.ts';
export { checkSupport } from './support.ts';
