import {
  about,
  agreement,
  columns,
  complaint,
  count,
  farewell,
  find,
  greeting,
  list,
  praise,
  sayingAbout,
  smallTalk,
  sources,
  summary,
  thanks,
  within,
} from './phrases.ts';

/** An input that is not a question about what documents say. */
export type Intent =
  | {
      readonly kind:
        | 'greeting'
        | 'thanks'
        | 'farewell'
        | 'agreement'
        | 'complaint'
        | 'about'
        | 'sources'
        | 'list'
        | 'count';
    }
  /** Documents on a topic are looked for, or one is to be summed up. */
  | { readonly kind: 'find' | 'summary' | 'columns'; readonly topic: string }
  /** One document is asked for a topic. */
  | { readonly kind: 'within'; readonly document: string; readonly topic: string };

/** The intent of an input that does not ask what documents say; undefined for questions. */
export function intentOf(query: string): Intent | undefined {
  const text = plain(query);
  const parts = text.split(/[,!.]+\s*/).filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const all = (...patterns: readonly RegExp[]) =>
    parts.every((part) => patterns.some((pattern) => pattern.test(part)));
  if (all(complaint, agreement) && !all(agreement)) return { kind: 'complaint' };
  if (all(greeting, smallTalk)) return { kind: 'greeting' };
  if (all(farewell, thanks, praise, agreement) && parts.some((part) => farewell.test(part)))
    return { kind: 'farewell' };
  if (all(thanks, praise, agreement) && !all(agreement)) return { kind: 'thanks' };
  if (all(agreement)) return { kind: 'agreement' };
  const asked = plain(withoutCourtesy(text));
  if (about.test(asked)) return { kind: 'about' };
  if (sources.test(asked)) return { kind: 'sources' };
  if (count.test(asked)) return { kind: 'count' };
  if (list.test(asked)) return { kind: 'list' };
  const listed = topicIn(query, columns.exec(asked));
  if (listed) return { kind: 'columns', topic: listed };
  const [, document, topic] = within.exec(asked) ?? [];
  if (document && topic) return { kind: 'within', document, topic };
  const found = topicIn(query, find.exec(asked));
  if (found) return { kind: 'find', topic: found };
  const summed = topicIn(query, summary.exec(asked));
  return summed ? { kind: 'summary', topic: summed } : undefined;
}

/** Returns true for an input that says nothing of what documents are about, so that no later question goes on from it. */
export function isSmallTalk(query: string): boolean {
  const intent = intentOf(query);
  return intent !== undefined && intent.kind !== 'within';
}

/** The topic of a phrase as it was written, without its article. */
function topicIn(query: string, match: RegExpExecArray | null): string | undefined {
  const bare = match
    ?.slice(1)
    .find(Boolean)
    ?.replace(/^(?:the|an?|your|my) /, '');
  if (bare === undefined) return undefined;
  const at = query.toLowerCase().indexOf(bare);
  return at === -1 ? bare : query.slice(at, at + bare.length);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/^[\s¡¿]+|[\s?!.,:;)]+$/g, '')
    .replace(/,? ?please$/, '');
}

const newTopic =
  '(?:(?:and |now )?(?:another|one more|a different|different|a new|new|next|other)(?: quick)? (?:thing|question|topic|subject)|(?:now )?something (?:else|different)|by the way|btw)\\s*[:,.—–-]+\\s*';
const changing = new RegExp(`^\\s*(?:ok(?:ay)?[,.!]? )?${newTopic}`, 'i');
const opening = new RegExp(
  `^\\s*(?:${[
    '(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|ok(?:ay)?|thanks|thank you|please|excuse me|sorry|so|well)(?: there| all| everyone| team)?\\s*[,!.:-]*\\s+',
    '(?:(?:can|could|would|will) you (?:please )?|please )?(?:tell|show|explain to|inform) me (?=(?:how|what|when|where|which|who|why|if|whether)\\b)',
    '(?:can|could|would|will) you (?:please )?(?=(?:summari[sz]e|give|list|show|tell|find|open|explain)\\b)',
    "(?:(?:i|we) (?:would like|want|need|'d like) to know|i was wondering|i wonder|do you know|any idea) (?=(?:how|what|when|where|which|who|why|if|whether)\\b)",
    sayingAbout.source,
    newTopic,
  ].join('|')})`,
  'i',
);

/** Returns true for a question that says that it is about something else than those before. */
export function changesTopic(query: string): boolean {
  return changing.test(query);
}

/** A question without the greeting and the courtesies around it, and with one space for several: patterns would try all ways to divide them. */
export function withoutCourtesy(query: string): string {
  let text = query.trim().replace(/\s+/g, (run) => (run.includes('\n') ? '\n' : ' '));
  for (let match = opening.exec(text); match && match[0].length < text.length; match = opening.exec(text))
    text = text.slice(match[0].length);
  const rest = text.replace(/[,\s]+(?:please|thanks|thank you)\s*([?.!]*)\s*$/i, '$1');
  return rest.length > 1 ? rest : query;
}
