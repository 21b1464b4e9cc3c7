import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { type Calibration, hashRubric, locateCalibration } from '../../../src/model/calibration.ts';
import { createWorkspace } from '../../support/workspace.ts';

const judge = { rubric: 'The answer names the capital of France.', model: 'openai/gpt-5-mini', threshold: 0.7 };
const file = 'evals/a.evals.yaml';
const recordPath = locateCalibration(file, judge);
const now = Date.parse('2026-09-21T12:00:00Z');

const evals = `suite: Cities
cases:
  - title: Names the city
    steps:
      - toolCall: lookup
      - assert: { judge: ${judge.rubric}, model: ${judge.model}, threshold: 0.7, role: gating }
`;

function createRecord(overrides: Partial<Calibration> = {}): Calibration {
  const { model, threshold, rubric } = judge;
  return {
    format: 1,
    judge: { rubricHash: hashRubric(rubric), model, threshold, instructions: 1 },
    date: '2026-09-01T00:00:00.000Z',
    examples: 40,
    confusion: { bothPassed: 19, labelPassed: 1, judgePassed: 1, bothFailed: 19 },
    accuracy: 0.95,
    kappa: 0.9,
    interval: { confidence: 0.95, lower: 0.67, upper: 0.97 },
    ...overrides,
  };
}

async function listIssues(files: Record<string, string>, inputs: Record<string, string> = {}): Promise<string[]> {
  await using workspace = await createWorkspace(files);
  const options = parseGateOptions({ 'server-command': 'node server.js', evals: file, ...inputs });
  const planned = planGate(options, { cwd: workspace.path, environment: {}, nowMs: now });
  const error: unknown = await planned.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error === null) return [];
  if (!(error instanceof ConfigurationError)) throw error;
  return error.issues.map(({ file: where, line, code, message }) => `${where}:${line} ${code}: ${message}`);
}

const withRecord = (record: unknown) => ({ [file]: evals, [recordPath]: JSON.stringify(record) });

describe('a judge that gates', () => {
  it('is accepted with a current calibration next to the evals file', async () => {
    expect(await listIssues(withRecord(createRecord()))).toEqual([]);
  });

  it('is refused without one, with its line and the remedy', async () => {
    const [issue, ...others] = await listIssues({ [file]: evals });
    expect(others).toEqual([]);
    expect(issue).toBe(
      `${file}:6 uncalibrated-judge: This judge gates, and its calibration ${recordPath} does not exist; run \`mcp-eval-ci calibrate\` with labelled examples in evals, or remove \`role: gating\``,
    );
  });

  it('needs none where it is advisory', async () => {
    expect(await listIssues({ [file]: evals.replace(', role: gating', '') })).toEqual([]);
  });

  it.each([
    [
      'of other instructions',
      createRecord({ judge: { ...createRecord().judge, instructions: 2 } }),
      'uncalibrated-judge',
    ],
    [
      'of another rubric',
      createRecord({ judge: { ...createRecord().judge, rubricHash: hashRubric('x') } }),
      'uncalibrated-judge',
    ],
    ['that is too old', createRecord({ date: '2026-06-01T00:00:00.000Z' }), 'old-calibration'],
    ['from the future', createRecord({ date: '2026-10-01T00:00:00.000Z' }), 'old-calibration'],
    [
      'whose lower bound is too low, whatever its kappa',
      createRecord({ interval: { confidence: 0.95, lower: 0.5999, upper: 1 } }),
      'disagreeing-judge',
    ],
    ['that is damaged', { format: 2 }, 'damaged-calibration'],
  ])('is refused with a calibration %s', async (_, record, code) => {
    expect(await listIssues(withRecord(record))).toEqual([expect.stringContaining(` ${code}: `)]);
  });

  it.each([
    ['its rubric', evals.replace('capital', 'largest city')],
    ['its model', evals.replace('gpt-5-mini', 'gpt-5')],
    ['its threshold', evals.replace('threshold: 0.7', 'threshold: 0.6')],
  ])('needs another calibration after a change of %s', async (_, text) => {
    const issues = await listIssues({ ...withRecord(createRecord()), [file]: text });
    expect(issues).toEqual([expect.stringContaining('uncalibrated-judge')]);
  });

  it('is accepted or refused as the policy says', async () => {
    const files = withRecord(createRecord());
    const refuse = async (policy: string) =>
      await listIssues({ ...files, 'policy.yaml': policy }, { policy: 'policy.yaml' });
    expect(await refuse('judges: { minimumAgreement: 0.67, maximumAge: 21d }')).toEqual([]);
    expect(await refuse('judges: { minimumAgreement: 0.68 }')).toEqual([
      expect.stringContaining('where 0.68 is required (from policy.yaml:1)'),
    ]);
    expect(await refuse('judges: { maximumAge: 20d }')).toEqual([
      expect.stringContaining('is of 2026-09-01; one is current for 20d (from policy.yaml:1)'),
    ]);
  });
});
