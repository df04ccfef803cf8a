/** Marks of what a response must not tell: stacks, paths of this machine, SQL and names of modules. */
const marks: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a stack', /\n\s+at .+:\d+:\d+|\.ts:\d+:\d+/],
  ['a path', /node_modules|\/(home|usr\/lib|var\/lib)\//],
  ['SQL', /SQLITE_|syntax error at or near|\bselect .{1,80} from "|\binsert into "|violates .* constraint/i],
  [
    'an error of the runtime',
    /Cannot read propert|is not a function|is not iterable|ECONNREFUSED|undefined is not/,
  ],
  ['an object as text', /\[object Object\]/],
];

/** Name of what a text tells although it must not; undefined if there is nothing. */
export function leakIn(text: string, folder: string): string | undefined {
  if (text.includes(folder)) return 'the folder of the data';
  if (text.includes(import.meta.dirname.replace(/\/proof\/fuzz$/, ''))) return 'the folder of the program';
  return marks.find(([, pattern]) => pattern.test(text))?.[0];
}
