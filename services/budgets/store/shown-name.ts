import { sql } from 'kysely';

/**
 * The name of an account for those who share a budget with it: its own, or the part of its e-mail address before the `@`; null if it has
 * neither. `alias` is that of the table in the query.
 */
export function shownName(alias: string) {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  const email = column('email');
  // Both databases trim: first all that is no @ from the end, and then the @.
  return sql<string | null>`coalesce(${column('username')}, CASE WHEN ${email} NOT LIKE '%@accounts.invalid'
    THEN rtrim(rtrim(${email}, replace(${email}, '@', '')), '@') END)`;
}
