import { type EntityFields, partsOf } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';

type Choices = readonly (readonly [value: string, label: string])[];

/** Status of a form whose entity was changed since it was opened. */
export const changedElsewhere = 412;

/** Shows what is saved beside what was typed. */
function savedText(saved: string | null | undefined, choices: Choices): string {
  const text = choices.find(([value]) => value === (saved ?? ''))?.[1] ?? saved;
  return text ? `Saved elsewhere: “${text}”.` : 'Saved elsewhere: nothing.';
}

interface FormValues {
  /** Values as typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Values of what is edited, or of a new one. */
  readonly saved?: Readonly<Record<string, string | null | undefined>> | undefined;
  readonly problem?: FormProblem | undefined;
}

/** The part of a form's field that its declaration tells: name, label, value, error and the longest text, beside other attributes. */
export function formFields<F extends EntityFields>(fields: F, { values, saved = {}, problem }: FormValues) {
  const errors = problem?.errors ?? {};
  return (
    name: keyof F & string,
    attributes: Readonly<Record<string, string | number | boolean>> = {},
    choices: Choices = [],
  ) => {
    const { label, schema } = partsOf(name, fields[name] ?? {});
    const isOther = problem?.status === changedElsewhere && (values[name] ?? '') !== (saved[name] ?? '');
    const limit = typeof schema.maxLength === 'number' ? { maxlength: schema.maxLength } : {};
    return {
      name,
      label,
      value: values[name] ?? saved[name] ?? undefined,
      error: errors[name] ?? errors[`${name}[0]`] ?? (isOther ? savedText(saved[name], choices) : undefined),
      ...(choices.length > 0 && { choices }),
      attributes: { ...limit, ...attributes },
    };
  };
}
