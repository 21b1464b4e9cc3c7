import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { parseGateOptions, parseTunnelOptions } from '../../src/gate/options.ts';

const hosted = {
  evals: 'a',
  'server-command': 'x',
  service: 'svc',
  'base-url': 'https://host/api/v1',
  'api-key': 'sk_1',
};

function readIssues(texts: Record<string, string>, parse = parseGateOptions): string[] {
  try {
    parse(texts);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ input, code }) => `${input}: ${code}`);
  }
}

describe('the options of a hosted service', () => {
  it('are ignored with the embedded one, so that a workflow can choose', () => {
    expect(readIssues({ ...hosted, service: 'embedded' })).toEqual([]);
    expect(readIssues({ ...hosted, service: 'embedded', 'api-key': '' })).toEqual([]);
  });

  it('are complete with a key and, where the service has no address of its own, a base URL', () => {
    expect(readIssues(hosted)).toEqual([]);
    expect(readIssues({ ...hosted, service: 'mcpjam', 'base-url': '' })).toEqual([]);
    expect(readIssues({ ...hosted, 'base-url': '', 'api-key': '' })).toEqual([
      'base-url: missing-base-url',
      'api-key: missing-api-key',
    ]);
  });

  it('advise about forks where the key is missing', () => {
    expect(() => parseGateOptions({ ...hosted, 'api-key': '' })).toThrow(/forks and of Dependabot get no secrets/);
  });

  it('take a stored suite instead of evals, and only there an environment', () => {
    const stored = { ...hosted, evals: '', suite: 'Nightly' };
    expect(readIssues(stored)).toEqual([]);
    expect(readIssues({ ...stored, 'server-command': '' })).toEqual([]);
    expect(readIssues({ ...stored, 'server-command': '', environment: 'env_1' })).toEqual([]);
    expect(readIssues({ ...stored, evals: 'a', tags: 'smoke' })).toEqual([
      'suite: suite-and-evals',
      'tags: suite-without-tags',
    ]);
    expect(readIssues({ ...stored, service: 'embedded' })).toEqual(['suite: needs-hosted-service']);
    expect(readIssues({ ...stored, environment: 'env_1' })).toEqual(['environment: environment-and-server']);
    expect(readIssues({ ...hosted, environment: 'env_1' })).toEqual([
      'environment: needs-suite',
      'environment: environment-and-server',
    ]);
  });

  it('keep keys secret, and never quote a line that is wrong', () => {
    const { modelApiKeys, apiKey } = parseGateOptions({ ...hosted, 'model-api-keys': 'anthropic=sk-ant' });
    expect(JSON.stringify([apiKey, [...modelApiKeys]])).toBe('["***",[["anthropic","***"]]]');
  });

  it('reads keys by provider', () => {
    const { modelApiKeys } = parseGateOptions({ ...hosted, 'model-api-keys': 'anthropic=sk-ant\nopenai=x=y' });
    expect([...modelApiKeys].map(([provider, key]) => [provider, key.reveal()])).toEqual([
      ['anthropic', 'sk-ant'],
      ['openai', 'x=y'],
    ]);
    // A secret is empty in the job of a fork.
    expect([...parseGateOptions({ ...hosted, 'model-api-keys': 'anthropic=\nopenai= ' }).modelApiKeys]).toEqual([]);
    expect(() => parseGateOptions({ ...hosted, 'model-api-keys': 'sk-ant-canary' })).toThrow(
      'model-api-keys: line 1 is not provider=key (bad-model-api-keys)',
    );
  });

  it('refuse a name that the API would not take, and words that mean nothing', () => {
    expect(readIssues({ ...hosted, 'server-name': 'x'.repeat(128) })).toEqual([]);
    expect(readIssues({ ...hosted, 'server-name': 'x'.repeat(129) })).toEqual(['server-name: bad-server-name']);
    expect(() => parseGateOptions({ ...hosted, tunnel: 'sometimes' })).toThrow(
      'tunnel: "sometimes" is not a tunnel; write auto, always or never (bad-tunnel)',
    );
  });
});

describe('parseTunnelOptions', () => {
  it('needs a server and a key, and nothing to run', () => {
    const { evals: _evals, ...texts } = hosted;
    expect(readIssues(texts, parseTunnelOptions)).toEqual([]);
    expect(readIssues({ service: 'mcpjam' }, parseTunnelOptions)).toEqual([
      'server-command: missing-server',
      'api-key: missing-api-key',
    ]);
  });
});

describe('the options of an upload', () => {
  const upload = { ...hosted, service: 'embedded', upload: 'svc' };

  it('need what the hosted service needs', () => {
    expect(readIssues(upload)).toEqual([]);
    expect(readIssues({ ...upload, upload: 'mcpjam', 'base-url': '' })).toEqual([]);
    expect(readIssues({ ...upload, 'base-url': '', 'api-key': '' })).toEqual([
      'base-url: missing-base-url',
      'api-key: missing-api-key',
    ]);
    expect(() => parseGateOptions({ ...upload, 'api-key': '' })).toThrow(/get no secrets: use `upload: off` there/);
    expect(readIssues({ ...upload, upload: 'off', 'base-url': '', 'api-key': '' })).toEqual([]);
  });

  it('are rejected with a hosted service, and if nothing runs', () => {
    expect(readIssues({ ...upload, service: 'mcpjam' })).toEqual(['upload: needs-embedded-service']);
    expect(() => parseGateOptions({ merge: 'shards', upload: 'svc' })).toThrow(/^merge: .*leave out `upload`/);
    expect(() => parseGateOptions({ publish: 'report', upload: 'svc' })).toThrow(/^publish: .*leave out `upload`/);
  });
});
