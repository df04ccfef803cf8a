/** Who a mail is from. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

const bare = /^[^\s@<>,;:"()[\]\\]{1,64}@[a-zA-Z0-9.-]{1,253}$/;

/** Reads `Name <address>` or a bare address. Throws a plain sentence ("must be ...") where it is neither. */
export function parseSender(text: string): Sender {
  const match = /^(?:"?([^"<>]*?)"?\s*<([^<>]+)>|([^<>\s]+))$/.exec(text.trim());
  const address = match?.[2] ?? match?.[3] ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
  if (!bare.test(address) || /[\x00-\x1f\x7f]/.test(text)) {
    throw new Error('must be an e-mail address or "Name <address>"');
  }
  return { name: match?.[1] ?? '', address };
}
