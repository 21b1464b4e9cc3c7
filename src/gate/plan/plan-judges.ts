import { dirname, posix, resolve } from 'node:path';
import { type ConfigurationIssue, describeError, readErrorCode } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import { tryParseJson } from '../../base/json.ts';
import { formatDays } from '../../base/time.ts';
import { isAdvisory } from '../../checks/assertion.ts';
import {
  type Calibration,
  calibrationSchema,
  hashRubric,
  type JudgeIdentity,
  judgeInstructionsVersion,
  locateCalibration,
} from '../../model/calibration.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import { describeSource } from '../../model/source.ts';
import type { LocatedJudge } from '../../cases/suite.ts';
import type { PlannedSuite } from './plan-suites.ts';

type JudgeRules = Pick<SuiteRequirements, 'minimumJudgeAgreement' | 'maximumCalibrationAgeMs'>;

/**
 * Finds judges that gate without a current calibration: a record of the same rubric, model and threshold that is recent enough and shows the
 * agreement that the policy requires.
 */
export async function findUncalibratedJudges(
  suites: readonly PlannedSuite[],
  context: { cwd: string; nowMs: number },
): Promise<ConfigurationIssue[]> {
  const issues: ConfigurationIssue[] = [];
  for (const planned of suites) {
    if (planned.kind === 'stored') continue;
    const judges = planned.suite.cases.flatMap((testCase) => testCase.judges);
    for (const { judge, location } of listGatingJudges(judges)) {
      const problem = await explainProblem(judge, { ...context, ...planned.requirements, file: location.file });
      if (problem !== null) issues.push({ ...location, ...problem });
    }
  }
  return issues;
}

/** Lists the gating judges, each location once: a judge of a suite belongs to each of its cases. */
function listGatingJudges(judges: readonly LocatedJudge[]) {
  const gating = judges.flatMap(({ judge, location }) => {
    const { rubric, model, threshold = null } = judge;
    return model === undefined || isAdvisory(judge) ? [] : [{ judge: { rubric, model, threshold }, location }];
  });
  return new Map(gating.map((found) => [`${found.location.line}:${found.location.column}`, found])).values();
}

type Problem = Pick<ConfigurationIssue, 'code' | 'message'>;

async function explainProblem(
  judge: JudgeIdentity,
  { cwd, nowMs, file, ...rules }: JudgeRules & { cwd: string; nowMs: number; file: string },
): Promise<Problem | null> {
  const path = locateCalibration(file, judge);
  const directory = posix.dirname(file);
  const remedy = `run \`mcp-eval-ci calibrate\` with labelled examples in ${directory === '.' ? 'this directory' : directory}, or remove \`role: gating\``;
  const refuse = (code: string, why: string): Problem => ({ code, message: `This judge gates, and ${why}; ${remedy}` });
  const read = await readCalibration(path, cwd);
  if (read === null) return refuse('uncalibrated-judge', `its calibration ${path} does not exist`);
  if (typeof read === 'string') return refuse('damaged-calibration', `its calibration ${path} cannot be used: ${read}`);
  if (!isOfJudge(read, judge)) {
    return refuse('uncalibrated-judge', `the calibration ${path} is that of another judge, or of another version`);
  }
  const { maximumCalibrationAgeMs: maximumAge, minimumJudgeAgreement: minimum } = rules;
  const ageMs = nowMs - Date.parse(read.date);
  if (ageMs > maximumAge.value || ageMs < -dayMs) {
    const allowed = `${formatDays(maximumAge.value)} (${describeSource(maximumAge.source)})`;
    return refuse(
      'old-calibration',
      `its calibration ${path} is of ${read.date.slice(0, 10)}; one is current for ${allowed}`,
    );
  }
  if (read.interval.lower >= minimum.value) return null;
  const shown = `a kappa of ${read.kappa.toFixed(2)}, at least ${read.interval.lower.toFixed(2)}, in ${read.examples} examples`;
  return refuse(
    'disagreeing-judge',
    `its calibration ${path} shows ${shown}, where ${minimum.value} is required (${describeSource(minimum.source)})`,
  );
}

/** Clocks differ, but by less than a day. */
const dayMs = 24 * 3_600_000;

function isOfJudge({ judge }: Calibration, { rubric, model, threshold }: JudgeIdentity): boolean {
  return (
    judge.rubricHash === hashRubric(rubric) &&
    judge.model === model &&
    judge.threshold === threshold &&
    judge.instructions === judgeInstructionsVersion
  );
}

/** Null if the file is missing; a clause about the file if it is no valid record. */
async function readCalibration(path: string, cwd: string): Promise<Calibration | string | null> {
  const absolute = resolve(cwd, path);
  try {
    if ((await leadsOutOfCheckout(path, cwd)) || (await leadsOutOfCheckout(dirname(path), cwd))) return linkOutMessage;
    const parsed = calibrationSchema.safeParse(tryParseJson(await readTextFile(absolute)));
    return parsed.success ? parsed.data : 'it is no record of a calibration';
  } catch (error) {
    return readErrorCode(error) === 'ENOENT' ? null : describeError(error);
  }
}
