import { describe, expect, it } from 'vitest';
import { hostIds } from '../../src/model/host-ids.ts';
import { emptyPolicyLayer, noGateRules } from '../../src/model/policy.ts';
import { readPolicy, readPolicyInput } from '../../src/suite/read-policy.ts';
import { readSuite } from '../../src/suite/read.ts';

const read = (text: string) => readPolicy(text, { file: 'policy.yaml' });
const listFindings = (text: string) =>
  read(text).findings.map(({ line, code, message }) => `${line} ${code}: ${message}`);

const whole = `minimumPassRate: 90%
tags: { smoke: 100% }
confidence: 95%
onInconclusive: warn
onNothingRun: pass
reportOnly: true
onStaleQuarantine: fail
retryFailed: 2
flaky: pass
budgets: { tokens: 2000, modelCalls: 40, cost: 0.5, wallTime: 5m, p95IterationTime: 1.5s, infrastructureErrors: 2 }
quarantine:
  - suite: everything
    case: sum
    owner: '@alice'
    reason: Flaky since May.
    expires: 2026-12-31
suites:
  everything:
    minimumPassRate: 99.5
    cases: { sum: 80% }
    required: [echo]
models: { anthropic/claude-haiku-4.5: 80% }
poolModels: true
recordings: { maximumAge: 14d }
judges: { minimumAgreement: 0.7, maximumAge: 30d }
confidenceOver: tasks
confidenceFamily: gate
`;

describe('readPolicy', () => {
  it('keeps the location of every rule', () => {
    const place = <T>(value: T, line: number) => ({ value, source: `policy.yaml:${line}` });
    expect(read(whole)).toEqual({
      findings: [],
      policy: {
        file: 'policy.yaml',
        gate: noGateRules,
        protect: null,
        common: {
          minimumPassRate: place(0.9, 1),
          tags: [{ name: 'smoke', ...place(1, 2) }],
          models: [{ name: 'anthropic/claude-haiku-4.5', ...place(0.8, 22) }],
          poolModels: place(true, 23),
          maximumRecordingAgeMs: place(14 * 24 * 3_600_000, 24),
          minimumJudgeAgreement: place(0.7, 25),
          maximumCalibrationAgeMs: place(30 * 24 * 3_600_000, 25),
          cases: [],
          required: [],
          confidence: place(0.95, 3),
          confidenceOver: place('tasks', 26),
          confidenceFamily: place('gate', 27),
          onInconclusive: place('warn', 4),
          onNothingRun: place('pass', 5),
          reportOnly: place(true, 6),
          quarantine: [],
          onStaleQuarantine: place('fail', 7),
          retryFailed: place(2, 8),
          flaky: place('pass', 9),
          budgets: {
            tokens: place(2000, 10),
            modelCalls: place(40, 10),
            cost: place(0.5, 10),
            wallTimeMs: place(300_000, 10),
            p95IterationMs: place(1500, 10),
            infrastructureErrors: place(2, 10),
          },
        },
        quarantine: [
          {
            suite: 'everything',
            case: 'sum',
            owner: '@alice',
            reason: 'Flaky since May.',
            expires: '2026-12-31',
            source: 'policy.yaml:12',
          },
        ],
        suites: [
          {
            name: 'everything',
            layer: {
              ...emptyPolicyLayer,
              minimumPassRate: place(0.995, 19),
              cases: [{ name: 'sum', ...place(0.8, 20) }],
              required: [{ name: 'echo', ...place(true, 21) }],
            },
          },
        ],
      },
    });
  });

  it.each([
    ['minimumPasRate: 90%', '1 unknown-key: Unknown key `minimumPasRate`; did you mean `minimumPassRate`?'],
    ['suites: { a: { requird: [b] } }', '1 unknown-key: Unknown key `requird`; did you mean `required`?'],
    ['budgets: { token: 1 }', '1 unknown-key: Unknown key `token`; did you mean `tokens`?'],
    ['retryFailed: 6', '1 out-of-range: `retryFailed` must be at most 5, not 6'],
    ['protect: [suite]', '1 unknown-value: `protect` item 1 cannot be "suite"; did you mean `suites`?'],
    ['maximumRegressions: -1', '1 out-of-range: `maximumRegressions` must be at least 0, not -1'],
    ['maximumRateDrop: 0.05', '1 bad-pass-rate: 0.05 could mean 0.05% or 5%; write the one you mean with its % sign'],
    ['probation: 101', '1 out-of-range: `probation` must be at most 100, not 101'],
    ['stopEarly: yes', '1 wrong-type: `stopEarly` must be true or false, not "yes"'],
    [
      'suites: { everything: { probation: 2 } }',
      '1 unknown-key: Unknown key `probation`; known here: `minimumPassRate`, `tags`, `models`, `poolModels`, `confidence`, `confidenceOver`, `confidenceFamily`, `onInconclusive`, `onNothingRun`, `reportOnly`, `onStaleQuarantine`, `retryFailed`, `flaky`, `budgets`, `recordings`, `judges`, `cases`, `required`, `quarantine`',
    ],
    ['flaky: retry', '1 unknown-value: `flaky` cannot be "retry"; known here: `fail`, `pass`, `report`'],
    [
      'cases: { a: 90% }',
      '1 unknown-key: Unknown key `cases`; known here: `$schema`, `maximumRegressions`, `maximumRateDrop`, `prices`, `currency`, `probation`, `stopEarly`, `surface`, `explore`, `behaviour`, `hosts`, `minimumCoverage`, `minimumPassRate`, `tags`, `models`, `poolModels`, `confidence`, `confidenceOver`, `confidenceFamily`, `onInconclusive`, `onNothingRun`, `reportOnly`, `onStaleQuarantine`, `retryFailed`, `flaky`, `budgets`, `recordings`, `judges`, `quarantine`, `suites`, `protect`',
    ],
    ['tags: { smoke: 0.9 }', '1 bad-pass-rate: 0.9 could mean 0.9% or 90%; write the one you mean with its % sign'],
    [
      'confidence: 0.95',
      '1 bad-confidence: 0.95 is not a confidence; write a percentage from 50% to 99.9%, such as 95%',
    ],
    [
      'confidence: 100%',
      '1 bad-confidence: "100%" is not a confidence; write a percentage from 50% to 99.9%, such as 95%',
    ],
    [
      'quarantine: [{ suite: a, case: b, owner: c, reason: d, expires: 2026-02-30 }]',
      '1 bad-date: "2026-02-30" is not a day; write it as 2026-12-31',
    ],
    [
      'quarantine: [{ suite: a, case: b, reason: d, expires: 2026-02-28 }]',
      '1 missing-key: The key `owner` is missing',
    ],
    [
      'quarantine: [{ case: b, owner: c, reason: d, expires: 2026-02-28 }]',
      '1 missing-key: The key `suite` is missing',
    ],
    ['onInconclusive: pas', '1 unknown-value: `onInconclusive` cannot be "pas"; did you mean `pass`?'],
    ['models: { haiku: 90% }', '1 bad-model: "haiku" is not a model; write `provider/name`'],
    ['models: { a/b: 0.9 }', '1 bad-pass-rate: 0.9 could mean 0.9% or 90%; write the one you mean with its % sign'],
    ['prices: { haiku: { input: 1, output: 5 } }', '1 bad-model: "haiku" is not a model; write `provider/name`'],
    ['prices: { a/b: { input: 1 } }', '1 missing-key: The key `output` is missing'],
    [
      'prices: { a/b: { input: 1, cacheWrite: -1, output: 5 } }',
      '1 out-of-range: `cacheWrite` must be at least 0, not -1',
    ],
    ['prices: { a/b: { input: -1, output: 5 } }', '1 out-of-range: `input` must be at least 0, not -1'],
    [
      'currency: dollars',
      '1 bad-currency: "dollars" is not the code of a currency; write three capital letters, such as USD',
    ],
    ['budgets: { modelCalls: 1.5 }', '1 wrong-type: `modelCalls` must be a whole number, not 1.5'],
    ['budgets: { cost: 5 USD }', '1 wrong-type: `cost` must be a number, not "5 USD"'],
    ['recordings: { maximumAge: 30 }', '1 bad-duration: 30 is not an age; write a number of days, such as 30d'],
    ['recordings: { maximumAge: 12h }', '1 bad-duration: "12h" is not an age; write a number of days, such as 30d'],
    ['recordings: { maximumAge: 0d }', '1 bad-duration: "0d" is out of range; an age is from 1d to 3650d'],
    ['judges: { minimumAgreement: 60% }', '1 wrong-type: `minimumAgreement` must be a number, not "60%"'],
    ['judges: { minimumAgreement: 60 }', '1 out-of-range: `minimumAgreement` must be at most 1, not 60'],
    ['judges: { maximumAge: 90 }', '1 bad-duration: 90 is not an age; write a number of days, such as 30d'],
    ['', '1 empty-file: The file is empty; write a policy or leave it out'],
  ])('says what is wrong with %j', (text, finding) => {
    expect(listFindings(text)).toEqual([finding]);
  });
});

describe('the policy of an evals file', () => {
  const readOwn = (policy: string) =>
    readSuite(`suite: a\npolicy: ${policy}\ncases: [{ title: b, steps: [{ toolCall: c }] }]`, { file: 'a.yaml' });

  it('has the same keys', () => {
    const { suite } = readOwn(
      '{ tags: { x: 50% }, quarantine: [{ case: b, owner: o, reason: r, expires: 2026-01-01 }] }',
    );
    expect(suite?.policy).toMatchObject({
      tags: [{ name: 'x', value: 0.5, source: 'a.yaml:2' }],
      quarantine: [{ case: 'b', source: 'a.yaml:2' }],
    });
  });

  it('names no other suites', () => {
    expect(readOwn('{ suites: {} }').findings).toMatchObject([{ code: 'unknown-key', line: 2 }]);
  });
});

describe('readPolicy of rules about the gate', () => {
  it('keeps where each is stated, and leaves out those that are not', () => {
    const prices = 'prices:\n  a/b: { input: 1, cachedInput: 0.1, output: 5 }\n  c/d: { input: 2, output: 6 }\n';
    const rules = 'probation: 5\nstopEarly: true\nmaximumRegressions: 2\nmaximumRateDrop: 5%\n';
    const text = `${rules}${prices}currency: EUR\n`;
    expect(read(text).policy?.gate).toEqual({
      behaviour: { broken: null, changed: null, fixed: null, lost: null, slower: null, accept: [] },
      explore: { error: null, warning: null, note: null, waivers: [] },
      hosts: Object.fromEntries(hostIds.map((id) => [id, null])),
      maximumRegressions: { value: 2, source: 'policy.yaml:3' },
      maximumRateDrop: { value: 0.05, source: 'policy.yaml:4' },
      // Without a price of its own, a cached token costs what any other does.
      prices: [
        { name: 'a/b', value: { input: 1, cachedInput: 0.1, output: 5 }, source: 'policy.yaml:6' },
        { name: 'c/d', value: { input: 2, cachedInput: 2, output: 6 }, source: 'policy.yaml:7' },
      ],
      currency: { value: 'EUR', source: 'policy.yaml:8' },
      probation: { value: 5, source: 'policy.yaml:1' },
      stopEarly: { value: true, source: 'policy.yaml:2' },
      surface: noGateRules.surface,
      minimumCoverage: [],
    });
    expect(read('flaky: pass').policy?.gate).toEqual(noGateRules);
  });
});

describe('readPolicyInput', () => {
  it('reads an object as the file with the same content, and names keys instead of lines', () => {
    const entry = { suite: 'everything', case: 'sum', owner: 'us', reason: 'flaky', expires: '2026-12-31' };
    const { policy, issues } = readPolicyInput({
      retryFailed: 2,
      probation: 3,
      quarantine: [entry],
      suites: { everything: { minimumPassRate: '95%' } },
    });
    expect(issues).toEqual([]);
    expect(policy).toMatchObject({
      file: 'policy',
      gate: { probation: { value: 3, source: 'policy.probation' } },
      common: { retryFailed: { value: 2, source: 'policy.retryFailed' } },
      quarantine: [{ ...entry, source: 'policy.quarantine.0' }],
      suites: [{ layer: { minimumPassRate: { value: 0.95, source: 'policy.suites.everything.minimumPassRate' } } }],
    });
  });

  it('reports every mistake under its key', () => {
    const { policy, issues } = readPolicyInput({ retryFailed: 6, minimumPassRate: 'all', flaky: 'pass' });
    expect(policy).toBeNull();
    expect(issues.map(({ input, code }) => `${input}: ${code}`).toSorted()).toEqual([
      'policy.minimumPassRate: bad-pass-rate',
      'policy.retryFailed: out-of-range',
    ]);
  });

  it('rejects what JSON cannot hold', () => {
    const suites: Record<string, object> = {};
    suites['itself'] = suites;
    expect(readPolicyInput({ suites }).issues).toMatchObject([{ input: 'policy', code: 'bad-policy' }]);
  });
});
