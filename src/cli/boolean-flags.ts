import type { Command } from 'commander';

/**
 * Adds a value to every boolean flag, so that commander does not take the next word as its value: `--dry-run a.yaml` is a dry run of
 * a.yaml. Values of other flags and words after `--` stay unchanged.
 */
export function completeBooleanFlags(args: readonly string[], command: Command): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  let isValue = false;
  const completed = args.slice(0, end).map((arg, index) => {
    const option = isValue ? undefined : command.options.find(({ long, short }) => arg === long || arg === short);
    isValue = option?.required === true;
    // Commander treats a bracket within the name of a value as an optional value.
    if (option?.optional !== true || option.required) return arg;
    const next = args[index + 1] ?? '';
    if (/^(?:true|false)$/i.test(next)) {
      const words = `${arg} and ${next} are two words. Join them with an equals sign: ${arg}=${next.toLowerCase()}`;
      command.error(`error: ${words}`, { code: 'separate-boolean', exitCode: 2 });
    }
    return `${arg}=true`;
  });
  return [...completed, ...args.slice(end)];
}
