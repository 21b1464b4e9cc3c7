import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Calibration, hashRubric, locateCalibration } from '../../src/model/calibration.ts';
import { isFullyRecorded } from '../../src/gate/publish/publish-recordings.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { createOpinion, refusal } from '../support/models/judge-script.ts';
import { openScriptedProvider, type ScriptedReply } from '../support/models/scripted-provider.ts';
import { startSumsServer } from '../support/servers/sums-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const judge = { rubric: 'The tool says that the sum is 5.', model: 'openai/gpt-5-mini', threshold: null };

const evals = `suite: Sums
id: sums
judgeModel: ${judge.model}
cases:
  - id: adds
    title: Adds
    checks:
      - { judge: ${judge.rubric}, role: gating }
      - { judge: The answer is friendly. }
    steps:
      - toolCall: get-sum
        arguments: { a: 2, b: 3 }
`;

const calibration: Calibration = {
  format: 1,
  judge: { rubricHash: hashRubric(judge.rubric), model: judge.model, threshold: null, instructions: 1 },
  date: new Date().toISOString(),
  examples: 16,
  confusion: { bothPassed: 8, labelPassed: 0, judgePassed: 0, bothFailed: 8 },
  accuracy: 1,
  kappa: 1,
  interval: { confidence: 0.95, lower: 0.61, upper: 1 },
};

const files = {
  'a.evals.yaml': evals,
  [locateCalibration('a.evals.yaml', judge)]: JSON.stringify(calibration),
};

function giveJudgement(opinion: ReturnType<typeof createOpinion>): ScriptedReply {
  return { toolCalls: [{ name: 'give_judgement', arguments: opinion }] };
}

async function runJudgedGate(workspace: Workspace, { baseUrl, recordings }: { baseUrl?: string; recordings: string }) {
  const environment: Record<string, string> =
    baseUrl === undefined ? {} : { OPENAI_API_KEY: 'sk-canary-openai', OPENAI_BASE_URL: baseUrl };
  await using server = await startSumsServer();
  const inputs = { 'server-url': server.url, 'report-dir': 'report', recordings };
  const { report } = await runEmbeddedGate(workspace, inputs, { environment });
  return report;
}

describe('a gate with a judge', () => {
  it('passes with its judge, whatever its advice says, and replays both without a key', async () => {
    await using workspace = await createWorkspace(files);
    await using provider = await openScriptedProvider({
      format: 'compatible',
      answers: ({ userText }) => giveJudgement(userText.includes('friendly') ? refusal : createOpinion()),
    });
    const recorded = await runJudgedGate(workspace, { baseUrl: provider.baseUrl, recordings: 'record' });
    expect(recorded.verdict.outcome).toBe('passed');
    // One opinion that passes, and two that fail.
    expect(provider.requests).toHaveLength(3);
    expect(provider.requests[0]?.userText).toContain('The sum of 2 and 3 is 5.');
    const recording = await readFile(
      join(workspace.path, 'recordings/sums/adds.judge.openai-gpt-5-mini.jsonl'),
      'utf8',
    );
    expect(recording.split('\n').filter((line) => line.includes('"turn":'))).toHaveLength(3);
    expect(recording).not.toContain('sk-canary');
    expect(recorded.cases[0]?.replayed).toEqual({ passed: 0, total: 0 });
    expect(recorded.cases[0]?.usage).toBeNull();
    expect(recorded.cases[0]?.judges).toMatchObject([
      { model: judge.model, usage: { modelCalls: 3, replayedCalls: 0 } },
    ]);
    expect(recorded.models).toMatchObject({
      models: [],
      usage: { modelCalls: 0 },
      judges: [{ model: judge.model, usage: { modelCalls: 3 } }],
    });
    expect(renderTerminal(recorded, { color: false })).toMatch(
      /Judge openai\/gpt-5-mini: calls 3 live; tokens \d+ in, \d+ out; cost not\s+known/,
    );
    const replayed = await runJudgedGate(workspace, { recordings: 'replay' });
    expect(replayed.verdict.outcome).toBe('passed');
    expect(replayed.cases[0]?.replayed).toEqual({ passed: 1, total: 1 });
    // Another conversation is another call, for which there is no recording.
    await workspace.write('a.evals.yaml', evals.replace('b: 3', 'b: 4'));
    const stale = await runJudgedGate(workspace, { recordings: 'replay' });
    expect(stale.verdict.outcome).toBe('inconclusive');
    expect(JSON.stringify(stale.cases[0]?.failures)).toContain('is stale');
    expect(provider.requests).toHaveLength(3);
  });

  it('fails with two opinions that fail, and is inconclusive without an opinion', async () => {
    await using workspace = await createWorkspace(files);
    await using strict = await openScriptedProvider({ format: 'compatible', answers: () => giveJudgement(refusal) });
    const failed = await runJudgedGate(workspace, { baseUrl: strict.baseUrl, recordings: 'live' });
    expect(failed.verdict.outcome).toBe('failed');
    expect(failed.cases[0]?.failures[0]?.reasons).toEqual([
      'judge: openai/gpt-5-mini failed it, with the scores 0.1, 0.1: It names another city.',
    ]);
    // The gate does not ask for the advisory judge any more.
    expect(strict.requests).toHaveLength(2);
    await using closed = await openScriptedProvider({ format: 'compatible', answers: () => ({ status: 401 }) });
    const open = await runJudgedGate(workspace, { baseUrl: closed.baseUrl, recordings: 'live' });
    expect(open.verdict.outcome).toBe('inconclusive');
    expect(JSON.stringify(open.cases[0]?.failures)).toContain('OPENAI_API_KEY');
    expect(open.verdict.reasons[0]?.message).toMatch(
      /^openai refuses the key in OPENAI_API_KEY \(401\).* The run ended as failed/,
    );
  });

  it('has no recording of a case whose judge that gates gave no answer, whatever its advice', async () => {
    await using workspace = await createWorkspace(files);
    await using server = await startSumsServer();
    const inputs = { 'server-url': server.url };
    const gating = await runEmbeddedGate(workspace, inputs);
    expect(gating.plan.models !== null && isFullyRecorded(gating.report, gating.plan.models)).toBe(false);
    await workspace.write('a.evals.yaml', evals.replace(', role: gating', ''));
    const advice = await runEmbeddedGate(workspace, inputs);
    expect(advice.plan.models !== null && isFullyRecorded(advice.report, advice.plan.models)).toBe(true);
  });

  it('is refused before anything starts where its judge has no calibration', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await expect(runJudgedGate(workspace, { recordings: 'replay' })).rejects.toThrow(
      /a\.evals\.yaml:8:\d+: This judge gates, .*mcp-eval-ci calibrate/,
    );
  });
});
