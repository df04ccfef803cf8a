/** The emoticon or word of like meaning: what the model was taught on has hardly an emoji. */
export function emoticonOf(emoji: string): string | undefined {
  return table.get(emoji);
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

const table: ReadonlyMap<string, string> = new Map(
  alike.flatMap(([emoticon, emoji]) =>
    [...emoji].filter((one) => /\p{Extended_Pictographic}/u.test(one)).map((one) => [one, emoticon] as const),
  ),
);
