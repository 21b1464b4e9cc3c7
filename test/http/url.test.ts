import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import {
  buildUrl,
  hasMoreThanPath,
  isHeaderSafe,
  isLoopback,
  isProtected,
  parseApiKey,
  parseBaseUrl,
} from '../../src/http/url.ts';

describe('parseBaseUrl', () => {
  it.each([
    ['https://app.example.com/api/v1', 'https://app.example.com/api/v1'],
    ['https://app.example.com/api/v1//', 'https://app.example.com/api/v1'],
    ['http://127.0.0.1:8080/api/v1', 'http://127.0.0.1:8080/api/v1'],
    ['http://127.1/v1', 'http://127.0.0.1/v1'],
    ['http://localhost:1/v1', 'http://localhost:1/v1'],
    ['http://[::1]:1/v1', 'http://[::1]:1/v1'],
  ])('accepts %s', (text, href) => {
    expect(parseBaseUrl(text).href).toBe(href);
  });

  it.each([
    'http://app.example.com/api/v1',
    'http://127.0.0.1.example.com/v1',
    'http://localhost.example.com/v1',
    'http://10.0.0.1/v1',
    'ftp://app.example.com',
    'file:///etc/passwd',
    'app.example.com/api/v1',
    '',
    'https://user:hunter2hunter2@app.example.com/v1',
    'https://app.example.com/v1?k=hunter2hunter2',
    'https://app.example.com/v1#hunter2hunter2',
  ])('refuses %j and does not quote what it may hide', (text) => {
    const parse = () => parseBaseUrl(text);
    expect(parse).toThrow(expect.objectContaining({ code: 'CONFIGURATION', exitCode: 2 }) as Error);
    expect(parse).not.toThrow(/hunter2/);
  });
});

describe('parseApiKey', () => {
  it('gives the key that can go into a header', () => {
    expect(parseApiKey(new Secret('sk_live_0123'))).toBe('sk_live_0123');
  });

  it.each(['', 'sk_live\n', 'sk live', 'sk_läve', 'sk\r\nx-evil: 1'])('refuses %j without quoting it', (key) => {
    const parse = () => parseApiKey(new Secret(key));
    expect(parse).toThrow(/^api-key: The API key (?:is empty|has a space).*\(invalid-api-key\)$/);
    expect(parse).not.toThrow(/sk/);
  });
});

describe('buildUrl', () => {
  const baseUrl = new URL('https://h.example/api/v1');

  it('encodes every segment and leaves out what is undefined', () => {
    expect(buildUrl(baseUrl, ['projects', 'a/../b?c#d é'], { limit: 200, cursor: undefined }).href).toBe(
      'https://h.example/api/v1/projects/a%2F..%2Fb%3Fc%23d%20%C3%A9?limit=200',
    );
  });

  it('encodes a cursor, whatever it holds', () => {
    expect(buildUrl(baseUrl, ['x'], { cursor: 'a&limit=1#' }).search).toBe('?cursor=a%26limit%3D1%23');
  });

  it.each(['', '.', '..'])('refuses the id %j, which would name another place', (id) => {
    expect(() => buildUrl(baseUrl, ['projects', id, 'servers'])).toThrow(`${JSON.stringify(id)} cannot be an id.`);
  });

  it.each(['%2e%2e', '..;', 'a\\..\\b', '\ud800'])('keeps the id %j inside its segment', (id) => {
    expect(buildUrl(baseUrl, ['projects', id, 'servers']).pathname.split('/').length).toBe(6);
  });
});

describe('the rules of URLs', () => {
  it.each([
    ['http://127.0.0.1:1', true],
    ['http://127.9.8.7', true],
    ['http://127.1', true],
    ['http://[::1]:80', true],
    ['http://localhost', true],
    ['http://localhost.example', false],
    ['http://127.0.0.1.example', false],
    ['http://10.0.0.1', false],
  ])('takes %s for this machine: %s', (url, isHere) => {
    expect(isLoopback(new URL(url).hostname)).toBe(isHere);
    expect(isProtected(new URL(url))).toBe(isHere);
  });

  it.each([
    ['https://a.example', true],
    ['wss://a.example', true],
    ['ws://127.0.0.1', true],
    ['ws://a.example', false],
    ['ftp://127.0.0.1', false],
  ])('takes %s for protected: %s', (url, expected) => {
    expect(isProtected(new URL(url))).toBe(expected);
  });

  it.each(['https://u@a.example/p', 'https://:p@a.example', 'https://a.example/?q', 'https://a.example/#f'])(
    'finds more than a path in %s',
    (url) => expect(hasMoreThanPath(new URL(url))).toBe(!url.endsWith('?')),
  );

  it('finds no more than a path in a plain URL', () => {
    expect(hasMoreThanPath(new URL('https://a.example:1/p'))).toBe(false);
  });

  it.each([
    ['ghs_abc', true],
    ['', false],
    ['a b', false],
    ['a\nb', false],
    ['é', false],
  ])('takes %j for safe in a header: %s', (token, expected) => {
    expect(isHeaderSafe(token)).toBe(expected);
  });
});
