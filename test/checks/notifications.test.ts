import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/checks/evidence.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import type { Notification } from '../../src/model/notification.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';

const progress = (
  value: number,
  more: { toolName?: string; toolCallId?: string; message?: string } = {},
): Notification => ({
  atMs: 0,
  kind: 'progress',
  progress: value,
  total: 4,
  message: more.message ?? null,
  toolCallId: more.toolCallId ?? 'call_1',
  toolName: more.toolName ?? 'brew',
});
const log = (level: 'debug' | 'warning', data: unknown, logger: string | null = null): Notification => ({
  atMs: 0,
  kind: 'log',
  level,
  logger,
  data,
});

function having(entries: Notification[], dropped = 0): Evidence {
  return createEvidence({ notifications: { entries, dropped } });
}

async function judge(check: Record<string, unknown>, evidence: Evidence): Promise<[string, string]> {
  const { state, reason } = await judgeAssertion(check, evidence);
  return [state, reason];
}

describe('progressReported', () => {
  const type = 'progressReported';

  it('passes on one report, and fails without any', async () => {
    expect(await judge({ type }, having([progress(1)]))).toEqual([
      'passed',
      'progressReported: the server reported progress once, the latest 1 of 4.',
    ]);
    expect(await judge({ type }, having([]))).toEqual(['failed', 'progressReported: the server reported no progress.']);
  });

  it('counts the reports of one tool, whose message contains the text', async () => {
    const reports = having([
      progress(1, { message: 'Boiling' }),
      progress(2, { message: 'Steeping' }),
      progress(1, { toolName: 'pour', toolCallId: 'call_2', message: 'Boiling over' }),
    ]);
    expect((await judge({ type, minCount: 2, toolName: 'brew' }, reports))[0]).toBe('passed');
    expect((await judge({ type, message: 'steep', toolName: 'brew' }, reports))[0]).toBe('passed');
    expect(await judge({ type, message: 'boiling', toolName: 'brew', minCount: 2 }, reports)).toEqual([
      'failed',
      'progressReported: brew reported progress once with a message that contains "boiling", the latest 2 of 4 ("Steeping"); expected at least 2 times.',
    ]);
  });

  it('fails on progress of one call that does not increase, and compares no two calls', async () => {
    const error =
      'progressReported: brew reported progress 2 after 2; every report must be higher than the one before it.';
    expect(await judge({ type }, having([progress(1), progress(2), progress(2)]))).toEqual(['failed', error]);
    expect((await judge({ type }, having([progress(2), progress(1, { toolCallId: 'call_2' })])))[0]).toBe('passed');
  });
});

describe('logged', () => {
  const type = 'logged';

  it('compares level, text and logger with one message', async () => {
    const messages = having([log('debug', { water: 'hot' }), log('warning', 'No tea left', 'pantry')]);
    expect((await judge({ type, contains: 'HOT' }, messages))[0]).toBe('passed');
    expect(await judge({ type, level: 'notice', contains: 'tea', logger: 'pantry' }, messages)).toEqual([
      'passed',
      'logged: the server logged "No tea left" (warning, pantry).',
    ]);
    expect(await judge({ type, level: 'error' }, messages)).toEqual([
      'failed',
      'logged: the server logged 2 messages, the latest "No tea left" (warning, pantry); expected one of level error or above.',
    ]);
    expect((await judge({ type, contains: 'hot', logger: 'pantry' }, messages))[0]).toBe('failed');
  });

  it('passes under `not` where no such message came', async () => {
    const check = { type: 'not', assertion: { type, level: 'error' } };
    expect((await judge(check, having([log('warning', 'low')])))[0]).toBe('passed');
    expect(
      (await judge({ type: 'not', assertion: { type, level: 'warning' } }, having([log('warning', 'low')])))[0],
    ).toBe('failed');
  });
});

describe('listChanged', () => {
  it('passes on a change of that list alone', async () => {
    const changed = having([{ atMs: 0, kind: 'listChanged', of: 'tools' }]);
    expect((await judge({ type: 'listChanged', of: 'tools' }, changed))[0]).toBe('passed');
    expect(await judge({ type: 'listChanged', of: 'prompts' }, changed)).toEqual([
      'failed',
      'listChanged: the server reported no change of its prompts.',
    ]);
  });
});

describe('a check of notifications', () => {
  it.each([{ type: 'progressReported' }, { type: 'logged' }, { type: 'listChanged', of: 'tools' }])(
    'is not measured where none were captured, or where more came than were kept: %j',
    async (check) => {
      expect((await judge(check, createEvidence({ notifications: null })))[0]).toBe('unmeasured');
      expect((await judge(check, having([], 3)))[0]).toBe('unmeasured');
      expect((await judge({ type: 'not', assertion: check }, having([], 3)))[0]).toBe('unmeasured');
    },
  );

  it('refuses a level and a list that do not exist', async () => {
    expect((await judge({ type: 'logged', level: 'loud' }, having([])))[1]).toContain('malformed');
    expect((await judge({ type: 'listChanged', of: 'notes' }, having([])))[1]).toContain('malformed');
  });
});
