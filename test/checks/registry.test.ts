import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fillCheckTables } from '../../scripts/check-tables.ts';
import { findRoleProblem, listNames } from '../../src/checks/assertion.ts';
import { defineCheck } from '../../src/checks/define-check.ts';
import { defineElementCheck, judgeElement } from '../../src/checks/elements.ts';
import { createCheckJudge } from '../../src/checks/judge-check.ts';
import { decide } from '../../src/checks/judgement.ts';
import { createRegistry } from '../../src/checks/registry.ts';
import { createCheckContext } from '../../src/engine/judge-assertion.ts';
import { createAssertionForms } from '../../src/suite/assertion-schema.ts';
import { createDialects } from '../../src/suite/dialect.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';

/** Kinds of every shape, none of which the product has. */
const registry = createRegistry(
  [
    defineCheck({
      name: 'toolCalledTwice',
      docs: 'the tool was called twice',
      service: 'newer',
      requiresCall: true,
      schema: ({ toolName, count }) => ({ toolName, within: count.meta({ description: 'Among the first calls.' }) }),
      sample: { toolName: 'a', within: 2 },
      judge: ({ toolName, within }, { toolCalls }) => {
        const found = toolCalls.slice(0, within).filter((call) => call.toolName === toolName).length;
        return decide(found === 2, `${toolName} was called ${found} times, expected 2.`);
      },
      final: 'passed',
      trace: 'calls',
    }),
    defineCheck({
      name: 'noCallFailed',
      docs: 'no call failed',
      service: 'contract',
      schema: () => ({}),
      sample: {},
      judge: (_, { toolResults }) => decide(!toolResults.some(({ isError }) => isError), 'a call failed.'),
      final: 'failed',
    }),
    defineCheck({
      name: 'noShouting',
      docs: 'the final message is not in capitals',
      weight: 'heuristic',
      schema: () => ({}),
      sample: { role: 'advisory' },
      judge: (_, { finalAssistantMessage: message }) => decide(message !== message.toUpperCase(), 'it shouts.'),
      final: 'none',
    }),
    defineCheck({
      name: 'answeredAs',
      docs: 'the final message is this text',
      schema: ({ text, part }) => ({ expected: part({ text }) }),
      shortForm: {
        fields: ({ text }) => ({ answeredAs: text }),
        expand: ({ answeredAs, ...others }) => ({ expected: { text: answeredAs }, ...others }),
        shorten: ({ expected, ...others }) => ({ answeredAs: Object(expected).text, ...others }),
      },
      sample: { expected: { text: 'a' } },
      judge: ({ expected }, { finalAssistantMessage }) => decide(finalAssistantMessage === expected.text, 'as said.'),
      final: 'none',
      expectError: (_, isNegated) => (isNegated ? null : { of: 'tool', toolName: undefined, mayBeMissing: false }),
    }),
  ],
  [
    defineElementCheck({
      kind: 'elementFocused',
      docs: 'this element has the focus',
      fields: ({ target }) => ({ target }),
      sample: { target: { css: 'b' } },
      judge: async ({ target }, app) => ((await app.find(target)).length > 0 ? null : 'nothing has the focus'),
    }),
  ],
);

const forms = createAssertionForms(registry);
const context = createCheckContext();
const judgeCheck = createCheckJudge(registry);
const judge = async (check: unknown, evidence = createEvidence()) => await judgeCheck(check, evidence, context);

describe('a kind that is defined', () => {
  it.each([
    ['noCallFailed', { type: 'noCallFailed' }],
    [
      { toolCalledTwice: 3, toolName: 'a' },
      { type: 'toolCalledTwice', within: 3, toolName: 'a' },
    ],
    [
      { type: 'toolCalledTwice', toolName: 'a', within: 3 },
      { type: 'toolCalledTwice', within: 3, toolName: 'a' },
    ],
    [
      { type: 'noShouting', role: 'advisory' },
      { type: 'noShouting', role: 'advisory' },
    ],
    [
      { answeredAs: 'x', role: 'advisory' },
      { type: 'answeredAs', expected: { text: 'x' }, role: 'advisory' },
    ],
    [{ not: 'noCallFailed' }, { type: 'not', assertion: { type: 'noCallFailed' } }],
    [
      { elementFocused: { css: 'c' }, toolName: 'a' },
      { kind: 'elementFocused', toolName: 'a', target: { css: 'c' } },
    ],
  ])('has a form in the file: %j', (written, meant) => {
    expect(forms.assertion.safeParse(written).error).toBeUndefined();
    expect(forms.parseAssertion(written)).toEqual(meant);
    expect(forms.parseAssertion(forms.shorten(meant))).toEqual(meant);
  });

  it('is written as briefly as it can be', () => {
    expect(forms.shorten({ type: 'answeredAs', expected: { text: 'x' } })).toEqual({ answeredAs: 'x' });
    expect(forms.shorten({ type: 'noCallFailed' })).toBe('noCallFailed');
  });

  it.each([['noShouting'], ['toolCalledTwice'], [{ type: 'noCallFailed', other: 1 }], ['noToolErrors']])(
    'refuses in the file what it cannot be: %j',
    (written) => {
      expect(forms.assertion.safeParse(written).success).toBe(false);
    },
  );

  it.each([{ type: 'noSuchCheck' }, { not: { type: 'noSuchCheck' } }, { noSuchCheck: 1 }, 7])(
    'refuses with a ZodError to parse what no file may say: %j',
    (written) => {
      expect(() => forms.parseCheck(written)).toThrow(z.ZodError);
      expect(() => forms.parseAssertion(written)).toThrow(z.ZodError);
    },
  );

  it('is in the JSON Schema for editors, in each of its forms and with the words of its fields', () => {
    const schema = JSON.stringify(z.toJSONSchema(forms.assertion, { io: 'input', unrepresentable: 'any' }));
    for (const id of ['toolCalledTwice', 'short-toolCalledTwice', 'noShouting', 'answeredAs', 'short-answeredAs']) {
      expect(schema).toContain(`"#/$defs/${id}"`);
    }
    expect(schema).toContain('"enum":["noCallFailed","noShouting"]');
    expect(schema).toContain('"Among the first calls."');
    expect(schema).toContain('"elementFocused"');
  });

  it('has its row in the tables of the docs', () => {
    const rows = [...registry.checks.map(({ type }) => type), 'not', 'anyOf', 'allOf', 'elementFocused'];
    const page = ['', '| Assertion | Passes when |', '| - | - |', ...rows.map((name) => `| \`${name}\` | |`), ''];
    const filled = fillCheckTables(page.join('\n'), registry);
    expect(filled).toMatch(/^\| `toolCalledTwice` +\| the tool was called twice +\|$/m);
    expect(filled).toMatch(/^\| `elementFocused` +\| this element has the focus +\|$/m);
    expect(() => fillCheckTables(page.toSpliced(4, 1).join('\n'), registry)).toThrow(/noCallFailed/);
  });

  it('is sent to the services that know it', () => {
    const { contract, newerContract, untracedChecks } = createDialects(registry);
    expect([...contract.knownChecks]).toEqual(['noCallFailed']);
    expect([...newerContract.knownChecks]).toEqual(['toolCalledTwice', 'noCallFailed']);
    expect([...untracedChecks]).toEqual([]);
  });

  it('is judged, in words of its own', async () => {
    const call = { toolName: 'a', arguments: {} };
    const once = createEvidence({ toolCalls: [call] });
    const check = { type: 'toolCalledTwice', toolName: 'a', within: 2 };
    expect(await judge(check, once)).toEqual({
      state: 'failed',
      reason: 'toolCalledTwice: a was called 1 times, expected 2.',
    });
    expect(await judge({ type: 'not', assertion: check }, once)).toMatchObject({ state: 'passed' });
    expect(await judge({ type: 'toolCalledTwice', toolName: 'a' })).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('the predicate is malformed: within:'),
    });
    expect(await judge({ type: 'noToolErrors' })).toMatchObject({
      reason: 'unknown predicate type "noToolErrors": nothing can be judged by it.',
    });
  });

  it('decides of a cut transcript what no continuation changes', async () => {
    const call = { toolName: 'a', arguments: {} };
    const check = { type: 'toolCalledTwice', toolName: 'a', within: 2 };
    const cut = { cutReason: 'A recording went stale.' };
    expect(await judge(check, createEvidence(cut))).toMatchObject({ state: 'unmeasured' });
    expect(await judge(check, createEvidence({ ...cut, toolCalls: [call, call] }))).toMatchObject({ state: 'passed' });
  });

  it('says what it needs of a trace and which error it expects', () => {
    const read = registry.find('toolCalledTwice')?.read({ type: 'toolCalledTwice', toolName: 'a', within: 2 });
    expect(read).toMatchObject({ trace: 'calls' });
    const expecting = registry.find('answeredAs')?.read({ type: 'answeredAs', expected: { text: 'a' } });
    if (expecting === undefined || 'problem' in expecting) throw new Error('It cannot be read.');
    expect([expecting.expectError(false)?.of, expecting.expectError(true)]).toEqual(['tool', null]);
  });

  it('may not gate where it is a heuristic', async () => {
    expect(findRoleProblem({ type: 'noShouting' }, registry)?.field).toBe('role');
    expect(await judge({ type: 'noShouting' })).toMatchObject({ state: 'failed', failsClosed: 'malformed' });
    expect(await judge({ type: 'noShouting', role: 'advisory' })).toMatchObject({
      state: 'failed',
      reason: 'noShouting: it shouts.',
    });
    expect(await judge({ type: 'not', assertion: { type: 'noShouting' } })).toMatchObject({ failsClosed: 'malformed' });
  });

  it('is judged on the elements of an app', async () => {
    const app = { toolCalls: [], find: async () => [], readText: async () => '' };
    const check = { kind: 'elementFocused', toolName: 'a', target: { css: 'b' } };
    expect(await judgeElement(check, app, registry.elements)).toBe('nothing has the focus');
  });

  it('has one name', () => {
    expect(listNames(registry)).toEqual([
      'toolCalledTwice',
      'noCallFailed',
      'noShouting',
      'answeredAs',
      'not',
      'anyOf',
      'allOf',
      'elementFocused',
    ]);
  });
});
