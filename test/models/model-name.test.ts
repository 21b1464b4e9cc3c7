import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { formatModelName, parseModelName, slugModelName } from '../../src/models/model-name.ts';

describe('parseModelName', () => {
  it.each([
    ['anthropic/claude-haiku-4-5', 'anthropic', 'claude-haiku-4-5'],
    ['openrouter/anthropic/claude-haiku:free', 'openrouter', 'anthropic/claude-haiku:free'],
    ['ollama/llama3.2:3b', 'ollama', 'llama3.2:3b'],
    ['OpenAI/gpt-5', 'openai', 'gpt-5'],
    ['my-gateway/@cf/meta', 'my-gateway', '@cf/meta'],
  ])('reads %s', (text, provider, name) => {
    expect(parseModelName(text)).toEqual({ provider, name });
    expect(formatModelName({ provider, name }).toLowerCase()).toBe(text.toLowerCase());
  });

  it.each(['', 'gpt-5', '/gpt-5', 'openai/', 'open ai/gpt', 'openai/gpt 5', '-a/b', `a/${'b'.repeat(300)}`, 'a/b\n'])(
    'refuses %j and shows what to write',
    (text) => {
      expect(() => parseModelName(text)).toThrow(ConfigurationError);
      expect(() => parseModelName(text)).toThrow(
        'write the provider and the model, such as anthropic/claude-haiku-4-5.',
      );
    },
  );
});

describe('slugModelName', () => {
  it.each([
    ['anthropic/claude-haiku-4.5', 'anthropic-claude-haiku-4.5'],
    ['openrouter/meta/llama:free', 'openrouter-meta_llama_free'],
    ['a/../../etc', 'a-.._.._etc'],
  ])('writes %s so that it is part of a file name', (text, slug) => {
    expect(slugModelName(parseModelName(text))).toBe(slug);
  });
});
