import { describe, expect, it } from 'vitest';
import { createFindings } from '../../../src/base/findings.ts';
import { listKnownSecrets } from '../../../src/gate/options.ts';
import { readOtelResource, readOtelTarget } from '../../../src/gate/plan/otel-variables.ts';

function readTarget(environment: Record<string, string>) {
  const findings = createFindings();
  const { notes, issues } = findings;
  const target = readOtelTarget(environment, findings);
  const headers = [...(target?.headers ?? [])].map(([name, value]) => [name, value.reveal()]);
  return { target, headers, notes, issues };
}

const generic = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://host:4318' };

describe('readOtelTarget', () => {
  it('prefers the variables for traces, whose endpoint is the whole URL', () => {
    expect(readTarget(generic).target).toMatchObject({ endpoint: 'https://host:4318', isWhole: false });
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://host/in' };
    expect(readTarget({ ...generic, ...own }).target).toMatchObject({ endpoint: 'https://host/in', isWhole: true });
  });

  it.each([
    ['no variable', {}],
    ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['headers alone', { OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }],
    ['a disabled SDK', { ...generic, OTEL_SDK_DISABLED: 'TRUE' }],
    ['no exporter', { ...generic, OTEL_TRACES_EXPORTER: 'none' }],
    ['another exporter', { ...generic, OTEL_TRACES_EXPORTER: 'console, zipkin' }],
  ])('sends nothing with %s, and says nothing of it', (_, environment) => {
    expect(readTarget(environment)).toMatchObject({ target: null, notes: [], issues: [] });
  });

  it('sends with the exporter otlp among others, and over HTTP whatever its encoding', () => {
    const more = { OTEL_TRACES_EXPORTER: 'console,otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' };
    expect(readTarget({ ...generic, ...more }).target).not.toBeNull();
  });

  it('notes that it cannot send over gRPC', () => {
    const { target, notes } = readTarget({ ...generic, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(target).toBeNull();
    expect(notes).toEqual([
      'The traces are not sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and the gate sends them over HTTP. Set it to http/json.',
    ]);
    const own = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(readTarget({ ...generic, ...own }).target).not.toBeNull();
  });

  it('decodes headers, those for traces before the others of the same name', () => {
    const { headers, issues } = readTarget({
      ...generic,
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20one, x-team=evals,',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20two==',
    });
    expect(issues).toEqual([]);
    expect(headers).toEqual([
      ['authorization', 'Bearer two=='],
      ['x-team', 'evals'],
    ]);
  });

  it.each(['only-a-key', '=value', 'name=', 'na me=value', 'name=%zz'])('rejects %j without repeating it', (text) => {
    const { issues } = readTarget({ ...generic, OTEL_EXPORTER_OTLP_HEADERS: `x=1,${text}` });
    expect(issues).toEqual([
      {
        input: 'OTEL_EXPORTER_OTLP_HEADERS',
        code: 'bad-header',
        message: 'entry 2 is not name=value with a percent-encoded value',
      },
    ]);
  });
});

describe('listKnownSecrets', () => {
  it('holds the values of the headers as they are written and as they are sent, also where they cannot be read', () => {
    const reveal = (environment: Record<string, string>) =>
      listKnownSecrets({}, environment).map((secret) => secret.reveal());
    expect(reveal({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-key' })).toEqual([
      'Bearer%20collector-key',
      'Bearer collector-key',
    ]);
    expect(reveal({ OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'only-a-key, x=%zz' })).toEqual(['only-a-key', '%zz']);
    expect(reveal({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://host' })).toEqual([]);
  });
});

describe('readOtelResource', () => {
  it('reads attributes, and the name of the service before them', () => {
    const environment = { OTEL_RESOURCE_ATTRIBUTES: 'team=a%2Cb,service.name=x', OTEL_SERVICE_NAME: 'evals' };
    const findings = createFindings();
    expect(readOtelResource(environment, findings)).toEqual({ team: 'a,b', 'service.name': 'evals' });
    expect([readOtelResource({}, findings), findings.notes]).toEqual([{}, []]);
  });

  it('leaves out a list that it cannot read, as a whole and with a note', () => {
    const findings = createFindings();
    expect(readOtelResource({ OTEL_RESOURCE_ATTRIBUTES: 'team=a,odd' }, findings)).toEqual({});
    expect(findings.notes).toEqual([
      'OTEL_RESOURCE_ATTRIBUTES is not a list of name=value with percent-encoded values, so the traces are without it.',
    ]);
  });
});
