import { describe, expect, it } from 'vitest';

import { parseMessage } from '../../../src/server/bridge/bridge-messages.ts';

describe('parseMessage', () => {
  it('distinguishes requests, notifications and responses', () => {
    expect(
      [
        '{"jsonrpc":"2.0","id":0,"method":"ping"}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":"a","result":{}}',
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}',
      ].map((json) => parseMessage(json)?.kind),
    ).toEqual(['request', 'notification', 'response', 'response']);
  });

  it.each([
    ['not JSON', 'Listening on port 3000'],
    ['a batch', '[{"jsonrpc":"2.0","id":0,"method":"ping"}]'],
    ['no version', '{"id":0,"method":"ping"}'],
    ['another version', '{"jsonrpc":"1.0","id":0,"method":"ping"}'],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['neither result nor error', '{"jsonrpc":"2.0","id":0}'],
    ['an error without a code', '{"jsonrpc":"2.0","id":0,"error":{}}'],
    ['null', 'null'],
  ])('refuses %s', (_what, json) => {
    expect(parseMessage(json)).toBeUndefined();
  });

  it('keeps the text but for line breaks, which would end the line it is sent on', () => {
    const json = '{\r\n  "jsonrpc": "2.0",\r  "id": 12345678901234567890,\n  "method": "a\\nb"\n}';
    expect(parseMessage(json)?.text).toBe(
      '{   "jsonrpc": "2.0",   "id": 12345678901234567890,   "method": "a\\nb" }'.replaceAll(/ {3}/g, '   '),
    );
    expect(parseMessage(json)?.text).not.toMatch(/[\r\n]/);
  });
});
