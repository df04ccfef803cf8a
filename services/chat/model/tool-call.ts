/** Beginnings of calls of tools as models print them that do not know how to make them. */
const openings = [
  '{',
  '[{',
  '<tool_call',
  '<function',
  '<|python_tag|>',
  '[TOOL_CALLS]',
  '```json',
  '```\n{',
];
/** A text that begins like a call, and is longer, is an answer. */
const callMax = 4_000;
const call =
  /"(?:name|function|tool|tool_name)"\s*:\s*["{]|^\s*(?:<tool_call|<function|<\|python_tag\|>|\[TOOL_CALLS\])/;

/** Returns true for the beginning of a text that may be a call of a tool once more of it is there. */
export function mayBeToolCall(text: string): boolean {
  const begun = text.trimStart();
  if (begun.length > callMax) return false;
  return openings.some((opening) => opening.startsWith(begun) || begun.startsWith(opening));
}

/** Returns true for a text that is a printed call of a tool. */
export function isToolCall(text: string): boolean {
  return mayBeToolCall(text) && call.test(text);
}
