import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { TestCase } from '../../src/cases/case.ts';
import { countByTool } from '../../src/mutate/count-changes.ts';
import { measureStrength } from '../../src/mutate/measure-strength.ts';
import { observeCases } from '../../src/mutate/observe-cases.ts';
import { renderStrength } from '../../src/mutate/render-strength.ts';
import { printStrengthJson } from '../../src/mutate/strength-json.ts';
import { renderStrengthPage } from '../../src/mutate/strength-page.ts';
import { suggestReadings } from '../../src/mutate/suggest-readings.ts';
import { createCaseRecorder } from '../../src/mutate/taped-case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let count = 0;
let notes: string[] = [];
let workspace = '';

const notesResult = () => ({
  ...text('ok'),
  structuredContent: { notes: notes.map((name, id) => ({ id, name })), total: notes.length },
});

const noteResult = () => ({ ...text('ok'), structuredContent: { name: 'milk' } });

beforeAll(async () => {
  server = await startFixtureMcpServer({
    list_notes: { call: notesResult },
    delete_note: {
      call: ({ args }) => {
        notes = notes.filter((name) => name !== args['name']);
        return text('deleted');
      },
    },
    place: {
      call: () => {
        const path = `${workspace}/notes.txt`;
        return { ...text(`Wrote 3 notes to ${path}`), structuredContent: { path, id: `n${(count += 1)} in ${path}` } };
      },
    },
    stamp: { call: () => text(`moment ${(count += 1)}`) },
    open_note: { call: noteResult, outputSchema: { type: 'object', properties: { name: { type: 'string' } } } },
    closed_note: {
      call: noteResult,
      outputSchema: { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false },
    },
    strict: {
      inputSchema: { type: 'object', properties: { note: { type: 'object', properties: { colour: {} } } } },
      call: () => ({ ...text('colour is required, and nothing else is'), isError: true }),
    },
    large: { call: () => text('x'.repeat(2 * 1024 * 1024)) },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function observe(cases: readonly TestCase[]) {
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  const run = async (path: string) => {
    workspace = path;
    const recorder = createCaseRecorder();
    for (const testCase of cases) {
      notes = ['apple', 'bread', 'milk'];
      await recorder.runCase(testCase, target, {
        clock: systemClock,
        timeoutMs: 30_000,
        facts: { iteration: 1, uuid: '', variables: new Map(), workspace },
      });
    }
    return recorder.list();
  };
  return await observeCases(await run('/tmp/work-41-Qa7'), await run('/tmp/work-42-x9B'));
}

const list = callStep('list_notes');
const total = assertStep({ type: 'toolResultEquals', value: 3, path: '/total' });
const isWhole = assertStep({
  type: 'toolResultEquals',
  value: { notes: ['apple', 'bread', 'milk'].map((name, id) => ({ id, name })), total: 3 },
});

describe('the strength of evals', () => {
  it('counts at most three changes of a tool and a class, and gives the same result for the same tapes', async () => {
    const observed = await observe([createCase([list, total], { title: 'Counts notes' })]);
    const strength = await measureStrength(observed);
    const groups = Map.groupBy(strength.changes, (change) => `${change.isHarmful} ${change.faultClass}`);
    for (const [, changes] of groups) expect(changes.length).toBeLessThanOrEqual(3);
    const print = (each: typeof strength) => printStrengthJson(each, { suggestions: [], readings: [] });
    expect(print(await measureStrength(observed))).toBe(print(strength));
    expect(strength.harmful.noticed).toBeGreaterThan(0);
    expect(strength.harmful.noticed).toBeLessThan(strength.harmful.of);
  });

  it('is higher for a check of the whole answer, which fails without need', async () => {
    const part = await measureStrength(await observe([createCase([list, total])]));
    const whole = await measureStrength(await observe([createCase([list, isWhole])]));
    expect(whole.harmful.of).toBe(part.harmful.of);
    expect(whole.harmful.noticed).toBeGreaterThan(part.harmful.noticed);
    expect(part.harmless.tolerated).toBe(part.harmless.of);
    expect(whole.harmless.tolerated).toBeLessThan(whole.harmless.of);
    expect(renderStrength(whole)).toContain('`A case` fails when the server adds a field');
    expect(renderStrength(part)).not.toContain('fails when');
    const { noticed, of } = countByTool(whole.changes).find(({ name }) => name === 'tool list_notes')?.harmful ?? {};
    expect(renderStrength(whole)).toMatch(new RegExp(`^  tool list_notes +${noticed} of ${of} `, 'm'));
    const page = renderStrengthPage(whole, ['notes.evals.yaml:5 <A case>']);
    expect(page).toContain(`<td>tool list_notes</td><td>${noticed} of ${of}</td>`);
    expect(page).toContain('<li>`A case` fails when the server adds a field');
    expect(page).toContain('<pre>notes.evals.yaml:5 &lt;A case&gt;</pre>');
    expect(renderStrengthPage(part, [])).not.toContain('no user suffers');
  });

  it('adds no field that the output schema of the tool forbids', async () => {
    const cases = ['open_note', 'closed_note'].map((tool) => createCase([callStep(tool)], { title: tool }));
    const { changes } = await measureStrength(await observe(cases));
    const added = changes.filter(({ operator }) => operator === 'add-field');
    expect(added.map(({ subject, outcome }) => [subject, outcome])).toEqual([['open_note', 'unnoticed']]);
  });

  it('keeps the name of an argument in another error', async () => {
    const checks = ['colour', 'nothing else'].map((contains) =>
      createCase([callStep('strict'), assertStep({ type: 'toolError', error: { contains } })], { title: contains }),
    );
    const { changes } = await measureStrength(await observe(checks));
    const reworded = changes.find(({ operator }) => operator === 'reword-error');
    expect(reworded?.failed.map(({ title }) => title)).toEqual(['nothing else']);
  });

  it('applies a change to every case that got the same answer to the same request', async () => {
    const strength = await measureStrength(
      await observe([
        createCase([list, total], { title: 'Counts notes' }),
        createCase([list], { title: 'Lists notes' }),
      ]),
    );
    // That a tool is gone says nothing about the checks of a case.
    const ofAnswers = strength.changes.filter(({ of, isHarmful }) => of === 'answer' && isHarmful);
    const [counts, lists] = strength.cases;
    expect(lists).toMatchObject({ title: 'Lists notes', of: ofAnswers.length });
    const noticed = ofAnswers.filter(({ outcome }) => outcome === 'noticed').length;
    expect(counts).toMatchObject({ title: 'Counts notes', noticed });
    const text = renderStrength(strength);
    // An error of the call fails each case, so that none is idle.
    expect(text).not.toContain('These cases notice nothing');
  });

  it('says that an effect can be lost if nothing is read afterwards, and not if it is', async () => {
    const remove = callStep('delete_note', { name: 'milk' });
    const left = assertStep({ type: 'toolResultEquals', value: 2, path: '/total' });
    const observed = await observe([createCase([remove])]);
    const blind = await measureStrength(observed);
    expect(suggestReadings(blind, observed)).toMatchObject([{ stepIndex: 0, step: { toolCall: 'list_notes' } }]);
    expect(renderStrength(blind)).toContain(
      '`delete_note` could say that it worked and do nothing: no case reads afterwards  [A case]',
    );
    const both = await observe([createCase([list, remove, list, left])]);
    const reading = await measureStrength(both);
    expect(suggestReadings(reading, both)).toEqual([]);
    const lost = reading.changes.filter(({ operator }) => operator === 'lose-effect');
    expect(lost.map(({ outcome }) => outcome)).toEqual(['noticed']);
  });

  it('leaves out what changes by itself', async () => {
    const strength = await measureStrength(await observe([createCase([callStep('stamp')])]));
    const others = strength.changes.filter(({ what }) => what === 'answers with another time or id');
    expect(others.map(({ outcome }) => outcome)).toEqual(['unnoticed']);
    expect(strength.changes.filter(({ operator }) => operator === 'change-answer')).toHaveLength(1);
  });

  it('changes no path of the workspace, which is another one in each run', async () => {
    const { changes } = await measureStrength(await observe([createCase([callStep('place')])]));
    const harmless = changes.filter(({ isHarmful }) => !isHarmful);
    const volatile = harmless.filter(({ operator }) => /^other-(?:volatile|moment)$/.test(operator));
    expect(volatile.map(({ at }) => at)).toEqual(['/id']);
    const [answer] = volatile[0]?.answers[0]?.answers.values() ?? [];
    expect(JSON.stringify(answer)).toContain('in /tmp/work-41-Qa7/notes.txt');
  });

  it('names the cases that notice nothing first, and says what is not measured', async () => {
    const lenient = { advancedConfig: { failOnToolError: false } };
    const strength = await measureStrength(
      await observe([
        createCase([list, total], { title: 'Counts notes' }),
        createCase([callStep('stamp')], { title: 'Stamps', ...lenient }),
        createCase([callStep('large')], { title: 'Reads a large file' }),
        createCase([list, assertStep({ type: 'toolResultEquals', value: 4, path: '/total' })], { title: 'Fails' }),
      ]),
    );
    const text = renderStrength(strength);
    expect(text).toMatch(
      /^Your evals notice \d+ of \d+ harmful changes \(\d+ %\) and stay green under \d+ of \d+ harm/,
    );
    expect(text).toMatch(/These cases notice nothing:\n {2}Stamps \(0 of \d+\)\n/);
    expect(text).toContain('`Reads a large file`: an answer of 2.0 MiB is above the limit of 1 MiB\n');
    expect(text).toContain('`Fails`: it did not pass\n');
  });
});
