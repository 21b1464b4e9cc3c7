import { type ModelParameters, modelParametersSchema } from '../cases/case.ts';
import { asksModel, type ModelSettings, type SourceLocation, type Suite, type SuiteCase } from '../cases/suite.ts';
import { drivenHosts } from '../hosts/driven-hosts.ts';
import { hostWires } from '../hosts/host-wires.ts';
import { identifyHost } from '../hosts/find-host.ts';
import type { HostIdentity } from '../model/host-identity.ts';
import type { Finding } from './findings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import type { WrittenCase, WrittenSuite } from './suite-schema.ts';

export type WrittenSettings = Pick<
  WrittenSuite,
  | 'host'
  | 'hosts'
  | 'system'
  | 'temperature'
  | 'maxSteps'
  | 'maxResultTokens'
  | 'modelTimeout'
  | 'toolPolicy'
  | 'decoys'
> &
  ModelParameters;

/** Settings without a field in the API, which hosted services therefore ignore. */
const ownKeys = [
  'host',
  'hosts',
  'maxSteps',
  'maxResultTokens',
  ...modelParametersSchema.keyof().options,
  'modelTimeout',
  'toolPolicy',
  'decoys',
] as const;

/** Layers the model settings of a case over those of its suite, key by key. */
export function buildModelSettings(
  suite: WrittenSettings,
  testCase: WrittenSettings,
  locateKey: (key: keyof WrittenSettings) => SourceLocation,
): ModelSettings {
  const written = { ...suite, ...testCase };
  const { system = null, temperature = null, maxSteps = null, maxResultTokens = null } = written;
  const { toolPolicy = null, decoys = [], modelTimeout: timeoutMs = null } = written;
  const ownKey = ownKeys.find((key) => written[key] !== undefined);
  const isFile = typeof decoys === 'string';
  return {
    ...(readHosts(testCase) ?? readHosts(suite) ?? { hosts: [], hostProgram: null }),
    system,
    temperature,
    maxSteps,
    maxResultTokens,
    parameters: pickParameters(written),
    timeoutMs,
    toolPolicy,
    decoys: isFile ? [] : decoys,
    decoyFile: isFile ? { path: decoys, location: locateKey('decoys') } : null,
    ownSetting: ownKey === undefined ? null : { key: ownKey, location: locateKey(ownKey) },
  };
}

function pickParameters({ reasoningEffort, maxOutputTokens, topP, seed }: WrittenSettings): ModelParameters {
  return {
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(topP !== undefined && { topP }),
    ...(seed !== undefined && { seed }),
  };
}

function readHosts({
  host,
  hosts,
}: Pick<WrittenSettings, 'host' | 'hosts'>): Pick<ModelSettings, 'hosts' | 'hostProgram'> | undefined {
  if (hosts !== undefined) return { hosts, hostProgram: null };
  if (host === undefined) return undefined;
  if (typeof host === 'string') return { hosts: [host], hostProgram: null };
  const { command, version, 'built-ins': builtIns = 'on', 'allow-host-network': allowsNetwork = false } = host;
  return { hosts: [command], hostProgram: { version, builtIns, allowsNetwork } };
}

/** Identifies the host of a case for its results and recordings; null for the gate's own loop. */
export function identifyCaseHost({
  hosts,
  hostProgram,
}: Pick<ModelSettings, 'hosts' | 'hostProgram'>): HostIdentity | null {
  const [id] = hosts;
  if (hostProgram === null || id === undefined) return identifyHost(id);
  return { id, version: hostProgram.version, program: true };
}

/** Settings of the gate's own loop, which a host has not or decides itself. */
const loopKeys = [
  'system',
  'temperature',
  'maxResultTokens',
  ...modelParametersSchema.keyof().options,
  'decoys',
] as const;

/** Finds what the program of a host cannot do for a case: it decides about the calls of the model, and holds one conversation of one prompt. */
export function findHostProgramLimits(
  { modelSettings, steps, model, title }: Pick<SuiteCase, 'modelSettings' | 'steps' | 'model' | 'title'>,
  written: WrittenSettings,
  locateKey: (key: keyof WrittenSettings) => SourceLocation,
): Finding[] {
  const { hostProgram, hosts } = modelSettings;
  const [id = ''] = hosts;
  if (hostProgram === null) return [];
  const found = loopKeys.flatMap((key): Finding[] => {
    if (written[key] === undefined) return [];
    const message = `\`${key}\` is for the gate's own loop, and the program of ${id} decides about its calls itself; leave it out`;
    return [{ ...locateKey(key), code: 'host-program-setting', message }];
  });
  const [, second] = steps.filter(({ step }) => step.kind === 'prompt');
  if (second !== undefined) {
    const message = `case "${title}" has several prompts, and the program of a host answers one; split the case`;
    found.push({ ...second.location, code: 'host-program-prompts', message });
  }
  const wireId = drivenHosts.get(id);
  const wire = wireId === undefined ? undefined : hostWires[wireId];
  const provider = model?.split('/')[0];
  if (provider !== undefined && wire?.isOf(provider) === false) {
    const message = `${id} asks models by ${wire.title}, which ${provider} does not have; write another \`model\` than ${model}`;
    found.push({ ...locateKey('host'), code: 'host-program-model', message });
  }
  return found;
}

/** Lists the models of a case: its own, or else the suite's. Null stands for no model. */
export function listCaseModels(suite: WrittenSuite, testCase: WrittenCase): Array<string | null> {
  const sampling = testCase.client?.sampling ?? suite.client?.sampling;
  if (sampling !== 'model' && !testCase.steps.some((step) => 'prompt' in step)) return [testCase.model ?? null];
  const own = testCase.models ?? (testCase.model === undefined ? undefined : [testCase.model]);
  return own ?? suite.models ?? [suite.model ?? null];
}

/** Locates the first prompt of a case, or else its client settings if a model answers requests; null if the case asks no model. */
export function locateModelUse(testCase: Pick<SuiteCase, 'steps' | 'client' | 'location'>): SourceLocation | null {
  if (!asksModel(testCase)) return null;
  const prompt = testCase.steps.find(({ step }) => step.kind === 'prompt');
  return prompt?.location ?? testCase.client?.location ?? testCase.location;
}

/** Finds cases that ask a model and name none. The gate skips them unless a hosted service has a model of its own. */
export function findCasesWithoutModel({ cases }: Suite): Finding[] {
  return cases.flatMap((testCase) => {
    const location = locateModelUse(testCase);
    if (location === null || testCase.model !== null) return [];
    const what = testCase.steps.some(({ step }) => step.kind === 'prompt') ? 'a prompt step' : '`sampling: model`';
    const message = `case "${testCase.title}" has ${what} and no model; set \`model\` in the case or the suite, such as anthropic/claude-haiku-4.5`;
    return [{ ...location, code: 'missing-model', message }];
  });
}

/** Finds a `model` next to `models` and a `host` next to `hosts`, since it is unclear which one is meant. */
export function findTwoModelKeys(
  written: Pick<WrittenSuite, 'model' | 'models' | 'host' | 'hosts'>,
  document: SourceDocument,
  path: DocumentPath,
): Finding[] {
  return (['model', 'host'] as const).flatMap((key) => {
    const list = `${key}s` as const;
    if (written[key] === undefined || written[list] === undefined) return [];
    const message = `Both \`${key}\` and \`${list}\` are given; write one of them`;
    return [{ ...document.locateKey([...path, list]), code: `${key}-and-${list}`, message }];
  });
}
