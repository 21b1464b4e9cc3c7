import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { calibrationSchema, locateCalibration } from '../../src/model/calibration.ts';
import { createOpinion, refusal } from '../support/models/judge-script.ts';
import { openScriptedProvider, type ProviderRequest, type ScriptedReply } from '../support/models/scripted-provider.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const judge = { rubric: 'The answer names the capital of France.', model: 'openai/gpt-5-mini', threshold: 0.7 };
const recordPath = locateCalibration('evals/labels.yaml', judge);

/** Eight examples of each label. */
const labels = `judge: ${JSON.stringify(judge)}
examples:
${Array.from({ length: 8 }, (_, index) => `  - { answer: Paris ${index}, passed: true }\n  - { answer: Lyon ${index}, passed: false }`).join('\n')}
`;

/** A judge that passes answers in which it finds a text. */
function judgeBy(text: string) {
  return ({ userText }: ProviderRequest): ScriptedReply => {
    const [, answer = ''] = /<answer>\n(.*)\n<\/answer>/.exec(userText) ?? [];
    const opinion = answer.includes(text) ? createOpinion() : refusal;
    return { toolCalls: [{ name: 'give_judgement', arguments: opinion }] };
  };
}

async function calibrate(
  { path: cwd }: Workspace,
  {
    baseUrl,
    args = [],
    run = runProgramInTest,
  }: { baseUrl?: string; args?: readonly string[]; run?: typeof runCommand },
) {
  const env: Record<string, string> =
    baseUrl === undefined ? {} : { OPENAI_API_KEY: 'sk-canary-openai', OPENAI_BASE_URL: baseUrl };
  return await run(['calibrate', 'evals/labels.yaml', ...args], { cwd, env });
}

async function readRecord({ path }: Workspace) {
  return calibrationSchema.parse(JSON.parse(await readFile(join(path, recordPath), 'utf8')));
}

describe('mcp-eval-ci calibrate', () => {
  it('exits 0 and writes the record of a judge that agrees, and replays it with its date', async () => {
    await using workspace = await createWorkspace({ 'evals/labels.yaml': labels });
    await using provider = await openScriptedProvider({ format: 'compatible', answers: judgeBy('Paris') });
    const { baseUrl } = provider;
    const recorded = await calibrate(workspace, { baseUrl, args: ['--recordings', 'record'] });
    expect(recorded).toMatchObject({ exitCode: 0, stderr: '' });
    expect(recorded.stdout).toContain('Accuracy 100%, kappa 1.00 (95% interval 0.61 to 1.00)');
    expect(recorded.stdout).toContain(`Wrote ${recordPath}.`);
    // An example that fails takes two opinions.
    expect(provider.requests).toHaveLength(8 + 2 * 8);
    const record = await readRecord(workspace);
    expect(record).toMatchObject({
      judge: { model: judge.model, threshold: 0.7 },
      examples: 16,
      confusion: { bothPassed: 8, labelPassed: 0, judgePassed: 0, bothFailed: 8 },
      kappa: 1,
    });
    const replayed = await calibrate(workspace, { args: ['--recordings', 'replay'], run: runCommand });
    expect(replayed).toEqual(recorded);
    expect(await readRecord(workspace)).toEqual(record);
    expect(provider.requests).toHaveLength(24);
  });

  it('exits 1 for a judge that disagrees, and names the examples', async () => {
    await using workspace = await createWorkspace({
      'evals/labels.yaml': labels,
      'policy.yaml': 'judges: { minimumAgreement: 0 }\n',
    });
    await using provider = await openScriptedProvider({ format: 'compatible', answers: judgeBy('o') });
    const { baseUrl } = provider;
    const result = await calibrate(workspace, { baseUrl, args: ['--policy', 'policy.yaml'], run: runCommand });
    expect(result).toMatchObject({ exitCode: 1, stderr: '' });
    expect(result.stdout).toContain('evals/labels.yaml:4:5: labelled failed, judged passed: It names the city.');
    expect(result.stdout).toContain('The lower bound must reach 0 (from policy.yaml:1): the judge may not gate.');
    expect((await readRecord(workspace)).kappa).toBe(-1);
  });

  it('exits 3 and writes nothing without a key, and 2 for labels of one kind', async () => {
    await using workspace = await createWorkspace({ 'evals/labels.yaml': labels });
    const keyless = await calibrate(workspace, {});
    expect(keyless.exitCode).toBe(3);
    expect(keyless.stderr).toContain('OPENAI_API_KEY');
    await expect(readRecord(workspace)).rejects.toThrow('ENOENT');
    await workspace.write('evals/labels.yaml', labels.replaceAll('passed: false', 'passed: true'));
    const onesided = await calibrate(workspace, {});
    expect(onesided.exitCode).toBe(2);
    expect(onesided.stderr).toMatch(/^evals\/labels\.yaml:3:3: .*\(one-label\)$/m);
  });
});
