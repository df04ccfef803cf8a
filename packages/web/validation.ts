/** Checks of JSON and of parameters, also in threads: without a server. */
export { parseJson } from './http/requests/body.ts';
export { type JsonBounds, JsonScanner } from './http/requests/json-scanner.ts';
export { exactValue, keepNumberText, numberReviver, replaceInexact } from './http/requests/number-texts.ts';
export { compileTextValidator } from './http/validation/text-parameters.ts';
export { compileValidator, type Validation } from './http/validation/validator.ts';
