import { describe, expect, it } from 'vitest';

import type { Finding } from '../../src/explore/exploration.ts';
import { waiveFindings } from '../../src/explore/findings/waive-findings.ts';
import { applyExploreDefaults } from '../../src/model/explore-policy.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';

const finding = (kind: string, tool: string | null): Finding => ({
  kind,
  severity: 'error',
  tool,
  message: 'it happens',
  session: [],
});

const readExplore = (text: string) => {
  const { policy, findings } = readPolicy(text, { file: 'policy.yml' });
  return { rules: applyExploreDefaults(policy?.gate.explore ?? null), issues: findings.map(({ message }) => message) };
};

describe('the policy of findings of the explorer', () => {
  it('waives the finding of a kind and tool, and lists waivers that no finding needs', () => {
    const { rules } = readExplore(`explore:
  waivers:
    - { kind: crash, tool: explode, reason: It is a demonstration. }
    - { kind: protocol, reason: The runtime prints a banner. }
    - { kind: hang, tool: explode, reason: It was slow. }
`);
    const findings = [finding('crash', 'explode'), finding('crash', 'other'), finding('protocol', null)];
    const waived = waiveFindings(findings, rules);
    expect(waived.findings.map((each) => each.waived)).toEqual([
      'It is a demonstration.',
      undefined,
      'The runtime prints a banner.',
    ]);
    expect(waived.unused).toEqual([{ kind: 'hang', tool: 'explode', reason: 'It was slow.', source: 'policy.yml:5' }]);
  });

  it('fails for findings of severity `error` by default, and as the file says', () => {
    const effects = ({ rules }: ReturnType<typeof readExplore>) =>
      [rules.error, rules.warning, rules.note].map(({ value }) => value);
    expect(effects(readExplore('minimumPassRate: 90%\n'))).toEqual(['fail', 'warn', 'allow']);
    expect(effects(readExplore('explore: { error: warn, warning: fail }\n'))).toEqual(['warn', 'fail', 'allow']);
  });

  it('needs a reason for each waiver', () => {
    const { issues } = readExplore('explore: { waivers: [{ kind: crash, tool: explode }] }\n');
    expect(issues).toEqual([expect.stringContaining('reason')]);
  });
});
