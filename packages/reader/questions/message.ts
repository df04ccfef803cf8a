/** A message of a conversation, in words. */
export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}
