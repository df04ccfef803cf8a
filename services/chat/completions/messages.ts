import { AppError, type Static, type TSchema, Type } from '@octavo/core';
import { isBlank } from '@octavo/core/text';
import type { ChatMessage } from '@octavo/reader';
import { invalidValue } from '../errors.ts';
import { queryMax, type TurnRequest } from '../turns/index.ts';

const Part = Type.Object({ type: Type.String(), text: Type.Optional(Type.String({ format: 'text' })) });
const MessageContent = Type.Union([Type.String({ format: 'text' }), Type.Array(Part), Type.Null()]);
const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(MessageContent),
});

const orNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const tokensMax = Type.Integer({ minimum: 1 });
const stopText = Type.String({ minLength: 1, maxLength: 200, format: 'text' });
const unsupported = Type.Optional(Type.Unknown({ description: 'Not supported' }));

/** OpenAI's request for a completion; other fields are ignored. `strategy`, `session_id` and `top_k` are ours. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ maxLength: 200, examples: ['builtin-extractive'] }),
    messages: Type.Array(Message, { minItems: 1, maxItems: 500 }),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    stream_options: Type.Optional(
      Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }), Type.Null()]),
    ),
    n: orNull(Type.Integer()),
    max_tokens: orNull(tokensMax),
    max_completion_tokens: orNull(tokensMax),
    stop: orNull(Type.Union([stopText, Type.Array(stopText, { maxItems: 4 })])),
    temperature: orNull(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    seed: orNull(Type.Integer()),
    tools: unsupported,
    functions: unsupported,
    tool_choice: unsupported,
    function_call: unsupported,
    response_format: unsupported,
    logprobs: unsupported,
    modalities: unsupported,
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
  readonly warnings: readonly string[];
}

/** The question, the history, and the instructions of the application. Throws `validation_failed`. */
export function toConversation(messages: CompletionRequest['messages']): Conversation {
  const texts = messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  const last = texts.at(-1);
  if (last?.role !== 'user') throw invalidValue('messages', 'must end with a message of the user');
  const path = `messages[${texts.length - 1}].content`;
  if (hasOthers(messages.at(-1)?.content)) throw invalidValue(path, 'must be text');
  if (isBlank(last.text)) throw invalidValue(path, 'must not be empty');
  if ([...last.text.trim()].length > queryMax)
    throw invalidValue(path, `must be at most ${queryMax} characters`);
  const history = texts.slice(0, -1).flatMap(({ role, text }): ChatMessage[] => {
    if (role === 'system' || role === 'developer' || text.trim() === '') return [];
    return [{ role: role === 'user' ? 'user' : 'assistant', content: text }];
  });
  const wishes = texts.filter(({ role }) => role === 'system' || role === 'developer');
  const instructions = wishes.map(({ text }) => text).join('\n') || undefined;
  const warnings = messages.some(({ content }) => hasOthers(content)) ? [otherParts] : [];
  return { query: last.text, history, instructions, warnings };
}

const otherParts = 'Images and other parts of earlier messages that are no text were left out.';

/** The bounds and choices for the text. Throws `validation_failed` for what cannot be done. */
export function toWriting(body: CompletionRequest): NonNullable<TurnRequest['writing']> {
  const { max_tokens: tokens, max_completion_tokens: own, stop, temperature, top_p, seed } = body;
  refuseUnsupported(body);
  return {
    maxTokens: own ?? tokens ?? undefined,
    stop: stop === null || stop === undefined ? undefined : [stop].flat(),
    temperature: temperature ?? undefined,
    topP: top_p ?? undefined,
    seed: seed ?? undefined,
  };
}

/** Throws with OpenAI's code for a field that asks for something else than text. */
function refuseUnsupported(body: CompletionRequest): void {
  const isPlain: Readonly<Record<string, (value: unknown) => boolean>> = {
    tools: (value) => Array.isArray(value) && value.length === 0,
    functions: (value) => Array.isArray(value) && value.length === 0,
    tool_choice: (value) => value === 'none' || value === 'auto',
    function_call: (value) => value === 'none' || value === 'auto',
    response_format: (value) => (value as { type?: unknown }).type === 'text',
    logprobs: (value) => value === false,
    modalities: (value) => Array.isArray(value) && value.every((each) => each === 'text'),
  };
  for (const [name, test] of Object.entries(isPlain)) {
    const value = body[name as keyof CompletionRequest] as unknown;
    if (value === undefined || value === null || test(value)) continue;
    const reason = 'unsupported_parameter';
    const fields = { [name]: 'is not supported' };
    throw new AppError('validation_failed', `${name} is not supported here.`, { reason, fields });
  }
}

function hasOthers(content: Content): boolean {
  return Array.isArray(content) && content.some(({ type }) => type !== 'text');
}

type Content = CompletionRequest['messages'][number]['content'];

function textOf(content: Content): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return content.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('\n');
}

/** Throws `not_found` with OpenAI's code. */
export function modelNotFound(model: string): AppError {
  const reason = 'model_not_found';
  return new AppError('not_found', `The model ${model} does not exist.`, {
    reason,
    fields: { model: 'does not exist' },
  });
}
