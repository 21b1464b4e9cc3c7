import { describe, expect, it } from 'vitest';
import type { CaseContent } from '../../../src/service/bodies/case-body.ts';
import type { SuiteContent } from '../src/bodies/stored-suite.ts';
import { planRunCases, type RunCasesOptions } from '../src/plan-run-cases.ts';
import type { ServerRecord } from '../src/store/server-store.ts';
import { assertStep, callStep } from '../../../test/support/factories/case-factory.ts';

const suite: SuiteContent = {
  name: 'S',
  description: null,
  serverIds: ['srv_a'],
  model: null,
  minimumAccuracy: null,
  minimumIterations: null,
  matchOptions: null,
  checks: [],
};

function server(id: string, name: string): ServerRecord {
  const content = { name, enabled: true, transportType: 'http' as const, url: 'http://127.0.0.1/mcp' };
  return { id, projectId: 'p', content, createdAt: 0, updatedAt: 0 };
}

function expand(content: Partial<CaseContent>, options: Partial<RunCasesOptions> = {}) {
  const steps = [callStep('echo')];
  const record = {
    id: 'case_1',
    suiteId: 'ste_1',
    declaredId: 'c_1',
    content: { title: 'A case', steps, iterations: 1, isNegative: false, models: [], ...content },
    createdAt: 0,
    updatedAt: 0,
  };
  const [planned] = planRunCases([record], {
    suite,
    servers: [server('srv_a', 'alpha')],
    iterationOverride: undefined,
    matchOptionsOverride: undefined,
    iterationTimeoutMs: 600_000,
    llmCallsPerRun: 300,
    defaultModel: null,
    findModelProblem: () => null,
    ...options,
  });
  return planned!;
}

describe('match options', () => {
  it('are layered field by field: defaults, suite, case, run', () => {
    const planned = expand(
      { matchOptions: { extraToolCalls: 2, arguments: 'ignore' } },
      {
        suite: { ...suite, matchOptions: { toolCallOrder: 'exact', extraToolCalls: 1 } },
        matchOptionsOverride: { arguments: 'exact' },
      },
    );
    expect(planned.testCase.matchOptions).toEqual({
      toolCallOrder: 'strict',
      maxExtraToolCalls: 2,
      argumentMatching: 'exact',
    });
  });

  it('are the defaults where nothing is set', () => {
    expect(expand({}).testCase.matchOptions).toEqual({
      toolCallOrder: 'ignore',
      maxExtraToolCalls: null,
      argumentMatching: 'partial',
    });
  });
});

describe('checks', () => {
  const ofSuite = { ...suite, checks: [{ type: 'noToolErrors' as const }] };
  const own = [{ type: 'toolNeverCalled' as const, toolName: 'x' }];

  it.each([
    ['none', undefined, ['noToolErrors']],
    ['inherit', { mode: 'inherit' as const, list: own }, ['noToolErrors']],
    ['replace', { mode: 'replace' as const, list: own }, ['toolNeverCalled']],
    ['replace with nothing', { mode: 'replace' as const, list: [] }, []],
    ['extend', { mode: 'extend' as const, list: own }, ['noToolErrors', 'toolNeverCalled']],
  ])('of a case with %s are resolved before the engine sees them', (_mode, checks, types) => {
    const planned = expand(checks === undefined ? {} : { checks }, { suite: ofSuite });
    expect(planned.testCase.predicates?.mode).toBe('replace');
    expect(planned.testCase.predicates?.list.map(({ type }) => type)).toEqual(types);
  });
});

describe('a case of one tool call', () => {
  it('and nothing else must render a widget, as in the hosted service', () => {
    expect(expand({ steps: [callStep('echo')] }).testCase.steps).toEqual([
      { ...callStep('echo'), serverName: 'alpha' },
      {
        id: 'echo-implicit-widget-rendered',
        kind: 'assert',
        assertion: { type: 'widgetRendered', toolName: 'echo' },
      },
    ]);
  });

  it.each([
    ['an assertion', [callStep('echo'), assertStep({ type: 'noToolErrors' })]],
    ['another call', [callStep('echo'), callStep('echo')]],
  ])('and %s stays as it is', (_what, steps) => {
    const ofServer = steps.map((step) => (step.kind === 'toolCall' ? { ...step, serverName: 'alpha' } : step));
    expect(expand({ steps }).testCase.steps).toEqual(ofServer);
  });
});

describe('the model of a case with a prompt', () => {
  const steps = [{ id: 'p', kind: 'prompt' as const, prompt: 'Hello.' }];
  const defaultModel = { provider: 'scripted', name: 'standard' };

  it.each([
    ['its own', { models: [{ model: 'scripted/own' }] }, 'scripted/suite', 'own'],
    ['its suite’s', {}, 'scripted/suite', 'suite'],
    ['the service’s where neither names one', {}, null, 'standard'],
  ])('is %s', (_whose, content, model, expected) => {
    const planned = expand({ steps, ...content }, { suite: { ...suite, model }, defaultModel });
    expect(planned.model?.name).toBe(expected);
  });

  it('is required', () => {
    expect(() => expand({ steps }, { suite: { ...suite, model: null } })).toThrow(
      'Case "A case" asks a model and names none, and neither does its suite.',
    );
  });

  it('is none for a case without prompts', () => {
    expect(expand({}, { defaultModel }).model).toBeNull();
  });
});

describe('the time of an iteration', () => {
  it.each([
    [undefined, 600_000],
    [1000, 1000],
    [600_000, 600_000],
  ])('that asks for %s ms is %d ms', (timeoutMs, expected) => {
    const planned = expand({ advancedConfig: timeoutMs === undefined ? {} : { timeoutMs } });
    expect(planned.testCase.advancedConfig?.timeoutMs).toBe(expected);
  });
});

describe('the time of an iteration beyond the limit of the service', () => {
  it('is refused, not cut', () => {
    expect(() => expand({ advancedConfig: { timeoutMs: 900_000 } })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message:
          'Case "A case" asks for 15 min per iteration (advancedConfig.timeoutMs); this service allows at most 10 min.',
      }),
    );
  });
});

describe('the server of a case', () => {
  const servers = [server('srv_a', 'alpha'), server('srv_b', 'beta')] as const;
  const call = (fields: object) => ({ ...callStep('echo'), ...fields });

  it.each([
    ['nobody', {}, 'srv_a'],
    ['a name', { serverName: 'beta' }, 'srv_b'],
    ['an id, which wins over the name', { serverName: 'alpha', serverId: 'srv_b' }, 'srv_b'],
  ])('is found by %s', (_what, fields, id) => {
    expect(expand({ steps: [call(fields)] }, { servers: [...servers] }).servers[0].id).toBe(id);
  });

  it('is found by what the run calls it, before another whose record is called so', () => {
    const steps = [call({ serverName: 'alpha' })];
    const planned = expand({ steps }, { servers: [servers[0], { ...servers[1], alias: 'alpha' }] });
    expect(planned.servers[0].id).toBe('srv_b');
    // The engine knows servers by what the run calls them.
    expect(planned.testCase.steps[0]).toEqual(call({ serverName: 'alpha' }));
  });

  it('is each that a step names, in the order of the run', () => {
    const steps = [call({ serverName: 'beta' }), call({ serverName: 'alpha' })];
    const planned = expand({ steps }, { servers: [...servers] });
    expect(planned.servers.map(({ id }) => id)).toEqual(['srv_a', 'srv_b']);
  });

  it('is every one of the run where the case has a prompt', () => {
    const steps = [call({ serverName: 'beta' }), { id: 'p', kind: 'prompt' as const, prompt: 'Hello' }];
    const models = [{ model: 'anthropic/claude-haiku-4.5' }];
    const planned = expand({ steps, models }, { servers: [...servers] });
    expect(planned.servers.map(({ id }) => id)).toEqual(['srv_a', 'srv_b']);
  });
});
