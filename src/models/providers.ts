import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelParameters } from '../cases/case.ts';
import { ModelError } from '../base/errors.ts';
import { generator } from '../base/version.ts';
import { Secret } from '../base/redaction.ts';
import { clipText } from '../base/text.ts';
import { parseHeaderLines } from '../base/written-headers.ts';
import { hostWires } from '../hosts/host-wires.ts';
import { hasMoreThanPath, isHeaderSafe, isProtected } from '../http/url.ts';

type ModelParameter = keyof ModelParameters;

/** Anthropic's Messages, Chat Completions, with which the other providers are compatible, OpenAI's Responses, or a model of the program. */
export type WireFormat = 'anthropic' | 'compatible' | 'responses' | 'own';

interface Provider {
  format: WireFormat;
  /** The URL without the version, because a base URL of the environment may also leave out the version. */
  origin: string;
  versionPath: string;
  /** The first variable that is set is used. */
  keyVariables: readonly [string, ...string[]];
  baseUrlVariables: readonly [string, ...string[]];
  needsKey: boolean;
}

const googleOrigin = 'https://generativelanguage.googleapis.com';

/** Each provider uses the format at the base URL that its documentation names. */
const providers: ReadonlyMap<string, Provider> = new Map([
  ['anthropic', { ...defineProvider('ANTHROPIC', 'https://api.anthropic.com'), format: 'anthropic' }],
  ['openai', defineProvider('OPENAI', 'https://api.openai.com')],
  [
    'google',
    {
      ...defineProvider('GEMINI', googleOrigin),
      versionPath: '/v1beta/openai',
      keyVariables: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
      baseUrlVariables: ['GEMINI_BASE_URL', 'GOOGLE_GENERATIVE_AI_BASE_URL'],
    },
  ],
  ['mistral', defineProvider('MISTRAL', 'https://api.mistral.ai')],
  ['deepseek', defineProvider('DEEPSEEK', 'https://api.deepseek.com')],
  ['xai', defineProvider('XAI', 'https://api.x.ai')],
  ['openrouter', defineProvider('OPENROUTER', 'https://openrouter.ai/api')],
  // A server on this machine, so there are no keys.
  ['ollama', { ...defineProvider('OLLAMA', 'http://127.0.0.1:11434'), needsKey: false }],
]);

/** Lists the providers that need only a key. */
export function listProviderNames(): string[] {
  return [...providers.keys()];
}

function defineProvider(prefix: string, origin: string): Provider {
  return {
    format: 'compatible',
    origin,
    versionPath: '/v1',
    keyVariables: [`${prefix}_API_KEY`],
    baseUrlVariables: [`${prefix}_BASE_URL`],
    needsKey: true,
  };
}

/** The parameters that the API of a provider has not, by its published reference. A call would fail, or silently lack the parameter. */
const missingParameters: ReadonlyMap<string, readonly ModelParameter[]> = new Map([
  ['anthropic', ['seed']],
  ['google', ['seed']],
  ['deepseek', ['seed']],
]);

/** Names the first parameter that a provider does not take, with the remedy; null if it takes all. */
export function explainMissingParameter(provider: string, parameters: ModelParameters): string | null {
  const missing = missingParameters.get(provider)?.find((name) => parameters[name] !== undefined);
  return missing === undefined
    ? null
    : `${provider} takes no \`${missing}\`; leave it out, or set it in the cases of other providers`;
}

/** The connection settings of one provider. */
export interface ProviderSettings {
  provider: string;
  format: WireFormat;
  /** With the version, without a slash at the end. */
  baseUrl: URL;
  /** Null for a provider that needs no key. */
  apiKey: Secret | null;
  /** Further headers of every call. Their values can be secrets. */
  headers: ReadonlyMap<string, Secret>;
  /** The source of the key, for messages: a variable, or `model-api-keys`. */
  keyVariable: string;
  /** The variable that sets the base URL. */
  baseUrlVariable: string;
  /** The models that the program gave, by name. Only they are asked. */
  models?: ReadonlyMap<string, LanguageModelV4>;
}

/** Writes the headers of a call that do not depend on its format. */
export function writeHeaders(headers: ProviderSettings['headers']): Record<string, string> {
  const written = [...headers].map(([name, value]) => [name, value.reveal()]);
  return { 'user-agent': `${generator.name}/${generator.version}`, ...Object.fromEntries(written) };
}

/** The providers that an environment configures. */
export interface ProviderDirectory {
  /**
   * Finds a provider. A key that is passed takes precedence over the keys of the directory.
   *
   * @throws {ModelError} `refused` for a provider that is unknown, has no key, or has an unusable base URL
   */
  find(provider: string, apiKey?: Secret): ProviderSettings;
  /** Every key found, for a redactor. */
  readonly secrets: readonly Secret[];
}

export interface ProviderSources {
  environment: Readonly<Record<string, string | undefined>>;
  /** Keys by provider, which take precedence over those of the environment. */
  keys?: ReadonlyMap<string, Secret>;
  /** Models of the program, by provider and name. */
  models?: ReadonlyMap<string, ReadonlyMap<string, LanguageModelV4>>;
}

const givenKeys = 'model-api-keys';

/** Nothing is sent for a model of the program. */
const ownSettings = {
  format: 'own',
  baseUrl: new URL('http://localhost'),
  apiKey: null,
  headers: new Map<string, Secret>(),
  keyVariable: 'models',
  baseUrlVariable: 'models',
} as const;

const baseUrlEnd = /_BASE_URL$/;
const longestQuote = 60;

/** Reads the keys and base URLs of providers. A provider outside the table needs `<NAME>_BASE_URL`, and may have `<NAME>_API_KEY`. */
export function readProviders({ environment, keys = new Map(), models: own }: ProviderSources): ProviderDirectory {
  const variables = new Map<string, string>();
  for (const [name, value = ''] of Object.entries(environment)) {
    if (value.trim() !== '') variables.set(name, value.trim());
  }
  const findFirst = (names: readonly string[]) => names.find((name) => variables.has(name));
  return {
    secrets: [
      ...keys.values(),
      ...listKeyVariables(variables).map((name) => new Secret(variables.get(name) ?? '')),
      ...listHeaderVariables(variables).flatMap((name) => [...readHeaders(variables.get(name)).headers.values()]),
    ],
    find: (name, apiKey = keys.get(name)) => {
      const models = own?.get(name);
      if (models !== undefined) return { ...ownSettings, provider: name, models };
      const provider = providers.get(name) ?? defineOther(name, variables);
      const keyVariable = apiKey === undefined ? findFirst(provider.keyVariables) : givenKeys;
      const key = apiKey ?? (keyVariable === undefined ? null : new Secret(variables.get(keyVariable) ?? ''));
      if (key === null && provider.needsKey) throw refuseMissingKey(name, provider);
      if (key !== null && !isHeaderSafe(key.reveal())) throw refuseKey(name, keyVariable ?? givenKeys);
      const baseUrlVariable = findFirst(provider.baseUrlVariables);
      const headersVariable = nameHeaders(provider.baseUrlVariables[0]);
      const format = chooseFormat(name, { provider, variables });
      const { headers, problem } = readHeaders(variables.get(headersVariable));
      if (problem !== null) throw refuseHeaders(headersVariable, problem);
      return {
        provider: name,
        format,
        baseUrl: readBaseUrl(baseUrlVariable === undefined ? undefined : variables.get(baseUrlVariable), {
          provider,
          variable: baseUrlVariable ?? provider.baseUrlVariables[0],
          hasSecret: key !== null || headers.size > 0,
        }),
        apiKey: key,
        headers,
        keyVariable: keyVariable ?? provider.keyVariables[0],
        baseUrlVariable: baseUrlVariable ?? provider.baseUrlVariables[0],
      };
    },
  };
}

const apis: ReadonlyMap<string, WireFormat> = new Map([
  ['chat-completions', 'compatible'],
  ['responses', 'responses'],
]);

/** Some models of OpenAI are only in its Responses API. */
function chooseFormat(
  name: string,
  { provider, variables }: { provider: Provider; variables: ReadonlyMap<string, string> },
): WireFormat {
  const variable = provider.baseUrlVariables[0].replace(baseUrlEnd, '_API');
  const written = variables.get(variable);
  if (written === undefined) return provider.format;
  const format = apis.get(written);
  if (format === undefined) {
    throw new ModelError(`${variable} is ${JSON.stringify(clipText(written, longestQuote))}, which is no known API.`, {
      kind: 'refused',
      hint: `Write ${[...apis.keys()].join(' or ')}, or leave it out.`,
    });
  }
  const isKnown = format === provider.format || (format === 'responses' && hostWires['openai-responses'].isOf(name));
  if (!isKnown) {
    throw new ModelError(`The provider ${name} has no API ${written}.`, {
      kind: 'refused',
      hint: `Leave ${variable} out.`,
    });
  }
  return format;
}

/** Providers that no longer exist, with a sentence about their end. */
const retired: ReadonlyMap<string, string> = new Map([
  ['github', 'GitHub Models was retired on 30 July 2026, and its API answers no call. '],
]);

/** Defines a compatible endpoint under a name that the user chose. */
function defineOther(name: string, variables: ReadonlyMap<string, string>): Provider {
  const prefix = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  if (!variables.has(`${prefix}_BASE_URL`)) {
    throw new ModelError(`The provider ${JSON.stringify(name)} is unknown.`, {
      kind: 'refused',
      hint: `${retired.get(name) ?? ''}Write one of ${[...providers.keys()].join(', ')}, or set ${prefix}_BASE_URL to a compatible endpoint.`,
    });
  }
  return { ...defineProvider(prefix, ''), needsKey: false };
}

/** Lists the variables of keys. An unknown name belongs to an endpoint that the environment names. */
function listKeyVariables(variables: ReadonlyMap<string, string>): string[] {
  const known = [...providers.values()].flatMap(({ keyVariables }) => keyVariables);
  const others = [...variables.keys()]
    .filter((name) => name.endsWith('_BASE_URL'))
    .map((name) => name.replace(/_BASE_URL$/, '_API_KEY'));
  return [...new Set([...known, ...others])].filter((name) => variables.has(name));
}

function nameHeaders(baseUrlVariable: string): string {
  return baseUrlVariable.replace(baseUrlEnd, '_HEADERS');
}

/** Lists the variables of headers: those of known providers, and those of endpoints that the environment names. */
function listHeaderVariables(variables: ReadonlyMap<string, string>): string[] {
  const known = [...providers.values()].map(({ baseUrlVariables: [name] }) => name);
  const others = [...variables.keys()].filter((name) => baseUrlEnd.test(name));
  return [...new Set([...known, ...others].map(nameHeaders))].filter((name) => variables.has(name));
}

type HeaderProblem = ReturnType<typeof parseHeaderLines>['problems'][number];

/** Reads headers, one `Name: value` per line. */
function readHeaders(text = ''): { headers: ReadonlyMap<string, Secret>; problem: HeaderProblem | null } {
  const { values, problems } = parseHeaderLines(text.split(/\r?\n/));
  const [first] = problems;
  return {
    headers: new Map([...values].map(([name, value]) => [name, new Secret(value)])),
    problem: first ?? null,
  };
}

function refuseHeaders(variable: string, { line, problem }: HeaderProblem): ModelError {
  return new ModelError(`Line ${line} of ${variable} ${problem}.`, {
    kind: 'refused',
    hint: `Write one \`Name: value\` per line in ${variable}.`,
  });
}

function refuseMissingKey(name: string, { keyVariables }: Provider): ModelError {
  return new ModelError(`There is no API key for the provider ${name}: ${keyVariables.join(' or ')} is not set.`, {
    kind: 'refused',
    hint: `Set ${keyVariables[0]} from a secret, or give the key in \`${givenKeys}\`. Jobs of forks and of Dependabot get no secrets: commit recorded answers for them.`,
  });
}

/** Refuses a key before an HTTP client sees it: HTTP clients quote a header that they refuse. */
function refuseKey(name: string, variable: string): ModelError {
  return new ModelError(
    `The API key for the provider ${name} has a space, a line break or another character no key has.`,
    { kind: 'refused', hint: `Correct the key in ${variable}.` },
  );
}

/** Reads a base URL. No message quotes it, because it may contain credentials. */
function readBaseUrl(
  text: string | undefined,
  { provider, variable, hasSecret }: { provider: Provider; variable: string; hasSecret: boolean },
): URL {
  if (text === undefined) return new URL(`${provider.origin}${provider.versionPath}`);
  const url = URL.parse(text);
  const refuse = (problem: string, hint: string) =>
    new ModelError(`The base URL in ${variable} ${problem}.`, { kind: 'refused', hint });
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refuse('is not an http or https URL', 'Write it like https://host/v1.');
  }
  if (hasMoreThanPath(url)) throw refuse('has a user, password, query or fragment', 'Leave them out.');
  if (hasSecret && !isProtected(url)) {
    throw refuse('is plain http to another machine', 'Only https protects the API key and the headers.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = lacksVersion(path, provider) ? `${path}${provider.versionPath}` : path;
  return url;
}

/** Checks if the version is missing, as the providers' own clients do: Anthropic's adds it to any base URL, Chat Completions' to none. */
function lacksVersion(path: string, { format, origin }: Provider): boolean {
  if (hasVersion(path)) return false;
  return format === 'anthropic' || path === '' || URL.parse(origin)?.pathname === path;
}

/** Finds a version such as `v1` or `v1beta` among the segments of a path. */
function hasVersion(path: string): boolean {
  return path.split('/').some((segment) => /^v\d+(?:[a-z]+\d*)?$/i.test(segment));
}
