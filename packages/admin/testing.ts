/** For tests: forms of the admin. */
export { fieldsOf, unescaped } from './testing/forms.ts';
