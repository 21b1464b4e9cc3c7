import { Argument, type Command } from 'commander';
import { nameFlag } from './field-flag.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** The words that a shell can complete. */
interface Completions {
  /** The commands and their flags. */
  commands: Array<{ name: string; description: string; flags: string[] }>;
  /** The operations of `api`, with the flags of their fields. */
  operations: Array<{ name: string; description: string; flags: string[] }>;
}

/** Defines `completion`: a script that completes commands, flags and the operations of the API. */
export function defineCompletionCommand(command: Command, setExitCode: (code: number) => void): void {
  command
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(mcp-eval-ci completion bash)
  $ source <(mcp-eval-ci completion zsh)
  $ mcp-eval-ci completion fish | source`,
    )
    .action(async (shell: Shell) => {
      const program = command.parent ?? command;
      process.stdout.write(renderCompletion(shell, program.name(), await collectCompletions(program)));
      setExitCode(0);
    });
}

/** Collects the commands of a program with their flags, and the operations of the API. */
export async function collectCompletions(program: Command): Promise<Completions> {
  const [{ listFields }, { listOperations }] = await Promise.all([
    import('../service/operations/fields.ts'),
    import('../service/operations/table.ts'),
  ]);
  return {
    commands: program.commands.map((command) => ({
      name: command.name(),
      description: command.description(),
      flags: command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []),
    })),
    operations: listOperations().map((operation) => ({
      name: operation.name,
      description: operation.summary,
      flags: listFields(operation).map(({ name }) => nameFlag(name)),
    })),
  };
}

/** Renders the script of a shell. */
export function renderCompletion(shell: Shell, program: string, completions: Completions): string {
  return shell === 'fish' ? renderFish(program, completions) : renderBash(shell, program, completions);
}

/** zsh runs the script of bash, through its own `bashcompinit`. */
function renderBash(shell: 'bash' | 'zsh', program: string, { commands, operations }: Completions): string {
  const names = (items: ReadonlyArray<{ name: string }>) => items.map(({ name }) => name).join(' ');
  const flagsOf = (items: Completions['commands'], indent: string) =>
    items.map(({ name, flags }) => `${indent}${name}) words='${flags.join(' ')}' ;;`).join('\n');
  return `${shell === 'zsh' ? 'autoload -U +X compinit bashcompinit && compinit && bashcompinit\n' : ''}_mcp_eval_ci() {
  local words='' own='' current="\${COMP_WORDS[COMP_CWORD]}" operation="\${COMP_WORDS[2]:-}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${names(commands)}'
  else
    case "\${COMP_WORDS[1]}" in
${flagsOf(commands, '      ')}
    esac
    if [ "\${COMP_WORDS[1]}" = api ]; then
      own="$words"
      if [ "$COMP_CWORD" -eq 2 ]; then
        words='${names(operations)}'
      else
        words=''
        case "$operation" in
${flagsOf(operations, '          ')}
        esac
      fi
      words="$words $own"
    fi
  fi
  COMPREPLY=()
  local word
  for word in $(compgen -W "$words" -- "$current"); do COMPREPLY+=("$word"); done
}
complete -o default -F _mcp_eval_ci ${program}
`;
}

function renderFish(program: string, { commands, operations }: Completions): string {
  const isFirst = '__fish_use_subcommand';
  const inCommand = (name: string) => `__fish_seen_subcommand_from ${name}`;
  const line = (condition: string, rest: string) => `complete -c ${program} -n '${condition}' ${rest}`;
  const needsOperation = `${inCommand('api')}; and not ${inCommand(operations.map(({ name }) => name).join(' '))}`;
  const flags = (items: Completions['commands']) =>
    items.flatMap((item) => item.flags.map((flag) => line(inCommand(item.name), `-l ${flag.slice(2)}`)));
  return [
    ...commands.map(({ name, description }) => line(isFirst, `-f -a ${name} -d ${quote(description)}`)),
    ...operations.map(({ name, description }) => line(needsOperation, `-f -a ${name} -d ${quote(description)}`)),
    ...flags(commands),
    ...flags(operations),
    '',
  ].join('\n');
}

/** Quotes a text for fish, in single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
