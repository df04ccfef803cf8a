import { type EntityFields, partsOf } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';

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
  return (name: keyof F & string, attributes: Readonly<Record<string, string | number | boolean>> = {}) => {
    const { label, schema } = partsOf(name, fields[name] ?? {});
    const limit = typeof schema.maxLength === 'number' ? { maxlength: schema.maxLength } : {};
    return {
      name,
      label,
      value: values[name] ?? saved[name] ?? undefined,
      error: errors[name] ?? errors[`${name}[0]`],
      attributes: { ...limit, ...attributes },
    };
  };
}
