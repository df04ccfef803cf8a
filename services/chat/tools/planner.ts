import type { Called, ToolCalls } from './calls.ts';
import { foldedWords, type Named, type Names } from './names.ts';
import type { ApiRecord } from './trace.ts';

const namedMax = 3;

/** What the words of a question ask for. */
interface Intent {
  readonly people: boolean;
  readonly investments: boolean;
  readonly sectors: boolean;
  readonly status: string | undefined;
  readonly stage: string | undefined;
  readonly role: string | undefined;
  readonly largestFirst: boolean;
}

/**
 * Decides without a model which tools answer a question, and calls them: what it names, what its words ask for, and then what the ids in
 * the answers lead to.
 */
export async function callPlanned(calls: ToolCalls, names: Names, question: string): Promise<void> {
  const intent = intentOf(foldedWords(question));
  const found = await names.namedIn(question);
  if (found === undefined) return callWithoutNames(calls, question, intent);
  const { named, isCached } = found;
  calls.hasUsedCache = isCached;
  if (named.length === 0) {
    await callByIntent(calls, intent);
    return;
  }
  const sector = named.find(({ kind }) => kind === 'sectors');
  const listed = uniqueNames(named).slice(0, namedMax);
  for (const each of listed) {
    if (!calls.hasBudget) return;
    if (each.kind === 'team') await followMember(calls, each, intent);
    else if (each.kind === 'investments') await followInvestment(calls, each, intent);
  }
  if (sector && !listed.some(({ kind }) => kind !== 'sectors')) await followSector(calls, sector, intent);
}

async function followMember(calls: ToolCalls, { name }: Named, intent: Intent): Promise<void> {
  const found = await calls.call('get_team', { name }, { reason: `The question names ${name}.` });
  for (const member of found.rows.slice(0, 2)) {
    const follow = { parent: found.step.step };
    const asksForMore = intent.investments || !intent.sectors;
    if (asksForMore && idsIn(member, 'investment_ids').length > 0) {
      const reason = `What ${name} works on.`;
      const filter = { id: member.id, ...filtersOf(intent) };
      await calls.call('get_team_member_investments', filter, { ...follow, reason });
    }
    if (!intent.sectors) continue;
    for (const id of idsIn(member, 'sectors').slice(0, 2))
      await calls.call('get_sector', { id }, { ...follow, reason: `A sector of ${name}.` });
  }
}

async function followInvestment(calls: ToolCalls, { name }: Named, intent: Intent): Promise<void> {
  const found = await calls.call('get_investments', { name }, { reason: `The question names ${name}.` });
  const [investment] = found.rows;
  if (!investment) return;
  const follow = { parent: found.step.step };
  if (intent.people || !intent.sectors) {
    const lead = idsIn(investment, 'lead_id').concat(idsIn(investment, 'team_ids'))[0];
    if (lead) await calls.call('get_team_member', { id: lead }, { ...follow, reason: `Who leads ${name}.` });
  }
  const [sector] = idsIn(investment, 'sector');
  if (intent.sectors && sector)
    await calls.call('get_sector', { id: sector }, { ...follow, reason: `The sector of ${name}.` });
}

async function followSector(calls: ToolCalls, { name, slug }: Named, intent: Intent): Promise<void> {
  const found = await calls.call('get_sector', { id: slug }, { reason: `The question names ${name}.` });
  const follow = { parent: found.step.step };
  if (intent.investments || !intent.people) {
    const filter = { id: slug, ...filtersOf(intent) };
    await calls.call('get_sector_investments', filter, { ...follow, reason: `The investments in ${name}.` });
  }
  if (!intent.people) return;
  for (const id of idsIn(found.rows[0] ?? {}, 'lead_ids').slice(0, 2))
    await calls.call('get_team_member', { id }, { ...follow, reason: `Who leads ${name}.` });
}

async function callByIntent(calls: ToolCalls, intent: Intent): Promise<Called | undefined> {
  const reason = 'The words of the question.';
  if (intent.investments) return calls.call('get_investments', filtersOf(intent), { reason });
  if (intent.sectors) return calls.call('get_sectors', {}, { reason });
  if (!intent.people) return undefined;
  return calls.call('get_team', intent.role ? { role: intent.role } : {}, { reason });
}

/** The API does not tell its names. The step says why, if the question seems to be about them. */
async function callWithoutNames(calls: ToolCalls, question: string, intent: Intent): Promise<void> {
  const name = /(?<=\S\s+)\p{Lu}\p{Ll}+(?:\s+\p{Lu}\p{Ll}+)*/u.exec(question)?.[0];
  if (intent.investments || intent.sectors) await callByIntent(calls, intent);
  else if (name) await calls.call('get_team', { name }, { reason: `The question may name ${name}.` });
  else await callByIntent(calls, intent);
}

function intentOf(words: string): Intent {
  const has = (pattern: RegExp) => pattern.test(words);
  const role = / (partner|principal|associate|operation)s? /.exec(words)?.[1];
  return {
    people:
      role !== undefined ||
      has(/ (team|colleagues?|staff members|people|who (?:leads?|runs?|works?)|whom|led by) /),
    investments: has(/ (investments?|invest|invested|portfolio|companies|startups?|deals?|exits?|stakes?) /),
    sectors: has(/ (sectors?|industry|industries|practices?) /),
    status: has(/ (exited|exits?|sold) /)
      ? 'exited'
      : has(/ written off /)
        ? 'written_off'
        : has(/ active /)
          ? 'active'
          : undefined,
    stage: has(/ seed /) ? 'seed' : / series ([a-e]) /.exec(words)?.[1]?.replace(/^/, 'series_'),
    role: role === 'operation' ? 'operations' : role,
    largestFirst: has(/ (largest|biggest|most money) /),
  };
}

function filtersOf({ status, stage, largestFirst }: Intent): Record<string, string> {
  return {
    ...(status && { status }),
    ...(stage && { stage }),
    ...(largestFirst && { sort: '-amount_minor' }),
  };
}

/** Namesakes are asked for once. */
function uniqueNames(named: readonly Named[]): Named[] {
  const keyOf = ({ kind, name }: Named) => `${kind} ${foldedWords(name)}`;
  return [...new Map(named.map((each) => [keyOf(each), each])).values()];
}

function idsIn(record: ApiRecord, field: string): string[] {
  return [record[field]].flat().filter((id): id is string => typeof id === 'string' && id !== '');
}
