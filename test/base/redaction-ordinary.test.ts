import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createRedReport } from '../support/factories/report-factory.ts';

const tokens = [
  'sk_live_9fK2mQ7xW4bT1zR8cV5n',
  'ghs_4b7e0c9d2f8a5163b7e0c9d2f8a51634b7e',
  'github_pat_11ABCDEFG0x9Yz8Wv7Uu6Tt5Ss4Rr3',
  'sk-ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0-Fe',
  'ct_q8Zb1TtX2mJr5LwYc7NvKd3PfGh6SaUe9RiOoWlBnE',
  'k_u7Yt5Rr3Ee1Ww9Qq8Aa6Ss4Dd2Ff0Gg7Hh5Jj3Kk',
  '6f1d2c3b-4a59-4e87-9b0c-1d2e3f4a5b6c',
  'https://relay.example/t/abc123?k=u7Yt5Rr3Ee1Ww9Qq8Aa6',
  'postgres://app:p%40ss%2Fword@db.internal:5432/orders',
  'correct "horse" battery/staple',
];
/** Thirty of them, each of its own. */
const secrets = ['1', '2', '3'].flatMap((end) => tokens.map((token) => new Secret(`${token}${end}`)));

describe('a redactor that knows thirty secrets', () => {
  const redactor = createRedactor(secrets);
  const report = createRedReport();

  it.each([
    ['report.json', renderReportJson(report)],
    ['junit.xml', renderJunit(report)],
    ['summary', renderSummary(report)],
    ['terminal', renderTerminal(report, { color: true })],
  ])('leaves an ordinary %s as it is', (_, text) => {
    expect(text.length).toBeGreaterThan(500);
    expect(redactor.redact(text)).toBe(text);
  });

  it('leaves what tokens look like, and where they come from, as they are', () => {
    const text =
      'Keys begin with sk_live_, sk-ant-api03- or github_pat_; see https://relay.example/t/ and github_path. ' +
      'postgres://app:secret@db.internal:5432/orders · correct "horse" · 6f1d2c3b · k=u7Yt5Rr3 · commit 4b7e0c9d2f8a';
    expect(redactor.redact(text)).toBe(text);
  });
});
