import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/redaction.ts';
import { createEvidenceCollector } from '../../../src/gate/run/evidence.ts';
import { maxIterationMarks, maxTraces } from '../../../src/model/evidence.ts';
import { readPage } from '../../support/html-tree.ts';
import { runEmbeddedGate, writeSayingCases } from '../../support/embedded-gate.ts';
import { createIteration } from '../../support/suite-factory.ts';
import { createCallMessages } from '../../support/trace-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

const trace = { messages: createCallMessages('call-1') };

describe('createEvidenceCollector', () => {
  it('keeps an iteration as it was last read', () => {
    const collector = createEvidenceCollector(createRedactor(), { keepsTraces: false });
    collector.addIteration('math', createIteration(), { caseId: 'adds', standing: 'passed' });
    collector.addIteration('math', createIteration(), { caseId: 'adds', standing: 'unscored' });
    expect(collector.collect().iterations).toEqual([
      {
        suiteId: 'math',
        caseId: 'adds',
        iterationId: 'it_1',
        iterationNumber: 1,
        standing: 'unscored',
        durationMs: 100,
      },
    ]);
  });

  it('keeps so many iterations and traces, and no more', async () => {
    const collector = createEvidenceCollector(createRedactor(), { keepsTraces: true });
    for (let index = 0; index < maxIterationMarks + 10; index += 1) {
      collector.addIteration('math', createIteration({ id: `it_${index}` }), { caseId: 'adds', standing: 'failed' });
    }
    for (let index = 0; index < maxTraces; index += 1) {
      expect(collector.hasRoomForTraces()).toBe(true);
      await collector.addTrace('math', `it_${index}`, trace);
    }
    expect(collector.hasRoomForTraces()).toBe(false);
    await collector.addTrace('math', 'it_more', trace);
    const { iterations, traces } = collector.collect();
    expect([iterations.length, traces.length]).toEqual([maxIterationMarks, maxTraces]);
  });

  it('keeps no trace unless a full report was asked for, and none that says nothing', async () => {
    const plain = createEvidenceCollector(createRedactor(), { keepsTraces: false });
    await plain.addTrace('math', 'it_1', trace);
    const full = createEvidenceCollector(createRedactor(), { keepsTraces: true });
    await full.addTrace('math', 'it_1', undefined);
    expect([plain.collect().traces, full.collect().traces]).toEqual([[], []]);
  });
});

describe('the evidence of a gate', () => {
  const file = writeSayingCases('Words', ['good', 'bad'], { head: 'runs: 2\n' });

  it('has every iteration, and of a full report the traces of those that failed', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': file });
    const { evidence } = await runEmbeddedGate(workspace, { 'report-formats': 'html, iterations' }, { says: 'good' });
    expect(
      evidence?.iterations
        .map(({ caseId, iterationNumber, standing }) => [caseId, iterationNumber, standing])
        .toSorted(),
    ).toEqual([
      ['bad', 1, 'failed'],
      ['bad', 2, 'failed'],
      ['good', 1, 'passed'],
      ['good', 2, 'passed'],
    ]);
    const data = readPage(await workspace.read('mcp-eval-report/report.html'));
    expect(data.traces.map(({ messages }) => messages.flatMap(({ parts }) => parts.map(({ kind }) => kind)))).toEqual([
      ['call', 'result'],
      ['call', 'result'],
    ]);
    expect(data.traces.every(({ spans }) => spans.length > 0)).toBe(true);
  });

  it('has no traces without a full report', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': file });
    const { evidence } = await runEmbeddedGate(workspace, {}, { says: 'good' });
    expect([evidence?.iterations.length, evidence?.traces]).toEqual([4, []]);
  });
});
