import { appendAll } from '../base/lists.ts';
import { requireProject } from '../service/project.ts';
import { findOldestSuite } from '../service/suite-client.ts';
import type { GatePlan } from './plan/plan.ts';
import type { FileSuite } from './plan/plan-suites.ts';
import type { PlannedUpload } from './plan/plan-service.ts';
import type { GateContext } from './run/context.ts';
import { connectProject, type HostedProject, openUploadClient } from './run/hosted-project.ts';
import { findStoredSuite } from './run/prepare-stored-suite.ts';
import { describeChanges, planStoredSync } from './run/prepare-suite.ts';

export type PreviewCalls = Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal'>;

/** Describes what the gate would change in the services that its plan has, one line each. Reads from them, and changes nothing. */
export async function previewService(plan: GatePlan, context: PreviewCalls): Promise<string[]> {
  const lines = plan.upload === null ? [] : await previewUpload(plan, plan.upload, context);
  if (plan.service.hosted === null) return lines;
  await using service = await connectProject(plan.service, plan.service.hosted, context);
  for (const planned of plan.suites) {
    if (planned.kind === 'file') appendAll(lines, await previewChanges(planned, service, context.signal));
    else await findStoredSuite(planned, { service, signal: context.signal });
  }
  return lines;
}

async function previewChanges(planned: FileSuite, service: HostedProject, signal: AbortSignal): Promise<string[]> {
  const { client, projectId } = service;
  const stored = await findOldestSuite(client, { projectId, name: planned.hostedName, signal });
  if (stored === undefined) {
    return [`The project has no suite ${planned.hostedName}; it would be created.`];
  }
  const sync = await planStoredSync(planned, stored.id, { service, whole: planned.whole, signal });
  const [title, changes] = describeChanges(sync, planned.hostedName);
  return [`${title}.`, ...changes.map((change) => `  ${change}`)];
}

/** Reads the project, so that the preview reports a key without access to it. */
async function previewUpload(
  { suites }: GatePlan,
  upload: PlannedUpload,
  { clock, logger, signal }: PreviewCalls,
): Promise<string[]> {
  await using client = openUploadClient(upload, { clock, logger });
  const { baseUrl, project } = upload.service;
  const { name } = await requireProject(client, { project, signal });
  const where = `of the project ${JSON.stringify(name)} at ${baseUrl}`;
  return suites.flatMap((planned) =>
    planned.kind === 'stored'
      ? []
      : `Would upload the results of ${planned.suite.name} to the suite ${JSON.stringify(planned.hostedName)} ${where}.`,
  );
}
