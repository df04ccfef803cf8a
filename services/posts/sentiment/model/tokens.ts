export interface Token {
  /** Lower case, drawn-out letters cut to two, mentions and digits made alike. */
  text: string;
  shouted: boolean;
  capitalized: boolean;
  drawnOut: boolean;
  negated: boolean;
}

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const plain = text.replace(entity, (name) => entities[name] ?? ' ').replace(apostrophe, "'");
  for (const [raw] of plain.matchAll(pattern)) append(tokens, raw);
  markNegated(tokens);
  return tokens;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
const entity = /&(?:amp|lt|gt|quot|#39);/g;
const apostrophe = /[’‘`´]/g;

// In this order: address, mention, hashtag, emoticon, word, number, emoji, punctuation.
const pattern = new RegExp(
  [
    /(?:https?:\/\/|www\.)\S+|https?\b:?/u,
    /@\w+/u,
    /#[\p{L}\p{N}_]+/u,
    /[<>]?[:;=8xX][-'o^]?[)\]([dDpP/\\|*3@}{oO]+(?![\p{L}\p{N}])/u,
    /[)\]([dD][-']?[:;=](?![\p{L}\p{N}])|<3+|<\/3|\^_*\^|-_+-|[:;=]'-?[()]+/u,
    /\p{L}[\p{L}\p{N}_]*(?:['-]\p{L}+)*/u,
    /\p{N}+(?:[.,:]\p{N}+)*(?:st|nd|rd|th|pm|am|k|m)?/u,
    /\p{Extended_Pictographic}/u,
    /[!?]+|\.{2,}|…|["“”]+|[.,;:()\-–—*~$%&+/|]/u,
  ]
    .map((part) => part.source)
    .join('|'),
  'gu',
);

function append(tokens: Token[], raw: string): void {
  const first = raw.charCodeAt(0);
  if (first === hash && raw.length > 1) {
    tokens.push(wordToken(raw));
    for (const part of hashtagParts(raw)) tokens.push(wordToken(part));
  } else if (first === at) {
    tokens.push(plainToken('@'));
  } else if (digit.test(raw)) {
    tokens.push(plainToken(raw.replace(digits, '0')));
  } else if (letter.test(raw)) {
    if (!address.test(raw)) tokens.push(wordToken(raw));
  } else if (first > lastOfLatin && !dashOrQuote.test(raw)) {
    const emoticon = emoticonOf(raw);
    if (emoticon !== undefined) tokens.push(plainToken(emoticon));
  } else {
    tokens.push(punctuationToken(raw));
  }
}

const hash = 0x23;
const at = 0x40;
const lastOfLatin = 0x2000;
const digit = /^\p{N}/u;
const digits = /\p{N}/gu;
const letter = /^\p{L}/u;
const address = /^(?:https?(?:$|:)|www\.)/i;
const dashOrQuote = /^[–—“”…]/;

/** `#BestDayEver` says best, day and ever; a tag in one case says only itself. */
function hashtagParts(raw: string): string[] {
  const parts = raw.slice(1).match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})/gu) ?? [];
  return parts.length > 1 ? parts : [];
}

function wordToken(raw: string): Token {
  const lower = raw.toLowerCase();
  const text = lower.replace(threeAlike, '$1$1');
  const capitalized = raw !== lower && raw.charCodeAt(0) !== lower.charCodeAt(0);
  const shouted = raw.length > 2 && raw !== lower && raw === raw.toUpperCase();
  return { text, shouted, capitalized, drawnOut: text.length !== lower.length, negated: false };
}

const threeAlike = /(.)\1{2,}/gu;

function plainToken(text: string): Token {
  return { text, shouted: false, capitalized: false, drawnOut: false, negated: false };
}

function punctuationToken(raw: string): Token {
  if (raw.startsWith('..') || raw === '…') return plainToken('…');
  if (/^["“”]/.test(raw)) return plainToken('"');
  if (!/^[!?]/.test(raw)) return plainToken(raw.toLowerCase());
  const drawnOut = raw.length > 2;
  if (raw.includes('!') && raw.includes('?')) return { ...plainToken('!?'), drawnOut };
  return { ...plainToken(raw.slice(0, 3)), drawnOut };
}

/** A negation reaches over four words, or to the end of its clause. */
function markNegated(tokens: Token[]): void {
  let wordsLeft = 0;
  for (const token of tokens) {
    if (clauseEnd.test(token.text)) wordsLeft = 0;
    token.negated = wordsLeft > 0;
    if (letterWithin.test(token.text)) wordsLeft--;
    if (negation.test(token.text)) wordsLeft = negatedWords;
  }
}

const negatedWords = 4;
const letterWithin = /\p{L}/u;
const clauseEnd = /^(?:[.,;:…()"]|[!?]+|but|however|though|although|yet)$/;
const negation =
  /^(?:not|no|never|cannot|nothing|nobody|none|nowhere|neither|nor|without|hardly|barely|scarcely|(?:ai|do|does|did|is|was|wo|ca|could|should|would|have|has|had|are|were)nt|.*n't)$/;

/** A short text as it is, a long one sentence by sentence, with short sentences kept together. */
export function segmentsOf(tokens: readonly Token[]): Token[][] {
  if (tokens.length === 0) return [];
  if (tokens.length <= wholeTokensMax) return [[...tokens]];
  const segments: Token[][] = [[]];
  for (const token of tokens) {
    const current = segments.at(-1) ?? [];
    current.push(token);
    const full = current.length >= segmentTokensMin && sentenceEnd.test(token.text);
    if (full || current.length >= wholeTokensMax) segments.push([]);
  }
  return segments.filter((segment) => segment.length > 0);
}

const wholeTokensMax = 50;
const segmentTokensMin = 12;
const sentenceEnd = /^(?:[.…]|[!?]+)$/;

/** The emoticon or word of like meaning, because the training data has hardly any emoji. */
function emoticonOf(emoji: string): string | undefined {
  return emoticons.get(emoji);
}

const alike: readonly (readonly [string, string])[] = [
  [':)', '😀😃😄😁😊🙂☺😌😇🤗😋😸😺🤠😏👼🌞🌈'],
  [':d', '😆🤣😹'],
  ['lol', '😂'],
  [';)', '😉😜😝😛🤪'],
  ['<3', '❤♥💕💖💗💘💙💚💛💜💓💞💝🧡🖤🤍🤎💟❣🫶'],
  ['love', '😍🥰😻😘😗😙😚💋🤩💑💏'],
  ['great', '👍👌👏🙌💪🔥💯✨🌟⭐🏆🥇😎🚀✅'],
  ['congrats', '🎉🎊🥳🎂🎁🎈🍾🥂🍻'],
  ['thanks', '🙏'],
  [':(', '😞😟😔🙁☹😕😣😖😫😩😿🥺😓😥😪🥀'],
  [":'(", '😢😭💔'],
  ['angry', '😠😡🤬👿😤💢🖕'],
  ['ugh', '🙄😒😑😐😬🤦🤷🤨😶👎'],
  ['disgusting', '🤢🤮💩🤧'],
  ['scared', '😨😰😱😧😦😳🙀'],
  ['hmm', '🤔🧐'],
  ['sick', '🤒🤕😷'],
  ['!', '❗‼⚠'],
  ['?', '❓'],
];

const emoticons: ReadonlyMap<string, string> = new Map(
  alike.flatMap(([emoticon, emoji]) =>
    [...emoji].filter((one) => /\p{Extended_Pictographic}/u.test(one)).map((one) => [one, emoticon] as const),
  ),
);
