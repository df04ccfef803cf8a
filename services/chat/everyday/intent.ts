/** An input that is not a question about what documents say. */
export type Intent =
  | { readonly kind: 'greeting' | 'thanks' | 'farewell' | 'agreement' | 'about' | 'list' | 'count' }
  /** Documents on a topic are looked for, or one is to be summed up. */
  | { readonly kind: 'find' | 'summary'; readonly topic: string };

const greeting =
  /^(?:hi+|hello+|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))(?: (?:there|all|everyone|everybody|team|bot|again))?$/;
const smallTalk =
  /^(?:how are you(?: doing)?(?: today)?|how is it going|how's it going|what'?s up|sup|nice to meet you)$/;
const thanks =
  /^(?:(?:many |big )?thanks?(?: you| u)?|thx|ty|cheers|much appreciated|i appreciate it)(?: (?:so much|very much|a lot|again|for (?:the|your) help))*$/;
const praise =
  /^(?:(?:that'?s |that is |very |so |this is )*(?:great|perfect|awesome|cool|nice|good|super|excellent|wonderful|brilliant|helpful)(?: (?:job|work|answer|stuff))?|(?:that|this|it) (?:really )?(?:helps?|helped|works|worked))$/;
const agreement =
  /^(?:ok(?:ay)?|got it|i see|al+right|fine|sure|yes|yep|yeah|no|nope|understood|makes sense|never ?mind|sorry|test)$/;
const farewell =
  /^(?:good ?)?bye(?: bye)?|see (?:you|ya)(?: later| soon)?|good ?night|ciao|farewell|have a (?:nice|good|great) (?:day|one|evening|weekend)$/;
const about =
  /^(?:(?:who|what) are you|what is this(?: (?:site|page|tool|thing|chat))?|what (?:can|could|do) (?:you|i|we) (?:do|ask)(?: (?:you|here|for me|with this|with you))*|(?:how|what) (?:can|do|should) i (?:use|ask)(?: (?:you|this|it|questions?))*|how (?:does|do|can) (?:this|it|you) (?:work|help)(?: me)?|help(?: me)?(?: please)?|can you help(?: me)?|are you (?:an? )?(?:bot|robot|human|ai|real|person|machine|chatbot)(?: person)?|where (?:do|does) (?:your|the|these|those) (?:answers?|information|data) come from|how do you (?:know|get) (?:this|that|it|all this|your answers)|(?:do|can) you (?:cite|quote|show)(?: your)? sources?)$/;
const libraryWords = '(?:documents?|docs|files?|sources|manuals|papers|uploads|library|collection)';
const list = new RegExp(
  `^(?:(?:(?:can|could) (?:you|i) )?(?:list|show|see|display|give|enumerate)(?: me| us)?(?: a list of)?(?: all)?(?: of)?(?: the| your| my| available)* ${libraryWords}(?: (?:you have|there are|available|that are there|in the library))?|(?:which|what)(?: kinds? of)? ${libraryWords} (?:do you have|have you got|are (?:there|available|in the library)|do you know|can you (?:read|search)|did i upload)|what(?:'s| is| do you have) in (?:the|your|my) ${libraryWords}|what do you (?:know(?: about)?|have)|(?:the )?list of ${libraryWords})$`,
);
const count = new RegExp(
  `^how many ${libraryWords}(?: (?:are there|are (?:in )?here|do you have|have you got|are in the library|do you know|did i upload))?$`,
);
const things =
  '(?:anything|something|some ?thing|any ?thing|any documents?|a document|documents?|docs|files?|(?:any |some )?information|info|a file|manuals?|a manual)';
const find = new RegExp(
  `^(?:(?:do you have|have you got|is there|are there|do you know)(?: ${things})?|${things}|what (?:do you (?:have|know)|is there)|(?:which|what) (?:documents?|files?|manuals?) (?:are(?: there)?|do you have)) (?:about|on|for|regarding|concerning) (.+)$`,
);
const summary =
  /^(?:(?:summari[sz]e|sum up)|(?:give|show|write)(?: me| us)? (?:an? )?(?:(?:short|brief|quick) )?(?:summary|overview|outline)(?: of| about| on)?|(?:an? )?(?:summary|overview|outline) (?:of|about)|tl ?;? ?dr:?(?: of| for)?|tell me(?: more)? about) (.+)$/;
const aboutDocument =
  /^(?:what is|what's) (?:the )?(.+?) about|^what does (?:the )?(.+?) (?:say|contain|cover|describe)$/;

/** The intent of an input that does not ask what documents say; undefined for questions. */
export function intentOf(query: string): Intent | undefined {
  const text = plain(query);
  const parts = text.split(/[,!.]+\s*/).filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const all = (...patterns: readonly RegExp[]) =>
    parts.every((part) => patterns.some((pattern) => pattern.test(part)));
  if (all(greeting, smallTalk)) return { kind: 'greeting' };
  if (all(farewell, thanks, praise, agreement) && parts.some((part) => farewell.test(part)))
    return { kind: 'farewell' };
  if (all(thanks, praise, agreement) && !all(agreement)) return { kind: 'thanks' };
  if (all(agreement)) return { kind: 'agreement' };
  const asked = plain(withoutCourtesy(text));
  if (about.test(asked)) return { kind: 'about' };
  if (count.test(asked)) return { kind: 'count' };
  if (list.test(asked)) return { kind: 'list' };
  const found = find.exec(asked)?.[1];
  if (found) return { kind: 'find', topic: found };
  const summed = summary.exec(asked)?.[1];
  if (summed) return { kind: 'summary', topic: summed };
  const [, one, other] = aboutDocument.exec(asked) ?? [];
  return one || other ? { kind: 'summary', topic: one ?? other ?? '' } : undefined;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/^[\s¡¿]+|[\s?!.,:;)]+$/g, '')
    .replace(/,? ?please$/, '');
}

const opening =
  /^\s*(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|ok(?:ay)?|thanks|thank you|please|excuse me|sorry|so|well)(?: there| all| everyone| team)?\s*[,!.:-]*\s+|(?:(?:can|could|would|will) you (?:please )?|please )?(?:tell|show|explain to|inform) me (?=(?:how|what|when|where|which|who|why|if|whether)\b)|(?:(?:i|we) (?:would like|want|need|'d like) to know|i was wondering|i wonder|do you know|any idea) (?=(?:how|what|when|where|which|who|why|if|whether)\b))/i;

/** A question without the greeting and the courtesies around it. */
export function withoutCourtesy(query: string): string {
  let text = query.trim();
  for (let match = opening.exec(text); match && match[0].length < text.length; match = opening.exec(text))
    text = text.slice(match[0].length);
  const rest = text.replace(/[,\s]+(?:please|thanks|thank you)\s*([?.!]*)\s*$/i, '$1');
  return rest.length > 1 ? rest : query;
}
