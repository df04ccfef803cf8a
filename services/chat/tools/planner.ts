import { foldedWords } from '@octavo/reader/conditions';
import type { ToolCalls } from './calls.ts';
import { findRecords } from './findings.ts';
import type { KnownNames, Names } from './names.ts';
import type { Named } from './naming.ts';
import { type Finding, type Query, queryOf, splitQuestions } from './question/query.ts';
import type { ApiRecord } from './trace.ts';

const namedMax = 3;

interface Part {
  readonly query: Query;
  readonly people: readonly Named[];
  readonly companies: readonly Named[];
  readonly sectors: readonly Named[];
}

/** The documents, as far as they decide which calls are made. */
export interface InDocuments {
  /** Returns true if any of them has a word. */
  has(word: string): boolean;
  /** True if they have an answer. */
  readonly isAnswered: boolean;
}

/**
 * Decides without a model which tools answer a question, and calls them: what it names, what its words ask for, and then what the ids in
 * the answers lead to.
 */
export async function callPlanned(
  calls: ToolCalls,
  names: Names,
  { question, documents }: { question: string; documents: InDocuments },
): Promise<void> {
  const known = await names.known();
  if (known === undefined) {
    calls.isWithoutNames = true;
    return callWithoutNames(calls, question);
  }
  calls.hasUsedCache = known.isCached;
  const texts = splitQuestions(question);
  for (const text of texts) {
    const part = partOf(text, known, documents);
    const isSecond = isForDocuments(part) || (texts.length === 1 && isForAnyLibrary(part));
    if (isForData(part) && !(documents.isAnswered && isSecond)) await callPart(calls, part);
  }
}

/** Returns true if a question names something of the domain data, or has a word for a kind of it. */
export async function concernsData(names: Names, question: string): Promise<boolean> {
  const known = (await names.known()) ?? { in: () => [] };
  return splitQuestions(question).some((text) => {
    const part = partOf(text, known, notSearched);
    return isForData(part) || part.sectors.length > 0;
  });
}

/** The parts of a question that the domain data does not answer, if others are for it. */
export async function partForDocuments(names: Names, question: string): Promise<string | undefined> {
  const texts = splitQuestions(question);
  const known = texts.length > 1 ? await names.known() : undefined;
  if (!known) return undefined;
  const others = texts.filter((text) => {
    const part = partOf(text, known, notSearched);
    return !isForData(part) || isForDocuments(part);
  });
  return others.length > 0 && others.length < texts.length ? others.join(' ') : undefined;
}

/** Before the documents are searched, any of them may have a word. */
const notSearched: InDocuments = { has: () => true, isAnswered: false };

function partOf(text: string, { in: namesIn }: Pick<KnownNames, 'in'>, documents: InDocuments): Part {
  const all = namesIn(text);
  const query = queryOf(text, all);
  const meant = all.filter((each) => isMeant(each, query, documents));
  const of = (kind: Named['kind']) => uniqueNames(meant.filter((each) => each.kind === kind));
  return {
    query: meant.length === all.length ? query : queryOf(text, meant),
    people: of('team'),
    companies: of('investments'),
    sectors: of('sectors'),
  };
}

/** Returns false where a question may name another person or thing: "Anna Vogt" where only Anna Berg is known. */
function isMeant({ kind, part, beside }: Named, { rest, unknown }: Query, documents: InDocuments): boolean {
  if (kind === 'sectors') return true;
  const left = [...rest, ...unknown].flatMap((each) => foldedWords(each).trim().split(' '));
  if (part === undefined) return !beside.some((word) => left.includes(word));
  return left.length + beside.length === 0 && !documents.has(part);
}

/** Returns true if a part asks for data: by a name, by a noun, or by words that are all understood. */
function isForData(part: Part): boolean {
  const { kind, isExplicit, conditions } = part.query;
  if (isNamed(part)) return true;
  // "Who is in charge?" does not say of what.
  if (isForAnyLibrary(part) && part.query.isLead) return false;
  if (kind !== undefined && isExplicit) return true;
  return (
    isUnderstood(part.query) && (part.sectors.length > 0 || (kind !== undefined && conditions.length > 0))
  );
}

/** Returns true if documents come first, as a part names no record and has words that the data does not know. */
function isForDocuments(part: Part): boolean {
  return !isNamed(part) && !isUnderstood(part.query);
}

/** Returns true for a question like "Who works here?", which documents may answer as well. */
function isForAnyLibrary({ query: { isPlain, conditions }, ...part }: Part): boolean {
  return isPlain && conditions.length + part.sectors.length === 0 && !isNamed(part);
}

function isNamed({ people, companies }: Omit<Part, 'query'>): boolean {
  return people.length + companies.length > 0;
}

function isUnderstood({ rest, unknown }: Query): boolean {
  return rest.length + unknown.length === 0;
}

async function callPart(calls: ToolCalls, part: Part): Promise<void> {
  const { query, people, companies, sectors } = part;
  if (companies.length > 0) {
    for (const each of companies.slice(0, namedMax)) await followInvestment(calls, each, query);
    for (const each of people.slice(0, namedMax - companies.length)) await followMember(calls, each, part);
    return;
  }
  if (people.length > 0) {
    for (const each of people.slice(0, namedMax)) await followMember(calls, each, part);
    return;
  }
  const [sector] = sectors;
  const isAboutSector =
    query.kind === undefined || query.kind === 'sectors' || (query.kind === 'team' && query.isLead);
  if (sector && isAboutSector) {
    for (const each of sectors.slice(0, namedMax)) await followSector(calls, each, query);
    return;
  }
  const listing = { tool: toolOf(query.kind), reason: 'The words of the question.' };
  const finding = await findRecords(calls, query, listing);
  if (finding && !onlyLooksAlike(query, finding)) keep(calls, finding);
  else calls.forget(finding?.steps ?? []);
}

/** Returns true for a question like "Who is the caretaker?", of which the data knows nothing. */
function onlyLooksAlike({ isPlain, kind }: Query, { unapplied, conditions }: Finding): boolean {
  return isPlain && unapplied.length > 0 && (kind === 'team' || conditions.length === 0);
}

function toolOf(kind: Query['kind']): string {
  if (kind === 'team') return 'get_team';
  return kind === 'sectors' ? 'get_sectors' : 'get_investments';
}

function keep(calls: ToolCalls, finding: Finding | undefined): void {
  if (finding) calls.findings.push(finding);
}

async function followMember(calls: ToolCalls, { name }: Named, { query }: Part): Promise<void> {
  const found = await calls.call('get_team', { name }, naming(name));
  const follow = { parent: found.step.step };
  const asksForMore = query.kind !== 'sectors';
  for (const member of namesakes(found.rows, query).slice(0, 2)) {
    if (asksForMore && idsIn(member, 'investment_ids').length > 0) {
      const reason = `What ${name} works on.`;
      const params = { id: member.id };
      const narrowing = narrowingOf(query, member);
      if (narrowing)
        keep(
          calls,
          await findRecords(calls, narrowing, {
            tool: 'get_team_member_investments',
            params,
            reason,
            ...follow,
          }),
        );
      else await calls.call('get_team_member_investments', params, { ...follow, reason });
    }
    if (query.kind !== 'sectors') continue;
    for (const id of idsIn(member, 'sectors').slice(0, 3))
      await calls.call('get_sector', { id }, { ...follow, reason: `A sector of ${name}.` });
  }
}

/** The API also finds names that go on, such as "Anna Bergman" for "Anna Berg". */
function naming(name: string) {
  const wanted = foldedWords(name);
  return {
    reason: `The question names ${name}.`,
    only: (row: ApiRecord) => foldedWords(String(row.company ?? row.name ?? '')) === wanted,
  };
}

/** The namesakes that the question means, such as the one in Hamburg. */
function namesakes(rows: readonly ApiRecord[], { text }: Query): readonly ApiRecord[] {
  const words = foldedWords(text);
  const telling = rows.filter((row) =>
    [row.location, row.title].some((value) =>
      foldedWords(String(value ?? ''))
        .trim()
        .split(' ')
        .some((word) => word.length > 3 && words.includes(` ${word} `)),
    ),
  );
  return rows.length > 1 && telling.length > 0 ? telling : rows;
}

/** The question without the person that it names, if it narrows the investments of that person. */
function narrowingOf(query: Query, member: ApiRecord): Query | undefined {
  const location = String(member.location ?? '');
  const rest = query.rest.filter(
    (part) => !location.includes(part) && !String(member.title ?? '').includes(part),
  );
  const lead = query.isLead && query.kind === 'investments' ? [leadCondition(member)] : [];
  const conditions = [...query.conditions, ...lead];
  if (query.kind !== 'investments' || conditions.length + rest.length === 0)
    return query.isCount ? { ...query, conditions, rest } : undefined;
  return { ...query, conditions, rest };
}

function leadCondition({ id, name }: ApiRecord) {
  return {
    label: `led by ${name}`,
    matches: ({ lead_id: lead }: ApiRecord) => (lead === undefined ? undefined : lead === id),
  };
}

async function followInvestment(calls: ToolCalls, { name }: Named, query: Query): Promise<void> {
  const found = await calls.call('get_investments', { name }, naming(name));
  const [investment] = found.rows;
  if (!investment) return;
  const follow = { parent: found.step.step };
  const asksForSector = query.kind === 'sectors';
  if (query.kind === 'team' || !asksForSector) {
    const lead = idsIn(investment, 'lead_id').concat(idsIn(investment, 'team_ids'))[0];
    if (lead) await calls.call('get_team_member', { id: lead }, { ...follow, reason: `Who leads ${name}.` });
  }
  const [sector] = idsIn(investment, 'sector');
  if (asksForSector && sector)
    await calls.call('get_sector', { id: sector }, { ...follow, reason: `The sector of ${name}.` });
}

async function followSector(calls: ToolCalls, { name, slug }: Named, query: Query): Promise<void> {
  const found = await calls.call('get_sector', { id: slug }, { reason: `The question names ${name}.` });
  const follow = { parent: found.step.step };
  const asksForPeople = query.kind === 'team' || query.isLead;
  if (!asksForPeople) {
    const reason = `The investments in ${name}.`;
    await calls.call('get_sector_investments', { id: slug }, { ...follow, reason });
    return;
  }
  calls.told.add(found.step.step);
  for (const id of idsIn(found.rows[0] ?? {}, 'lead_ids').slice(0, 2))
    await calls.call('get_team_member', { id }, { ...follow, reason: `Who leads ${name}.` });
}

/** The API does not tell its names. The step says why, if the question seems to be about them. */
async function callWithoutNames(calls: ToolCalls, question: string): Promise<void> {
  const part = partOf(question, { in: () => [] }, notSearched);
  const name = /(?<=\S\s+)\p{Lu}\p{Ll}+(?:\s+\p{Lu}\p{Ll}+)*/u.exec(question)?.[0];
  const { kind } = part.query;
  if (kind === 'investments' || kind === 'sectors' || (isForData(part) && !name)) await callPart(calls, part);
  else if (name) await calls.call('get_team', { name }, { reason: `The question may name ${name}.` });
}

/** Namesakes are asked for once. */
function uniqueNames(named: readonly Named[]): Named[] {
  const keyOf = ({ kind, name }: Named) => `${kind} ${foldedWords(name)}`;
  return [...new Map(named.map((each) => [keyOf(each), each])).values()];
}

function idsIn(record: ApiRecord, field: string): string[] {
  return [record[field]].flat().filter((id): id is string => typeof id === 'string' && id !== '');
}
