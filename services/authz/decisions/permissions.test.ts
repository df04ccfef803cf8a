import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actions, resourceTypes, roles } from '@octavo/protocols/authz/v1/permissions';

const schema = readFileSync(new URL('policies/authz.cedarschema', import.meta.url), 'utf8');

test('the schema of the policies has the roles, resources and actions of the contract', () => {
  const [, actionNames = ''] = /^action (.+) appliesTo/m.exec(schema) ?? [];
  assert.deepEqual(namesOf('Role'), roles);
  assert.deepEqual(namesOf('Resource'), resourceTypes);
  assert.deepEqual(actionNames.split(', '), actions);
});

/** The names that the schema lists for an entity. */
function namesOf(entity: string): unknown {
  return JSON.parse(new RegExp(`^entity ${entity} enum (\\[.+\\]);$`, 'm').exec(schema)?.[1] ?? 'null');
}
