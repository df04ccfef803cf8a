import { AppError, type Fields, partsOf, type TSchema } from '@octavo/core';
import { serializer, serializerFields } from '@octavo/drf';
import { choiceFields, choicesMax, closeProblem, type Poll, type Question, questionFields } from '../poll.ts';

/** Fewest choices of a poll that is made on a page. */
const choicesMin = 2;
/** Empty lines for choices that a new form has, and that the button adds. */
const linesFirst = 4;
const linesMore = 4;

const { question_text, closes_at, results, duplicates, max_choices, visibility } = questionFields;
const { choice_text } = choiceFields;

/** The fields of the form besides the choices, in its order. Limits and words are those of the API. */
export const draftFields = { question_text, max_choices, results, duplicates, closes_at, visibility };

const body = serializer(serializerFields(draftFields));
const texts = {
  question: serializer(serializerFields({ question_text })),
  choice: serializer(serializerFields({ choice_text })),
};

/** A form as typed: texts by field, and the lines of the choices. */
export interface Typed {
  readonly fields: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
}

/** A poll to be made. */
export interface Draft
  extends Pick<
    Question,
    'question_text' | 'closes_at' | 'results' | 'duplicates' | 'max_choices' | 'visibility'
  > {
  readonly choices: readonly string[];
}

/** A form with wrong fields. */
export class DraftError extends Error {
  readonly fields: Fields;

  constructor(fields: Fields) {
    super('the form has errors');
    this.fields = fields;
  }
}

const firstFields: Typed['fields'] = {
  max_choices: '1',
  results: 'always',
  duplicates: 'session',
  visibility: 'link',
};

/** The form before anything is typed. */
export function emptyForm(): Typed {
  return { fields: firstFields, lines: Array.from({ length: linesFirst }, () => '') };
}

/** The fields of a form that was sent, or their first values. Lines beyond the limit of a poll are dropped; `hasMore` adds empty ones. */
export function readTyped(sent: Readonly<Record<string, string | undefined>>, hasMore = false): Typed {
  const fields = Object.fromEntries(
    Object.keys(draftFields).map((name) => [name, sent[name] ?? firstFields[name] ?? '']),
  );
  const numbers = Array.from({ length: choicesMax }, (_, index) => index + 1);
  const last = numbers.findLast((number) => sent[lineName(number)] !== undefined) ?? choicesMin;
  const length = Math.min(last + (hasMore ? linesMore : 0), choicesMax);
  return { fields, lines: numbers.slice(0, length).map((number) => sent[lineName(number)] ?? '') };
}

/** The texts of a poll as a form shows them. */
export function textsOf({ question, choices }: Poll): Typed {
  const { question_text } = question;
  return { fields: { question_text }, lines: choices.map(({ choice_text }) => choice_text) };
}

/** The name of the field of a choice, from 1. */
export function lineName(number: number): string {
  return `choice_${number}`;
}

/** The labels of the fields by name, in the order of the form. */
export function draftLabels(lines: number): Readonly<Record<string, string>> {
  const { question_text, ...others } = Object.fromEntries(
    Object.entries(draftFields).map(([name, field]) => [name, partsOf(name, field as TSchema).label]),
  );
  const choices = Array.from({ length: lines }, (_, index) => [lineName(index + 1), `Choice ${index + 1}`]);
  return { question_text: question_text ?? '', ...Object.fromEntries(choices), ...others };
}

/** The poll that was typed. Throws {@link DraftError}. */
export async function parseDraft({ fields, lines }: Typed, now: string): Promise<Draft> {
  const errors: Record<string, string> = {};
  const given = { ...fields, closes_at: fields.closes_at || null };
  const values = await collect(errors, () => body.parse(given));
  const choices = await parseChoices(errors, lines);
  const filled = choices.filter((text) => text !== '');
  const missing = lines.findIndex((line) => line.trim() === '');
  if (filled.length < choicesMin && missing !== -1)
    errors[lineName(missing + 1)] ??= `A poll has at least ${choicesMin} choices.`;
  const { results = 'always', duplicates = 'none', max_choices = 1, closes_at = null } = values ?? {};
  if (values && max_choices > Math.max(filled.length, choicesMin))
    errors.max_choices ??= 'The poll has fewer choices.';
  const late = closeProblem({ pub_date: now, closes_at });
  if (late) errors.closes_at ??= late;
  if (!values || Object.keys(errors).length > 0) throw new DraftError(errors);
  const { question_text, visibility = 'link' } = values;
  return {
    question_text,
    closes_at,
    results,
    duplicates,
    max_choices,
    visibility: visibility === 'hidden' ? 'link' : visibility,
    choices: filled,
  };
}

/** New texts of a question and its choices; an empty line removes its choice. Throws {@link DraftError}. */
export async function parseTexts(
  { fields, lines }: Typed,
  { max_choices }: Pick<Question, 'max_choices'>,
): Promise<Pick<Draft, 'question_text' | 'choices'>> {
  const errors: Record<string, string> = {};
  const values = await collect(errors, () => texts.question.parse(fields));
  const choices = await parseChoices(errors, lines);
  const least = Math.max(choicesMin, max_choices);
  const missing = lines.findIndex((line) => line.trim() === '');
  if (choices.filter((text) => text !== '').length < least && missing !== -1)
    errors[lineName(missing + 1)] ??= `This poll needs at least ${least} choices.`;
  if (!values || Object.keys(errors).length > 0) throw new DraftError(errors);
  return { question_text: values.question_text, choices };
}

/** The texts of the lines, empty where nothing was typed. */
async function parseChoices(errors: Record<string, string>, lines: readonly string[]): Promise<string[]> {
  const choices: string[] = [];
  for (const [index, line] of lines.entries()) {
    const found: Record<string, string> = {};
    const value =
      line.trim() === '' ? undefined : await collect(found, () => texts.choice.parse({ choice_text: line }));
    const text = value?.choice_text ?? '';
    if (found.choice_text) errors[lineName(index + 1)] = found.choice_text;
    else if (text !== '' && choices.includes(text)) errors[lineName(index + 1)] = 'Choices must differ.';
    choices.push(found.choice_text ? line : text);
  }
  return choices;
}

/** Returns what was parsed, or undefined with the errors collected. */
async function collect<T>(errors: Record<string, string>, parse: () => Promise<T>): Promise<T | undefined> {
  try {
    return await parse();
  } catch (error) {
    if (!(error instanceof AppError) || error.details === undefined) throw error;
    const details = error.details as Readonly<Record<string, readonly string[]>>;
    for (const [name, sentences] of Object.entries(details)) errors[name] = sentences.join(' ');
    return undefined;
  }
}
