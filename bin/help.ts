import { type Command, commands } from './commands.ts';

/** The whole command line on one screen. */
export function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
  return ['Usage: octavo COMMAND [OPTIONS]', '', ...lines, '', 'octavo COMMAND --help tells more.'].join(
    '\n',
  );
}

/** How one command is called. */
export function helpOf(name: string, command: Command): string {
  const width = Math.max(0, ...Object.keys(command.options).map((option) => option.length)) + 2;
  const options = Object.entries(command.options).map(([option, help]) => `  ${option.padEnd(width)}${help}`);
  const head = [`Usage: ${command.usage}`, '', `octavo ${name}: ${command.summary}.`];
  return [...head, ...(options.length > 0 ? ['', 'Options:', ...options] : [])].join('\n');
}
