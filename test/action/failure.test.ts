import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createJobLogger, describeFailure } from '../../src/action/action-logger.ts';
import { ConfigurationError } from '../../src/base/errors.ts';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { captureOutput } from '../support/process/captured-output.ts';
import { findEncodedLeaks, findRemnants } from '../support/text/leak-forms.ts';

const secret = 'k_9f"K2m<Q7>xW4&bT1/zR8+c';
const url = `wss://relay.example:99999/?k=${secret}`;

/** Ways to fail in which Node and the libraries quote what they were given. */
const probes: Record<string, () => unknown> = {
  'a URL that is none': () => new URL(url),
  'a WebSocket to a URL that is none': () => new WebSocket(url),
  'a header that fetch refuses': () =>
    fetch('http://127.0.0.1:9', { headers: { authorization: `Bearer ${secret}\0` } }),
  'a URL that fetch refuses': () => fetch(`https://user:${encodeURIComponent(secret)}@relay.example/`),
  'JSON that is none': () => JSON.parse(secret),
  'a file that is not there': () => readFile(`/none/${secret}`),
  'a process that is not there': () => {
    throw spawnSync(`/none/${secret}`, [secret]).error;
  },
  'a shape of another kind': () => z.strictObject({}).parse({ [secret]: 1 }),
  'a pattern that is none': () => new RegExp(`(${secret}`),
  'a cause': () => {
    throw new Error('outer', { cause: new AggregateError([new Error(secret)], '') });
  },
  'a finding': () => {
    throw new ConfigurationError([{ input: 'x', code: 'y', message: secret }], { hint: secret });
  },
  'something that is no error': () => {
    throw secret;
  },
};

describe('a failure that is written to the log', () => {
  const logger = createJobLogger(createRedactor([new Secret(secret)]));

  it.each(Object.entries(probes))('such as %s says nothing of a secret', async (_, fail) => {
    const thrown: unknown = await (async () => await fail())().then(
      () => expect.fail('It did not fail.'),
      (error: unknown) => error,
    );
    const raw = inspect(thrown, { depth: 9, compact: true }) + String(thrown);
    const leaks = [...findEncodedLeaks({ secret }, { raw }), ...findRemnants({ secret }, { raw })];
    expect(leaks).not.toEqual([]);
    const output = await captureOutput(() => {
      logger.error(describeFailure(thrown));
      logger.warning(describeFailure(thrown));
    });
    expect(output).toContain('Error: ');
    expect(findEncodedLeaks({ secret }, { output })).toEqual([]);
    expect(findRemnants({ secret }, { output })).toEqual([]);
  });
});
