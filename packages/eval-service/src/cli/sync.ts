import type { Command } from 'commander';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import type { Redactor } from '../../../../src/base/redaction.ts';
import { listenForInterrupts } from '../../../../src/gate/host-process.ts';
import { listFlags } from '../../../../src/gate/options/list.ts';
import { escapeTerminalText } from '../../../../src/report/escape/log.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import { requireProject } from '../../../../src/service/project.ts';
import { describeSuiteSync, isInStep } from '../sync/plan.ts';
import { applySync, planSync, pullFile, readSyncFiles, type SyncPlace } from '../sync/sync-files.ts';
import { createFlag, readGateFlags } from '../../../../src/cli/gate-options.ts';
import { writeOut } from '../../../../src/cli/write-out.ts';
import { type CalledService, createServiceOption, openServiceOfFlags } from './service-client.ts';

interface ServiceFlags {
  service: CalledService;
}

interface SyncFlags extends ServiceFlags {
  plan?: boolean;
  apply?: boolean;
  prune?: boolean;
  server?: string;
}

interface PullFlags extends ServiceFlags {
  out?: string;
  force?: boolean;
}

function addServiceFlags(command: Command): Command {
  command.addOption(createServiceOption());
  for (const option of listFlags('sync')) command.addOption(createFlag(option));
  return command;
}

async function openPlace(flags: ServiceFlags, redactor: Redactor) {
  const texts = readGateFlags({ ...flags }, process.env, listFlags('sync'));
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const client = openServiceOfFlags({ service: flags.service, texts, redactor, signal });
  const { id: projectId } = await requireProject(client, { project: texts['project'] || null, signal });
  return { client, projectId, signal } satisfies SyncPlace;
}

function print(text: string, redactor: Redactor): void {
  process.stdout.write(`${escapeTerminalText(redactor.redact(text))}\n`);
}

/** Defines `sync`: makes suites of a hosted project equal to evals files. */
export function defineSyncCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  addServiceFlags(
    command
      .argument('<files...>', 'paths or glob patterns of evals files')
      .option('--plan', 'Print what differs, and change nothing.')
      .option('--apply', 'Print what differs, and change it.')
      .option('--prune', 'Delete what sync created and the files no longer have.')
      .option('--server <name>', 'The server of the project that the evals call. [the only one]'),
  )
    .addHelpText(
      'after',
      `
Exit codes: 0 printed or done · 2 a file or flag is wrong, or the service could not keep the file · 3 the service failed

Examples:
  $ mcp-eval-ci sync --plan --service mcpjam --project demo evals/*.evals.yaml
  $ mcp-eval-ci sync --apply --prune --service mcpjam --project demo evals/*.evals.yaml`,
    )
    .action(async (patterns: string[], flags: SyncFlags) => {
      const { plan = false, apply = false, prune = false, server = null } = flags;
      if (plan === apply) {
        const message = 'write one of the two: --plan prints what differs, --apply changes it, too';
        throw new ConfigurationError([{ input: 'plan', code: 'plan-or-apply', message }]);
      }
      const suites = await readSyncFiles(patterns, { cwd: process.cwd(), profile: serviceProfiles[flags.service] });
      const place = await openPlace(flags, redactor);
      await using _client = place.client;
      const plans = await planSync(suites, { server, prune }, place);
      for (const line of plans.flatMap(describeSuiteSync)) print(line, redactor);
      if (apply) await applySync(plans, place);
      const changed = plans.filter((each) => !isInStep(each)).length;
      if (changed > 0)
        print(apply ? `Changed ${changed} of ${plans.length}.` : 'Nothing was changed; --apply does it.', redactor);
      setExitCode(0);
    });
}

/** Defines `pull`: writes a suite of a hosted project as an evals file. */
export function definePullCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  addServiceFlags(
    command
      .argument('<suite>', 'its id or name')
      .option('--out <file>', 'Where to write it. [stdout]')
      .option('--force', 'Replace a file that is there.'),
  )
    .addHelpText('after', '\nExample:\n  $ mcp-eval-ci pull "Notes server" --service mcpjam --out notes.evals.yaml')
    .action(async (suite: string, flags: PullFlags) => {
      const place = await openPlace(flags, redactor);
      await using _client = place.client;
      const text = redactor.redact(await pullFile(suite, place));
      await writeOut(text, flags);
      setExitCode(0);
    });
}
