import type { Command } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { serviceCommands } from './eval-service.ts';
import type { GateProcess } from './run.ts';

type AddCommand<Context> = (program: Command, setExitCode: (code: number) => void, context: Context) => void;

interface CommandModule<Context> {
  names: readonly string[];
  load: () => Promise<AddCommand<Context>>;
}

/** In the order of the help. */
const gateCommands: ReadonlyArray<CommandModule<GateProcess>> = [
  { names: ['run'], load: async () => (await import('./run.ts')).addRunCommand },
  { names: ['init'], load: async () => (await import('./init.ts')).addInitCommand },
  { names: ['record'], load: async () => (await import('./record.ts')).addRecordCommand },
  { names: ['merge'], load: async () => (await import('./merge.ts')).addMergeCommand },
  { names: ['publish'], load: async () => (await import('./publish.ts')).addPublishCommand },
];

/** Those that run no gate of their own, below the others in the help. */
const otherCommands: ReadonlyArray<CommandModule<Redactor>> = [
  { names: ['judge'], load: async () => (await import('./judge.ts')).addJudgeCommand },
  { names: ['render'], load: async () => (await import('./render.ts')).addRenderCommand },
  { names: ['calibrate'], load: async () => (await import('./calibrate.ts')).addCalibrateCommand },
  { names: ['validate'], load: async () => (await import('./validate.ts')).addValidateCommand },
  { names: ['plan-runs'], load: async () => (await import('./plan-runs.ts')).addPlanRunsCommand },
  { names: ['doctor'], load: async () => (await import('./doctor.ts')).addDoctorCommand },
  { names: ['tools'], load: async () => (await import('./tools.ts')).addToolsCommand },
  { names: ['surface'], load: async () => (await import('./surface.ts')).addSurfaceCommand },
  { names: ['serve'], load: serviceCommands.loadServe },
  { names: ['tunnel'], load: async () => (await import('./tunnel.ts')).addTunnelCommand },
  { names: ['api'], load: serviceCommands.loadApi },
  { names: ['sync', 'pull'], load: serviceCommands.loadSync },
  { names: ['convert'], load: async () => (await import('./convert.ts')).addConvertCommand },
  // It completes the names of all others, and so is added with them.
  { names: [], load: async () => (await import('./completion.ts')).addCompletionCommand },
];

/**
 * Adds the command with this name and loads no other: loading all took up to 45 % of a start. Where no command has the name, adds
 * all of them, which the help lists and from which a mistyped name gets its suggestion.
 */
export async function addCommands(
  program: Command,
  name: string | undefined,
  { setExitCode, redactor, supervision }: GateProcess & { setExitCode: (code: number) => void },
): Promise<void> {
  const isNamed = ({ names }: { names: readonly string[] }) => name !== undefined && names.includes(name);
  const isKnown = gateCommands.some(isNamed) || otherCommands.some(isNamed);
  for (const command of gateCommands) {
    if (!isKnown || isNamed(command)) (await command.load())(program, setExitCode, { redactor, supervision });
  }
  for (const command of otherCommands) {
    if (!isKnown || isNamed(command)) (await command.load())(program, setExitCode, redactor);
  }
}
