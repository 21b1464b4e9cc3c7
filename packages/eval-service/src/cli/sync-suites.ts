import { ConfigurationError } from '../../../../src/base/errors.ts';
import type { Redactor } from '../../../../src/base/redaction.ts';
import { listenForInterrupts } from '../../../../src/gate/host-process.ts';
import { listFlags } from '../../../../src/gate/options/list.ts';
import { escapeTerminalText } from '../../../../src/report/escape/log.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import { requireProject } from '../../../../src/service/project.ts';
import { describeSuiteSync, isInStep } from '../sync/plan-sync.ts';
import { applySync, planSync, pullFile, readSyncFiles, type SyncPlace } from '../sync/sync-files.ts';
import { readGateFlags } from '../../../../src/cli/gate-options.ts';
import { writeOut } from '../../../../src/cli/write-out.ts';
import { openServiceOfFlags } from './service-client.ts';
import type { CalledService } from './service-flag.ts';

interface ServiceFlags {
  service: CalledService;
}

export interface SyncFlags extends ServiceFlags {
  plan?: boolean;
  apply?: boolean;
  prune?: boolean;
  server?: string;
}

export interface PullFlags extends ServiceFlags {
  out?: string;
  force?: boolean;
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

/** Prints what differs between files and suites, and changes it with `--apply`. */
export async function syncSuites(patterns: string[], flags: SyncFlags, redactor: Redactor): Promise<void> {
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
}

/** Writes a suite as an evals file. */
export async function pullSuite(suite: string, flags: PullFlags, redactor: Redactor): Promise<void> {
  const place = await openPlace(flags, redactor);
  await using _client = place.client;
  const text = redactor.redact(await pullFile(suite, place));
  await writeOut(text, flags);
}
