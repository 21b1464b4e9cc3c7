import { type Clock, type Deadline, startDeadline } from '../../base/time.ts';
import { endSentence, formatCount } from '../../base/text.ts';
import { DeadlineError, describeError, GateError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { redactDeep } from '../../base/redaction.ts';
import type { ServiceClient } from '../../service/client.ts';
import { ingestRun } from '../../service/ingest.ts';
import { requireProject } from '../../service/project.ts';
import type { WireIngestedRun } from '../../service/wire.ts';
import type { GateContext } from '../gate.ts';
import { openUploadClient } from '../run/connect-service.ts';
import { draftUploads, type SuiteDraft, type UploadSource } from './draft-upload.ts';
import type { PlannedUpload } from '../plan/plan-upload.ts';

/** With what ending a half-filled run may take, two minutes. */
const uploadTimeoutMs = 115_000;

/**
 * Brings the results of a gate's first rounds to the hosted project, a run for each suite that has a verdict. Whatever is in
 * the way is warned about: it never changes a verdict.
 */
export async function uploadResults(
  source: UploadSource,
  { clock, logger, redactor, signal }: Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal'>,
): Promise<void> {
  // A job that was stopped has seconds left.
  if (signal.aborted) return;
  const warn = (text: string) => logger.warning(`${endSentence(text)} The verdict stands.`);
  const { drafts, leftOut } = draftUploads(source);
  for (const { name, why } of leftOut) logger.info(`${name} is not uploaded: ${why}.`);
  if (drafts.length === 0) return;
  if (source.kept.lacksTraces) {
    logger.info('Not every trace of a failed iteration is uploaded: they are too large together.');
  }

  const { upload } = source;
  using limit = startTimeLimit(clock, signal);
  try {
    await using client = openUploadClient(upload, { clock, logger });
    const { project } = upload.service;
    const { id: projectId } = await requireProject(client, { project, ...limit.options });
    for (const draft of drafts) {
      try {
        await uploadSuite(client, redactDeep(draft, redactor), { upload, projectId, logger, options: limit.options });
      } catch (error) {
        if (limit.options.signal.aborted) throw error;
        warn(`${draft.name} could not be uploaded to its end: ${explain(error)}`);
      }
    }
  } catch (error) {
    warn(`The results could not be uploaded: ${explain(error)}`);
  }
}

interface Sending {
  upload: PlannedUpload;
  projectId: string;
  logger: Logger;
  options: TimeLimit['options'];
}

async function uploadSuite(
  client: ServiceClient,
  { name, run, results }: SuiteDraft,
  { upload, projectId, logger, options }: Sending,
): Promise<void> {
  const ended = await ingestRun(client, { projectId, run, results, ...options });
  const { suiteId, runId } = ended;
  const place = { baseUrl: upload.service.baseUrl, projectId: ended.projectId ?? projectId, suiteId, runId };
  const what = `${formatCount(results.length, 'iteration')} in the suite ${JSON.stringify(run.suiteName)}`;
  logger.info(`${name} is uploaded, ${what}: ${upload.profile.composeRunUrl(place) ?? `run ${runId}`}`);
  const passed = results.filter((result) => result.passed).length;
  const difference = findDifference(ended, { total: results.length, passed });
  if (difference === null) return;
  const why = ended.reused === true ? ', which an earlier upload of this job brought' : '';
  const ours = `here it is ${passed} of ${results.length}`;
  logger.warning(`${name}: the run in the service ${difference}${why}; ${ours}. The verdict stands.`);
}

/** Says how the service's run differs from the gate's; null if no difference shows. */
function findDifference({ status, summary }: WireIngestedRun, ours: { total: number; passed: number }): string | null {
  if (status != null && status !== 'completed') return `is ${status}`;
  const { total = null, passed = null } = summary ?? {};
  const differs = (total ?? ours.total) !== ours.total || (passed ?? ours.passed) !== ours.passed;
  return differs ? `says that ${passed ?? '?'} of ${total ?? '?'} passed` : null;
}

interface TimeLimit extends Disposable {
  options: { signal: AbortSignal; deadline: Deadline };
}

/** The upload changes no verdict, so the gate waits no longer than this for it. */
function startTimeLimit(clock: Clock, signal: AbortSignal): TimeLimit {
  const deadline = startDeadline(clock, uploadTimeoutMs, 'Uploading the results');
  const over = new AbortController();
  const done = new AbortController();
  void clock.sleep(uploadTimeoutMs, { signal: done.signal }).then(
    () => over.abort(new DeadlineError('It was not over after two minutes.')),
    () => {},
  );
  return {
    options: { deadline, signal: AbortSignal.any([signal, over.signal]) },
    [Symbol.dispose]: () => done.abort(),
  };
}

function explain(error: unknown): string {
  const hint = error instanceof GateError ? error.hint : undefined;
  return hint === undefined ? describeError(error) : `${endSentence(describeError(error))} ${hint}`;
}
