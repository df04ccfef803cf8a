import { commands } from './commands.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { globalOptions } from './options.ts';

const scripts: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** Prints a script, for example for `source <(budget-manager completion bash)`. */
export async function completion({ operands, output }: Context): Promise<void> {
  const script = scripts[operands[0] ?? ''];
  if (!script) throw new Failure('usage', 'Choose bash, zsh or fish.');
  output.line(script());
}

const names = Object.keys(commands).join(' ');
const common = optionNames(globalOptions);

function bash(): string {
  const cases = Object.entries(commands).map(
    ([name, { options }]) => `    ${name}) words="${optionNames(options)}" ;;`,
  );
  return `_budget_manager() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word words="${names}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words ${common}" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _budget_manager budget-manager`;
}

function zsh(): string {
  const described = Object.entries(commands).map(([name, { summary }]) => `    '${name}:${quoted(summary)}'`);
  const cases = Object.entries(commands).map(
    ([name, { options }]) =>
      `      ${name}) _arguments ${[...optionSpecs(options), ...optionSpecs(globalOptions)].join(' ')} '*:file:_files' ;;`,
  );
  return `#compdef budget-manager
_budget_manager() {
  local -a commands=(
${described.join('\n')}
  )
  _arguments -C ${optionSpecs(globalOptions).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
${cases.map((line) => `  ${line}`).join('\n')}
      esac ;;
  esac
}
compdef _budget_manager budget-manager`;
}

function fish(): string {
  const lines = Object.entries(commands).flatMap(([name, { summary, options }]) => [
    `complete -c budget-manager -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
    ...Object.entries(options).map(
      ([option, { type, help }]) =>
        `complete -c budget-manager -n '__fish_seen_subcommand_from ${name}' -l ${option}${type === 'string' ? ' -r' : ''} -d '${quoted(help)}'`,
    ),
  ]);
  const everywhere = Object.entries(globalOptions).map(
    ([option, { type, help }]) =>
      `complete -c budget-manager -l ${option}${type === 'string' ? ' -r' : ''} -d '${quoted(help)}'`,
  );
  return [...lines, ...everywhere].join('\n');
}

function optionNames(options: object): string {
  return Object.keys(options)
    .map((name) => `--${name}`)
    .join(' ');
}

function optionSpecs(
  options: Readonly<Record<string, { readonly type: string; readonly help: string }>>,
): string[] {
  return Object.entries(options).map(
    ([name, { type, help }]) =>
      `'--${name}[${quoted(help)}]${type === 'string' ? `:${name}:${name === 'out' ? '_files' : ''}` : ''}'`,
  );
}

/** Quotes a text for use between single quotes, and between brackets. */
function quoted(text: string): string {
  return text.replaceAll("'", '').replace(/[[\]:]/g, '');
}
