export { Citer } from './citer.ts';
export { contextOf } from './context.ts';
export { causeOf, causes, contextNamed, type FailureCause } from './failure.ts';
export { AnswerFilter } from './filter.ts';
export {
  ChatModel,
  type ModelOptions,
  type ModelUsage,
  type Sampling,
  type ToolOffer,
  usualContextTokens,
} from './model.ts';
export { countFitting, noAnswer, type PromptMessage, promptOf, tokensOf } from './prompt.ts';
export { rewriteFollowUp } from './rewrite.ts';
export { checkSupport, markerFor } from './support.ts';
export { isToolCall, mayBeToolCall } from './tool-call.ts';
