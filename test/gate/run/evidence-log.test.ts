import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { createEvidenceCollector, keepTrace } from '../../../src/gate/run/evidence-log.ts';
import { maxIterationMarks, maxTraces } from '../../../src/model/evidence.ts';
import { runEmbeddedGate, writeSayingCases } from '../../support/gate/embedded-gate.ts';
import { readPage } from '../../support/text/html-tree.ts';
import { type ModelUsage, noModelUsage } from '../../../src/model/usage.ts';
import { createIteration } from '../../support/factories/suite-factory.ts';
import { createCallMessages, createCallSpan } from '../../support/factories/trace-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

const trace = { messages: createCallMessages('call-1') };

describe('createEvidenceCollector', () => {
  it('keeps an iteration as it was last read', () => {
    const collector = createEvidenceCollector(createRedactor(), { traces: 'none' });
    collector.addIteration('math', createIteration(), { caseId: 'adds', outcome: 'passed' });
    collector.addIteration('math', createIteration(), { caseId: 'adds', outcome: 'unscored' });
    expect(collector.collect().iterations).toEqual([
      {
        suiteId: 'math',
        caseId: 'adds',
        iterationId: 'it_1',
        iterationNumber: 1,
        outcome: 'unscored',
        durationMs: 100,
        isReplayed: null,
      },
    ]);
  });

  it('says of an iteration whether a recording answered, where a model took part', () => {
    const collector = createEvidenceCollector(createRedactor(), { traces: 'whole' });
    const add = (id: string, usage: ModelUsage | null) =>
      collector.addIteration('math', createIteration({ id, usage }), { caseId: 'adds', outcome: 'passed' });
    add('live', { ...noModelUsage, modelCalls: 2 });
    add('mixed', { ...noModelUsage, modelCalls: 1, replayedCalls: 1 });
    add('none', noModelUsage);
    expect(collector.collect().iterations.map(({ iterationId, isReplayed }) => [iterationId, isReplayed])).toEqual([
      ['live', false],
      ['mixed', true],
      ['none', null],
    ]);
  });

  it('keeps so many iterations and traces, and no more', async () => {
    const collector = createEvidenceCollector(createRedactor(), { traces: 'whole' });
    for (let index = 0; index < maxIterationMarks + 10; index += 1) {
      collector.addIteration('math', createIteration({ id: `it_${index}` }), { caseId: 'adds', outcome: 'failed' });
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
    const plain = createEvidenceCollector(createRedactor(), { traces: 'none' });
    await plain.addTrace('math', 'it_1', trace);
    const full = createEvidenceCollector(createRedactor(), { traces: 'whole' });
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
      evidence?.iterations.map(({ caseId, iterationNumber, outcome }) => [caseId, iterationNumber, outcome]).toSorted(),
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

  it('has of a full report what the server wrote during a failed case, of a page the times alone, and else nothing', async () => {
    const noisy = `import { createInterface } from 'node:readline';
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, method, params } = JSON.parse(line);
        if (method === 'tools/call') console.error('asked for ' + params.name);
        const result = { initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
          'tools/list': { tools: [{ name: 'argv', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: '["good"]' }] } }[method];
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: result ?? {} }));
      }`;
    await using workspace = await createWorkspace({ 'a.evals.yaml': file, 'server.mjs': noisy });
    const inputs = { 'server-command': `${process.execPath} server.mjs`, isolation: 'iteration' };
    const { evidence } = await runEmbeddedGate(workspace, { ...inputs, 'report-formats': 'html, iterations' });
    expect(evidence?.traces.map(({ output }) => output.map(({ text }) => text))).toEqual([
      ['asked for argv'],
      ['asked for argv'],
    ]);
    expect(evidence?.definitions.map(({ text }) => text.split('\n')[0])).toEqual(['id: good', 'id: bad']);
    const timed = await runEmbeddedGate(workspace, inputs);
    expect(
      timed.evidence?.traces.map(({ spans, messages, output }) => [spans.length > 0, messages.length, output.length]),
    ).toEqual([
      [true, 0, 0],
      [true, 0, 0],
    ]);
    const none = await runEmbeddedGate(workspace, { ...inputs, 'report-formats': 'none' });
    expect([none.evidence?.iterations.length, none.evidence?.traces]).toEqual([4, []]);
  });
});

const redactor = createRedactor([new Secret('hunter2-hunter2')]);

describe('keepTrace', () => {
  it('makes messages and spans readable', () => {
    const trace = {
      messages: [
        { role: 'user', content: 'What is 2 and 3?' },
        ...createCallMessages('call-1', { text: 'The sum is 5.' }),
        ...createCallMessages('call-2', { output: { type: 'error-text', value: 'No such tool.' } }),
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Five.' },
            { type: 'reasoning', text: 'Hm.' },
          ],
        },
      ],
      spans: [
        createCallSpan('call-2', { startMs: 1100, endMs: 1130, status: 'error' }),
        createCallSpan('call-1'),
        createCallSpan('call-1', { category: 'step', name: 'ask', endMs: 1200 }),
      ],
    };
    expect(keepTrace(trace, redactor)).toEqual({
      messages: [
        { role: 'user', parts: [{ kind: 'text', toolName: null, text: 'What is 2 and 3?' }] },
        { role: 'assistant', parts: [{ kind: 'call', toolName: 'get-sum', text: '{}' }] },
        { role: 'tool', parts: [{ kind: 'result', toolName: 'get-sum', text: 'The sum is 5.' }] },
        { role: 'assistant', parts: [{ kind: 'call', toolName: 'get-sum', text: '{}' }] },
        { role: 'tool', parts: [{ kind: 'error', toolName: 'get-sum', text: 'No such tool.' }] },
        {
          role: 'assistant',
          parts: [
            { kind: 'text', toolName: null, text: 'Five.' },
            { kind: 'text', toolName: null, text: '{\n  "type": "reasoning",\n  "text": "Hm."\n}' },
          ],
        },
      ],
      spans: [
        { name: 'ask', category: 'step', startMs: 0, durationMs: 200, isError: false },
        { name: 'tool', category: 'tool', startMs: 0, durationMs: 40, isError: false },
        { name: 'tool', category: 'tool', startMs: 100, durationMs: 30, isError: true },
      ],
      spansLeftOut: 0,
      output: [],
    });
  });

  it('places what the server wrote in the time of the first span', () => {
    const serverOutput = [
      { atMs: 990, text: 'ready' },
      { atMs: 1010, text: 'the key is hunter2-hunter2' },
      { atMs: 'now', text: 'x' },
      7,
    ];
    const traced = { messages: createCallMessages('call-1'), spans: [createCallSpan('call-1')] };
    expect(keepTrace({ ...traced, metadata: { serverOutput } }, redactor)?.output).toEqual([
      { startMs: -10, text: 'ready' },
      { startMs: 10, text: 'the key is ***' },
    ]);
  });

  it('knows a result that the server itself calls an error', () => {
    const output = { type: 'json', value: { isError: true, content: [{ type: 'text', text: 'No.' }] } };
    const kept = keepTrace({ messages: createCallMessages('call-1', { output }) }, redactor);
    expect(kept?.messages[1]?.parts).toEqual([{ kind: 'error', toolName: 'get-sum', text: 'No.' }]);
  });

  it.each([undefined, null, 'text', {}, { messages: 'none', spans: 7 }, { messages: [], spans: [{ name: 'x' }] }])(
    'keeps nothing of %j',
    (trace) => {
      expect(keepTrace(trace, redactor)).toBeNull();
    },
  );

  it('tolerates messages of which nothing is known', () => {
    expect(keepTrace({ messages: [{}, 7, { content: [{}] }] }, redactor)?.messages).toEqual([
      { role: 'unknown', parts: [] },
      { role: 'unknown', parts: [{ kind: 'text', toolName: null, text: '{}' }] },
    ]);
  });

  it('takes secrets out, before it cuts', () => {
    const trace = (text: string) => ({ messages: [{ role: 'user', content: text }] });
    expect(keepTrace(trace('It is hunter2-hunter2.'), redactor)?.messages[0]?.parts[0]?.text).toBe('It is ***.');
    for (let before = 7950; before < 8000; before += 1) {
      const kept = keepTrace(trace(`${'x'.repeat(before)}hunter2-hunter2${'x'.repeat(8000)}`), redactor);
      const text = kept?.messages[0]?.parts[0]?.text ?? '';
      expect(text).toMatch(/^x{7900}/);
      expect(text).not.toContain('hunt');
    }
  });

  it('keeps the beginning and the end of a long one, and says so', () => {
    const messages = Array.from({ length: 200 }, (_, index) => ({ role: 'user', content: `Message ${index}` }));
    const spans = Array.from({ length: 300 }, (_, index) => createCallSpan(`call-${index}`));
    const kept = keepTrace({ messages, spans }, redactor);
    expect(kept?.messages).toHaveLength(81);
    expect(kept?.messages[20]?.parts[0]?.text).toBe('120 messages are left out here.');
    expect(kept?.messages.at(-1)?.parts[0]?.text).toBe('Message 199');
    expect([kept?.spans.length, kept?.spansLeftOut]).toEqual([200, 100]);
  });

  it('stays within 128 KiB whatever there is', () => {
    const content = Array.from({ length: 50 }, () => ({ type: 'text', text: '"'.repeat(9000) }));
    const messages = Array.from({ length: 100 }, () => ({ role: 'x'.repeat(5000), content }));
    const spans = Array.from({ length: 300 }, () => createCallSpan('call', { name: 'y'.repeat(5000) }));
    expect(JSON.stringify(keepTrace({ messages, spans }, redactor)).length).toBeLessThanOrEqual(128 * 1024);
  });
});
