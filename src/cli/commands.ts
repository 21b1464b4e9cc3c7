import type { Command } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { serviceCommands } from './eval-service.ts';
import type { GateProcess } from './run-flags.ts';

type DefineCommand<Context> = (command: Command, setExitCode: (code: number) => void, context: Context) => void;

interface CommandRow<Context> {
  name: string;
  summary: string;
  /** Loads the function that defines the command's arguments, flags and action. */
  load: () => Promise<DefineCommand<Context>>;
}

/** The commands that run the gate, in the order of the help. */
const gateCommands: ReadonlyArray<CommandRow<GateProcess>> = [
  {
    name: 'run',
    summary: 'Run evals against an MCP server and judge the pass rate.',
    load: async () => (await import('./run.ts')).defineRunCommand,
  },
  {
    name: 'init',
    summary:
      'Write evals, a surface file and a workflow for the MCP server of this repository, and run the evals once.',
    load: async () => (await import('./init.ts')).defineInitCommand,
  },
  {
    name: 'mutate',
    summary: 'Measure what the evals would miss: change answers of the server, and judge the cases again.',
    load: async () => (await import('./mutate.ts')).defineMutateCommand,
  },
  {
    name: 'record',
    summary: 'Record what models answer in cases with prompts, next to the evals files.',
    load: async () => (await import('./record.ts')).defineRecordCommand,
  },
  {
    name: 'record-upstream',
    summary: 'Record what the APIs answer that an MCP server uses, for evals without the network.',
    load: async () => (await import('./record-upstream.ts')).defineRecordUpstreamCommand,
  },
  {
    name: 'merge',
    summary: 'Join the reports of shards into one verdict and one report.',
    load: async () => (await import('./merge.ts')).defineMergeCommand,
  },
  {
    name: 'publish',
    summary: 'Post the verdict of a report.json as a comment on its pull request.',
    load: async () => (await import('./publish.ts')).definePublishCommand,
  },
];

/** The commands that run no gate, below the others in the help. */
const otherCommands: ReadonlyArray<CommandRow<Redactor>> = [
  {
    name: 'judge',
    summary: 'Judge the results in a report.json anew, without running anything.',
    load: async () => (await import('./judge.ts')).defineJudgeCommand,
  },
  {
    name: 'render',
    summary: 'Print a report.json as Markdown, or as the Code Quality report of GitLab.',
    load: async () => (await import('./render.ts')).defineRenderCommand,
  },
  {
    name: 'history',
    summary: 'Make a page of a history file: pass rates over time, flaky cases, and what changed when.',
    load: async () => (await import('./history.ts')).defineHistoryCommand,
  },
  {
    name: 'calibrate',
    summary: 'Compare a judge with labelled examples, and write the calibration that it needs to gate.',
    load: async () => (await import('./calibrate.ts')).defineCalibrateCommand,
  },
  {
    name: 'validate',
    summary: 'Check evals files and report every finding with its file, line and column.',
    load: async () => (await import('./validate.ts')).defineValidateCommand,
  },
  {
    name: 'plan-runs',
    summary: 'Estimate from the history how many iterations the confidence of a policy needs and costs.',
    load: async () => (await import('./plan-runs.ts')).definePlanRunsCommand,
  },
  {
    name: 'doctor',
    summary: 'Find out, step by step, whether an MCP server is ready for evals. Runs none.',
    load: async () => (await import('./doctor.ts')).defineDoctorCommand,
  },
  {
    name: 'tools',
    summary: 'List the tools of an MCP server with their arguments.',
    load: async () => (await import('./tools.ts')).defineToolsCommand,
  },
  {
    name: 'surface',
    summary:
      'Compare the tools, prompts and resources of an MCP server with a file, or write that file. Runs no evals.',
    load: async () => (await import('./surface.ts')).defineSurfaceCommand,
  },
  {
    name: 'hosts',
    summary: 'Report what Claude Code, Codex and other hosts would show a model of an MCP server.',
    load: async () => (await import('./hosts.ts')).defineHostsCommand,
  },
  {
    name: 'explore',
    summary: 'Find out what an MCP server does, in copies of a workspace, and write evals from it.',
    load: async () => (await import('./explore.ts')).defineExploreCommand,
  },
  {
    name: 'capture',
    summary: 'Pass an MCP session of any client through to its server, and write evals from it.',
    load: async () => (await import('./capture.ts')).defineCaptureCommand,
  },
  {
    name: 'serve',
    summary: 'Run the embedded eval service alone, on 127.0.0.1, until it is stopped.',
    load: serviceCommands.loadServe,
  },
  {
    name: 'tunnel',
    summary: 'Let a hosted service reach an MCP server of this machine, until it is stopped.',
    load: async () => (await import('./tunnel.ts')).defineTunnelCommand,
  },
  {
    name: 'api',
    summary: 'Call an operation of the eval API, and print its answer as JSON.',
    load: serviceCommands.loadApi,
  },
  { name: 'sync', summary: 'Make suites of a hosted project the same as evals files.', load: serviceCommands.loadSync },
  { name: 'pull', summary: 'Write a suite of a hosted project as an evals file.', load: serviceCommands.loadPull },
  {
    name: 'completion',
    summary: 'Print a script that completes words of this command in a shell.',
    load: async () => (await import('./completion.ts')).defineCompletionCommand,
  },
];

/**
 * Adds the command that these arguments name, and loads no other. If they name none, adds the name and summary of every command, for the
 * help and for suggestions on mistyped names. `completion` loads all commands, because it completes their flags; its help does not.
 */
export async function addCommands(
  program: Command,
  [first, second]: readonly string[],
  { setExitCode, redactor, supervision }: GateProcess & { setExitCode: (code: number) => void },
): Promise<void> {
  const name = first === 'help' ? second : first;
  const isNamed = (command: { name: string }) => command.name === name;
  const isKnown = gateCommands.some(isNamed) || otherCommands.some(isNamed);
  const isCompleted = first === 'completion' && second !== '--help' && second !== '-h';
  const add = async <Context>({ load, ...row }: CommandRow<Context>, context: Context) => {
    const isUsed = isNamed(row) || isCompleted;
    if (isKnown && !isUsed) return;
    const command = program.command(row.name).description(row.summary);
    if (isUsed) (await load())(command, setExitCode, context);
  };
  for (const command of gateCommands) await add(command, { redactor, supervision });
  for (const command of otherCommands) await add(command, redactor);
}
