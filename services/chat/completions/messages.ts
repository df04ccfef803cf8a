import { AppError } from '#kit/base/errors.ts';
import { type Static, Type } from '#kit/base/schema.ts';
import { invalidValue } from '../errors.ts';
import type { ChatMessage } from '../turns/index.ts';

const Part = Type.Object({ type: Type.String(), text: Type.Optional(Type.String({ format: 'text' })) });
const Content = Type.Union([Type.String({ format: 'text' }), Type.Array(Part), Type.Null()]);
const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(Content),
});

/** OpenAI's request for a completion; other fields are ignored. `strategy`, `session_id` and `top_k` are ours. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ maxLength: 200, examples: ['builtin-extractive'] }),
    messages: Type.Array(Message, { minItems: 1, maxItems: 500 }),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    stream_options: Type.Optional(
      Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }), Type.Null()]),
    ),
    n: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    strategy: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String({ maxLength: 100, format: 'text' })),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  },
  { title: 'CompletionRequest' },
);
export type CompletionRequest = Static<typeof CompletionRequest>;

export interface Conversation {
  readonly query: string;
  readonly history: readonly ChatMessage[];
  readonly instructions: string | undefined;
}

/** The question, the history, and the instructions of the application. Throws `validation_failed`. */
export function toConversation(messages: CompletionRequest['messages']): Conversation {
  const texts = messages.map(({ role, content }, index) => ({
    role,
    text: textOf(content, `messages[${index}].content`),
  }));
  const last = texts.at(-1);
  if (last?.role !== 'user') throw invalidValue('messages', 'must end with a message of the user');
  const history = texts.slice(0, -1).flatMap(({ role, text }): ChatMessage[] => {
    if (role === 'system' || role === 'developer' || text.trim() === '') return [];
    return [{ role: role === 'user' ? 'user' : 'assistant', content: text }];
  });
  const wishes = texts.filter(({ role }) => role === 'system' || role === 'developer');
  const instructions = wishes.map(({ text }) => text).join('\n') || undefined;
  return { query: last.text, history, instructions };
}

function textOf(content: CompletionRequest['messages'][number]['content'], path: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (content.some(({ type }) => type !== 'text')) throw invalidValue(path, 'must be text');
  return content.map(({ text = '' }) => text).join('\n');
}

/** Throws `not_found` with OpenAI's code. */
export function modelNotFound(model: string): AppError {
  const reason = 'model_not_found';
  return new AppError('not_found', `The model ${model} does not exist.`, {
    reason,
    fields: { model: 'does not exist' },
  });
}
