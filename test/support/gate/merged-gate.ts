import { ConfigurationError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { systemClock } from '../../../src/base/time.ts';
import { type JobResult, runJob } from '../../../src/gate/job.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import type { Workspace } from '../workspace.ts';

/** Joins the reports in `shards` as `mcp-eval-ci merge shards` does, in the process of the test. */
export async function mergeShards(
  { path: cwd }: Workspace,
  inputs: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<JobResult> {
  const context = {
    cwd,
    environment,
    clock: systemClock,
    logger: silentLogger,
    redactor: createRedactor(),
    openSignal: () => new AbortController().signal,
  };
  return await runJob(parseGateOptions({ merge: 'shards', ...inputs }), context, {});
}

/** Lists the problems that a merge reports, with their inputs and codes. */
export async function listMergeIssues(workspace: Workspace): Promise<string[]> {
  try {
    await mergeShards(workspace);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ input, message, code }) => `${input}: ${message} (${code})`);
  }
}
