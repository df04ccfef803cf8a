import type { ErrorCode } from '@octavo/core';
import { Type } from '@octavo/core';
import { defaultErrorTable } from '@octavo/web/server';

/** Statuses and codes of the errors. */
export const errorTable = {
  ...defaultErrorTable,
  validation_failed: { status: 400, code: 'invalid_value' },
} as const satisfies Record<ErrorCode, { status: number; code: string }>;

/** An error in OpenAI's shape. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
      code: Type.Union([Type.String(), Type.Null()]),
    }),
  },
  { title: 'Error' },
);

const types: Readonly<Record<string, string>> = {
  [errorTable.unauthenticated.code]: 'authentication_error',
  [errorTable.internal.code]: 'server_error',
  [errorTable.unavailable.code]: 'server_error',
  [errorTable.timeout.code]: 'server_error',
};

/** The body of every error. */
export function errorBody({
  code,
  message,
  fields,
}: {
  code: string;
  message: string;
  fields: Readonly<Record<string, string>>;
}) {
  const [[param, problem] = []] = Object.entries(fields);
  const text = param === undefined ? message : `${param} ${problem}`;
  const type = types[code] ?? 'invalid_request_error';
  return { error: { message: text, type, param: param ?? null, code } };
}
