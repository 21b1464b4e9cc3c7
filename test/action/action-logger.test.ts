import { describe, expect, it } from 'vitest';
import { createJobLogger } from '../../src/action/action-logger.ts';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { captureOutput } from '../support/process/captured-output.ts';
import { hostileTexts } from '../support/text/hostile-text.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';

const logger = createJobLogger(createRedactor([new Secret('canary-secret')]));

function listCommands(output: string): string[] {
  return output.split(/\r\n|\r|\n/).flatMap((line) => parseRunnerLine(line)?.command ?? []);
}

describe('createJobLogger', () => {
  it('prints lines of information as they are, and errors without an annotation', async () => {
    expect(await captureOutput(() => logger.info('one\ntwo'))).toBe('one\ntwo\n');
    expect(await captureOutput(() => logger.error('it broke'))).toBe('Error: it broke\n');
  });

  it('annotates a warning, the whole text in one command', async () => {
    const output = await captureOutput(() => logger.warning('first\nsecond ::error::x'));
    expect(parseRunnerLine(output.trimEnd())).toEqual({
      command: 'warning',
      properties: {},
      data: 'first\nsecond ::error::x',
    });
  });

  it('folds a group, whatever its lines say', async () => {
    const output = await captureOutput(() => logger.group('Last lines', hostileTexts));
    expect(listCommands(output)).toEqual(['group', 'endgroup']);
  });

  it('escapes text that looks like a command', async () => {
    const output = await captureOutput(() => {
      for (const text of hostileTexts) {
        logger.info(text);
        logger.error(text);
      }
    });
    expect(listCommands(output)).toEqual([]);
  });

  it('logs debug lines only if debug logging is on', async () => {
    expect(await captureOutput(() => logger.debug('tried'))).toBe('');
    process.env['RUNNER_DEBUG'] = '1';
    try {
      expect(await captureOutput(() => logger.debug('tried'))).toBe('tried\n');
    } finally {
      delete process.env['RUNNER_DEBUG'];
    }
  });

  it('takes secrets out of everything', async () => {
    const output = await captureOutput(() => {
      for (const level of ['info', 'warning', 'error'] as const) logger[level]('a canary-secret b');
      logger.group('canary-secret', ['canary-secret']);
    });
    expect(output).not.toContain('canary');
    expect(output.match(/\*\*\*/g)).toHaveLength(5);
  });
});
