import assert from 'node:assert/strict';
import type { Person, TestBudgets } from './testing.ts';
import { linkTokenOf, nextMail } from './testing-mails.ts';

/** Registers a person with a verified address, to whom a budget can be shared. */
export async function verifiedPerson(app: TestBudgets, name: string): Promise<Person> {
  const person = await app.person(name);
  const token = linkTokenOf(await nextMail(app, person.email));
  const { status, text } = await app.send('/api/auth/verify-email', { body: { token } });
  assert.equal(status, 200, text);
  return person;
}

/** Shares a budget with a person, who accepts, and returns the id of the member. */
export async function share(
  owner: Person,
  budgetId: string,
  { person, role }: { person: Person; role: 'viewer' | 'editor' },
): Promise<string> {
  const { id } = await owner.create(`/api/budgets/${budgetId}/members`, { email: person.email, role });
  const { status, text } = await person.post(`/api/invitations/${id}/accept`);
  assert.equal(status, 200, text);
  return id;
}
