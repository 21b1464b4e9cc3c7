import { describe, expect, it } from 'vitest';
import type { Suite } from '../../src/cases/suite.ts';
import { contract } from '../../src/suite/dialect.ts';
import { expandHosts, expandRevisions } from '../../src/suite/build.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { hashDefinition } from '../../src/suite/definition-hash.ts';
import { readSuite } from '../../src/suite/read.ts';
import { findHostVersion } from '../hosts/find-host.ts';

const asks = { title: 'Asks', steps: [{ prompt: 'What is 2 + 3?' }] };
const calls = { title: 'Calls', steps: [{ toolCall: 'get-sum' }] };

function read(fields: Record<string, unknown>, cases: unknown[] = [asks, calls]): Suite {
  const text = JSON.stringify({ suite: 'Sums', model: 'a/one', ...fields, cases });
  const { suite, findings } = readSuite(text, { file: 'a.evals.yaml' });
  expect(findings).toEqual([]);
  if (suite === null) throw new Error('The suite was not read.');
  return suite;
}

const list = (suite: Suite) => suite.cases.map(({ id, title, modelSettings: { hosts } }) => [id, title, ...hosts]);

describe('the hosts of a suite', () => {
  it('make a case of its own of each case with a prompt and each host', () => {
    const suite = read({ hosts: ['generic', 'codex'] });
    expect(list(expandHosts(suite, null))).toEqual([
      ['asks--generic', 'Asks (generic)', 'generic'],
      ['asks--codex', 'Asks (codex)', 'codex'],
      ['calls', 'Calls', 'generic', 'codex'],
    ]);
    expect(list(expandHosts(suite, ['goose']))[0]).toEqual(['asks', 'Asks', 'goose']);
    expect(list(expandHosts(read({}), null))[0]).toEqual(['asks', 'Asks']);
  });

  it('are those of the case, or else of its suite', () => {
    const ofCase = (fields: Record<string, unknown>, own: object) =>
      read(fields, [{ ...asks, ...own }]).cases[0]?.modelSettings.hosts;
    expect(ofCase({ host: 'codex' }, {})).toEqual(['codex']);
    expect(ofCase({ hosts: ['codex', 'goose'] }, { host: 'vscode' })).toEqual(['vscode']);
    expect(ofCase({ host: 'codex' }, { hosts: ['goose', 'vscode'] })).toEqual(['goose', 'vscode']);
  });

  it('combine with models and revisions of MCP, and keep the name of recordings apart from the host', () => {
    const suite = expandRevisions(
      expandHosts(read({ hosts: ['codex', 'goose'] }, [{ ...asks, models: ['a/one', 'b/two'] }]), null),
    );
    expect(suite.cases).toHaveLength(8);
    expect(suite.cases[0]).toMatchObject({
      id: 'asks--a-one--codex--2025-11-25',
      title: 'Asks (a/one) (codex) (2025-11-25)',
      recordingId: 'asks--2025-11-25',
    });
    expect(suite.cases[0]?.variantOf.map(({ id }) => id)).toEqual(['asks--a-one--codex', 'asks--a-one', 'asks']);
  });

  it('change the definition of a case, except the own loop of the gate', () => {
    const hash = (fields: Record<string, unknown>) => {
      const suite = read(fields, [asks]);
      return suite.cases.map((testCase) => hashDefinition(testCase, suite)).join(' ');
    };
    expect(hash({ host: 'generic' })).toBe(hash({}));
    expect(hash({ host: 'codex' })).not.toBe(hash({}));
    expect(hash({ host: 'codex' })).not.toBe(hash({ host: 'goose' }));
  });

  it('are compiled with their version for cases with prompts, and left out for a service without a field for them', () => {
    const suite = read({ host: 'codex' });
    const [asking, calling] = compileSuite(suite, { dialect: 'embedded' });
    expect(asking?.advancedConfig?.host).toEqual({ id: 'codex', version: findHostVersion('codex') });
    expect(calling?.advancedConfig).toEqual({ timeoutMs: 60_000 });
    expect(compileSuite(suite, { dialect: contract })[0]?.advancedConfig).toBeUndefined();
    expect(suite.cases[0]?.modelSettings.ownSetting).toMatchObject({ key: 'host' });
  });

  it.each([
    [{ host: 'codx' }, 'unknown-host: "codx" is no known host; did you mean `codex`?'],
    [{ hosts: ['codex', 'cursr'] }, 'unknown-host: "cursr" is no known host; did you mean `cursor`?'],
    [{ hosts: ['codex', 'codex'] }, 'duplicate-host: A host is named twice; name each once'],
    [{ host: 'codex', hosts: ['goose'] }, 'host-and-hosts: Both `host` and `hosts` are given; write one of them'],
  ])('are refused where they make no sense: %j', (fields, message) => {
    const { findings } = readSuite(JSON.stringify({ suite: 'Sums', cases: [asks], ...fields }), {
      file: 'a.evals.yaml',
    });
    expect(findings.map(({ code, message: text }) => `${code}: ${text}`)).toEqual([message]);
  });

  it('are located in the file if they are not known', () => {
    const text = 'suite: Sums\nhost: claude-cod\ncases:\n  - title: Asks\n    steps: [{ prompt: Hello }]\n';
    expect(readSuite(text, { file: 'a.evals.yaml' }).findings).toMatchObject([
      {
        file: 'a.evals.yaml',
        line: 2,
        column: 7,
        message: '"claude-cod" is no known host; did you mean `claude-code`?',
      },
    ]);
  });
});

describe('the program of a host', () => {
  const host = { command: 'claude-code', version: '2.1.330' };
  const list = (fields: Record<string, unknown>, cases: unknown[] = [asks]) => {
    const text = JSON.stringify({ suite: 'Sums', model: 'anthropic/one', host, ...fields, cases });
    return readSuite(text, { file: 'a.evals.yaml' }).findings.map(({ code, message }) => `${code}: ${message}`);
  };

  it('is a setting of its own, which a chosen profile replaces', () => {
    const suite = read({ model: 'anthropic/one', host: { ...host, 'built-ins': 'off' } }, [asks]);
    expect(compileSuite(suite, { dialect: 'embedded' })[0]?.advancedConfig).toMatchObject({
      host: { id: 'claude-code', version: '2.1.330', program: true },
      hostProgram: { builtIns: 'off', allowsNetwork: false },
    });
    const [profile] = compileSuite(expandHosts(suite, ['claude-code']), { dialect: 'embedded' });
    expect(profile?.advancedConfig).not.toHaveProperty('hostProgram');
    expect(profile?.advancedConfig?.host).not.toHaveProperty('program');
    const [own] = read({ model: 'anthropic/one', host }, [{ ...asks, host: 'codex' }]).cases;
    expect(own?.modelSettings).toMatchObject({ hosts: ['codex'], hostProgram: null });
  });

  it('is refused where it cannot be driven', () => {
    expect(list({ host: { command: 'vscode', version: '1.0.0' } })[0]).toContain('no host whose program can be driven');
    expect(list({ host: { command: 'claude-code' } })[0]).toContain('version');
    expect(list({ model: 'openai/gpt-5' })).toEqual([
      "host-program-model: claude-code asks models by Anthropic's Messages, which openai does not have; write another `model` than openai/gpt-5",
    ]);
    const gemini = { command: 'gemini-cli', version: '0.61.0' };
    expect(list({ model: 'google/gemini-2.5-flash', host: gemini })).toEqual([]);
    expect(list({ model: 'openai/gpt-5', host: gemini })[0]).toContain("Google's generateContent");
    expect(list({ system: 'Be brief.', seed: 1 }).map((each) => each.split(':')[0])).toEqual([
      'host-program-setting',
      'host-program-setting',
    ]);
    expect(list({}, [{ ...asks, steps: [...asks.steps, ...asks.steps] }])[0]).toContain('host-program-prompts');
  });
});
