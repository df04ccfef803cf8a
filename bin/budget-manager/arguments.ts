import { parseArgs } from 'node:util';
import { commands } from './commands.ts';
import { Failure } from './failure.ts';
import { type Arguments, globalOptions, type OptionTypes } from './options.ts';

/** Reads options, which may stand before or after the command. Throws a usage error for those that the command does not have. */
export function readArguments(argv: readonly string[]): Arguments {
  const [name] = parseArgs({
    args: [...argv],
    options: allOptions(),
    strict: false,
    allowPositionals: true,
  }).positionals;
  if (name !== undefined && !Object.hasOwn(commands, name)) {
    throw new Failure('usage', `There is no command "${name}". Run "budget-manager --help" for a list.`);
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { ...globalOptions, ...(name !== undefined && commands[name]?.options) },
    allowPositionals: true,
  });
  return { name, operands: positionals.slice(1), options: values as Arguments['options'] };
}

/** Which options take a value must be known before the command is. */
function allOptions(): OptionTypes {
  return Object.assign({}, globalOptions, ...Object.values(commands).map(({ options }) => options));
}
