import { describe, expect, it } from 'vitest';
import { createTimeKeeper } from '../../src/capture/past-times.ts';
import { maskForms } from '../../src/explore/stability/forms.ts';

const keeps = createTimeKeeper(Date.parse('2026-11-27T12:00:00Z'));

describe('createTimeKeeper', () => {
  it.each([
    '1704067200',
    '1704067200000',
    '1704067200.25',
    '19:00:00',
    '7:00:00 PM',
    '2023-12-31',
    '2023-12-31 19:00:00',
    '2023-12-31T19:00:00.123Z',
    '2031-01-01',
    '12/31/2023',
    '26 Nov 2021',
    'Sunday, December 31, 2023',
    'Sun Dec 31 2023 19:00:00 GMT+0000 (UTC)',
  ])('keeps %s, which is not the present time', (text) => {
    expect(maskForms(`at ${text}`, keeps)).toBe(`at ${text}`);
  });

  it.each([
    '1796000000',
    '1796000000123',
    '2026-11-27',
    '2026-11-27T19:00:00Z',
    '2027-11-27',
    '27 Nov 2026',
    'November 27, 2026',
    'Friday',
    'yesterday',
    '4:32 PM',
    '2023-W48',
    'localhost:2023',
    'pid: 2020',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'v1.2.3',
  ])('does not keep %s', (text) => {
    expect(maskForms(`at ${text}`, keeps)).toBe('at {{any}}');
  });
});
