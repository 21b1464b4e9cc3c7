import { describe, expect, it } from 'vitest';
import { createPathMap } from '../../src/tunnel/target.ts';

const scope = '/api/mcp/adapter-http/srv_1';
const map = createPathMap('srv_1', new URL('http://127.0.0.1:4242/secret/mcp/?own=1'));

describe('the path map', () => {
  it.each([
    [scope, '/secret/mcp?own=1'],
    [`${scope}?k=s`, '/secret/mcp?own=1'],
    [`${scope}/`, '/secret/mcp/?own=1'],
    [`${scope}/.well-known/x?a=1&k=s&b=%20?`, '/secret/mcp/.well-known/x?own=1&a=1&b=%20?'],
    [`${scope}?%6B=s&K=kept&kk=kept&k&%zz=1`, '/secret/mcp?own=1&K=kept&kk=kept&%zz=1'],
  ])('leads %j to %j', (url, path) => {
    expect(map(url)).toBe(path);
  });

  it('leads to the root of a target without a path', () => {
    const root = createPathMap('srv_1', new URL('http://127.0.0.1:4242'));
    expect([root(scope), root(`${scope}/a`), root(`${scope}?a=1`)]).toEqual(['/', '/a', '/?a=1']);
  });

  it('takes the server id as one segment, whatever is in it', () => {
    const odd = createPathMap('a/b?c', new URL('http://127.0.0.1/mcp'));
    expect(odd('/api/mcp/adapter-http/a%2Fb%3Fc')).toBe('/mcp');
    expect(odd('/api/mcp/adapter-http/a/b?c')).toBeNull();
  });

  it.each([
    '/',
    '/api/mcp/adapter-http/',
    `${scope}2`,
    `${scope}%2f..`,
    `${scope}/..`,
    `${scope}/../srv_2`,
    `${scope}/./a`,
    `${scope}/a/..`,
    `${scope}/%2e%2e/a`,
    `${scope}/%2E./a`,
    `${scope}/a%2fb`,
    `${scope}/a%5cb`,
    `${scope}/a\\b`,
    `${scope}//evil.example/a`,
    `${scope}/%252e%252e/a`,
    `${scope}/a%0d%0ab`,
    `${scope}/%00`,
    `${scope}/a#b`,
    `${scope}/a;b`,
    `/x/..${scope}`,
    `/${scope}`,
    `http://evil.example${scope}`,
  ])('leads %j nowhere', (url) => {
    expect(map(url)).toBeNull();
  });
});
