import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import { readProviders } from '../../src/models/providers.ts';

const key = 'sk-0123456789abcdef';
const find = (provider: string, environment: Record<string, string>) => readProviders({ environment }).find(provider);

describe('a provider', () => {
  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY', 'anthropic', 'https://api.anthropic.com/v1'],
    ['openai', 'OPENAI_API_KEY', 'compatible', 'https://api.openai.com/v1'],
    ['google', 'GEMINI_API_KEY', 'compatible', 'https://generativelanguage.googleapis.com/v1beta/openai'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY', 'compatible', 'https://generativelanguage.googleapis.com/v1beta/openai'],
    ['mistral', 'MISTRAL_API_KEY', 'compatible', 'https://api.mistral.ai/v1'],
    ['deepseek', 'DEEPSEEK_API_KEY', 'compatible', 'https://api.deepseek.com/v1'],
    ['xai', 'XAI_API_KEY', 'compatible', 'https://api.x.ai/v1'],
    ['openrouter', 'OPENROUTER_API_KEY', 'compatible', 'https://openrouter.ai/api/v1'],
    ['ollama', 'OLLAMA_API_KEY', 'compatible', 'http://127.0.0.1:11434/v1'],
  ])('%s is reached with %s', (provider, keyVariable, format, baseUrl) => {
    const settings = find(provider, { [keyVariable]: ` ${key} ` });
    expect(settings).toMatchObject({ provider, format, keyVariable });
    expect(settings.baseUrl.href).toBe(baseUrl);
    expect(settings.apiKey?.reveal()).toBe(key);
  });

  it('uses the first of two key variables that is set', () => {
    const both = { GEMINI_API_KEY: key, GOOGLE_GENERATIVE_AI_API_KEY: 'other' };
    expect(find('google', both).apiKey?.reveal()).toBe(key);
    expect(find('google', { ...both, GEMINI_API_KEY: '' }).apiKey?.reveal()).toBe('other');
  });

  it.each(['anthropic', 'openai', 'google', 'mistral', 'deepseek', 'xai', 'openrouter'])(
    '%s is refused without a key, and the message names provider and variable',
    (provider) => {
      expect(() => find(provider, {})).toThrow(
        expect.objectContaining({
          kind: 'refused',
          message: expect.stringMatching(new RegExp(`for the provider ${provider}: [A-Z_]+_API_KEY`)) as string,
          hint: expect.stringContaining('_API_KEY from a secret') as string,
        }) as Error,
      );
    },
  );

  it('ollama needs no key', () => {
    expect(find('ollama', {}).apiKey).toBeNull();
  });

  it('of another name is a compatible endpoint where its base URL is set', () => {
    const settings = find('my-gateway', { MY_GATEWAY_BASE_URL: 'http://models:8000' });
    expect(settings).toMatchObject({ format: 'compatible', apiKey: null, keyVariable: 'MY_GATEWAY_API_KEY' });
    expect(settings.baseUrl.href).toBe('http://models:8000/v1');
    expect(() => find('my-gateway', { OTHER_BASE_URL: 'http://models:8000' })).toThrow(
      'The provider "my-gateway" is unknown.',
    );
  });

  it('that was retired is refused with the date of its end, unless a base URL takes its name', () => {
    expect(() => find('github', { GITHUB_TOKEN: key })).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(/^GitHub Models was retired on 30 July 2026/) as string,
      }) as Error,
    );
    expect(() => find('gitlab', {})).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Write one of /) as string }) as Error,
    );
    expect(find('github', { GITHUB_BASE_URL: 'https://models.example/v1' }).format).toBe('compatible');
  });

  it('gets a key that was given before that of the environment', () => {
    const environment = { OPENAI_API_KEY: 'environment' };
    const directory = readProviders({ environment, keys: new Map([['openai', new Secret('given')]]) });
    expect(directory.find('openai')).toMatchObject({ keyVariable: 'model-api-keys' });
    expect(directory.find('openai').apiKey?.reveal()).toBe('given');
    expect(directory.find('openai', new Secret('run')).apiKey?.reveal()).toBe('run');
  });

  it('is refused a key that no header can have, which is not quoted', () => {
    expect(() => find('openai', { OPENAI_API_KEY: 'sk 12\n34' })).toThrow(
      'The API key for the provider openai has a space, a line break or another character no key has.',
    );
  });

  it('gets the headers of its variable, whose values are secrets', () => {
    const environment = {
      OPENAI_API_KEY: key,
      OPENAI_HEADERS: 'X-Gateway-Key: gw-1 2\n\nOpenAI-Project: proj_1',
      GEMINI_HEADERS: 'a: g',
      MINE_BASE_URL: 'http://127.0.0.1:1',
      MINE_HEADERS: 'b: m',
      UNRELATED_HEADERS: 'c: u',
    };
    const directory = readProviders({ environment });
    const headers = [...directory.find('openai').headers].map(([name, value]) => [name, value.reveal()]);
    expect(headers).toEqual([
      ['x-gateway-key', 'gw-1 2'],
      ['openai-project', 'proj_1'],
    ]);
    expect(directory.find('mine').headers.get('b')?.reveal()).toBe('m');
    expect(directory.secrets.map((secret) => secret.reveal()).sort()).toEqual(
      ['g', 'gw-1 2', key, 'm', 'proj_1'].sort(),
    );
  });

  it.each([
    ['secret', 'Line 1 of OPENAI_HEADERS is not Name: value.'],
    ['a: 1\n\nb c: 2', 'Line 3 of OPENAI_HEADERS is not Name: value.'],
    ['a: 1\nb c: 2', 'Line 2 of OPENAI_HEADERS is not Name: value.'],
    ['a: 1\nA: 2', 'Line 2 of OPENAI_HEADERS has a header that an earlier line has.'],
    ['a: \u0001', 'Line 1 of OPENAI_HEADERS has no value, or one with characters that no header can have.'],
    ['Content-Type: text/plain', 'Line 1 of OPENAI_HEADERS has a header that the gate sets itself.'],
    ['Host: other', 'Line 1 of OPENAI_HEADERS has a header that the gate sets itself.'],
  ])('is refused headers that cannot be sent, which are not quoted: %j', (text, message) => {
    expect(() => find('openai', { OPENAI_API_KEY: key, OPENAI_HEADERS: text })).toThrow(
      expect.objectContaining({ kind: 'refused', message }) as Error,
    );
  });

  it('asks by the API of its variable, if the provider has it', () => {
    const ask = (name: string, api: string) =>
      find(name, { [`${name.toUpperCase()}_API_KEY`]: key, [`${name.toUpperCase()}_API`]: api }).format;
    expect(ask('openai', 'responses')).toBe('responses');
    expect(ask('openai', 'chat-completions')).toBe('compatible');
    expect(ask('openrouter', 'responses')).toBe('responses');
    const refuse = (message: string) => expect.objectContaining({ kind: 'refused', message }) as Error;
    expect(() => ask('openai', 'response')).toThrow(refuse('OPENAI_API is "response", which is no known API.'));
    expect(() => ask('mistral', 'responses')).toThrow(refuse('The provider mistral has no API responses.'));
    expect(() => ask('anthropic', 'chat-completions')).toThrow(
      refuse('The provider anthropic has no API chat-completions.'),
    );
  });

  it('lists every key that was found', () => {
    const environment = {
      ANTHROPIC_API_KEY: 'a',
      GEMINI_API_KEY: 'b',
      GOOGLE_GENERATIVE_AI_API_KEY: 'c',
      MINE_BASE_URL: 'http://mine',
      MINE_API_KEY: 'd',
      UNRELATED_API_KEY: 'e',
    };
    const { secrets } = readProviders({ environment, keys: new Map([['openai', new Secret('f')]]) });
    expect(secrets.map((secret) => secret.reveal()).sort()).toEqual(['a', 'b', 'c', 'd', 'f']);
  });
});

describe('a base URL', () => {
  const read = (url: string, environment: Record<string, string> = { OPENAI_API_KEY: key }) =>
    find('openai', { ...environment, OPENAI_BASE_URL: url }).baseUrl.href;

  it.each([
    ['https://gateway.example', 'https://gateway.example/v1'],
    ['https://gateway.example/', 'https://gateway.example/v1'],
    ['https://gateway.example/v1/', 'https://gateway.example/v1'],
    ['https://gateway.example/inference', 'https://gateway.example/inference'],
    ['https://gateway.example/inference/', 'https://gateway.example/inference'],
    ['https://gateway.example/v1beta/openai', 'https://gateway.example/v1beta/openai'],
    ['https://gateway.example/api/v4', 'https://gateway.example/api/v4'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1'],
  ])('%s is read as %s', (url, expected) => {
    expect(read(url)).toBe(expected);
  });

  it('gets the version after the path that the provider itself has', () => {
    const router = { OPENROUTER_API_KEY: key, OPENROUTER_BASE_URL: 'https://gateway.example/api' };
    expect(find('openrouter', router).baseUrl.href).toBe('https://gateway.example/api/v1');
  });

  it('of Anthropic gets the version after any path, as in its own client', () => {
    const anthropic = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: 'https://gateway.example/claude' };
    expect(find('anthropic', anthropic).baseUrl.href).toBe('https://gateway.example/claude/v1');
  });

  it('without a path gets the usual version of its provider', () => {
    const google = { GEMINI_API_KEY: key, GEMINI_BASE_URL: 'https://gateway.example' };
    expect(find('google', google).baseUrl.href).toBe('https://gateway.example/v1beta/openai');
  });

  it.each([
    ['gateway', 'is not an http or https URL'],
    ['ftp://gateway.example', 'is not an http or https URL'],
    ['https://user:pass@gateway.example', 'has a user, password, query or fragment'],
    ['https://gateway.example/?key=1', 'has a user, password, query or fragment'],
    ['http://gateway.example', 'is plain http to another machine'],
  ])('%s is refused, and not quoted', (url, problem) => {
    expect(() => read(url)).toThrow(
      expect.objectContaining({ kind: 'refused', message: `The base URL in OPENAI_BASE_URL ${problem}.` }) as Error,
    );
  });

  it('is refused plain http to another machine where there are headers', () => {
    const environment = { OLLAMA_BASE_URL: 'http://ollama:11434', OLLAMA_HEADERS: 'X-Key: 1' };
    expect(() => find('ollama', environment)).toThrow('is plain http to another machine');
  });

  it('may be plain http to another machine where there is no key', () => {
    expect(find('ollama', { OLLAMA_BASE_URL: 'http://ollama:11434' }).baseUrl.href).toBe('http://ollama:11434/v1');
  });
});
