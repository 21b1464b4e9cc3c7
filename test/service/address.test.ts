import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import { buildUrl, parseApiKey, parseBaseUrl } from '../../src/service/address.ts';

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
