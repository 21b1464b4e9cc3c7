import type { Rule } from '../src/model/rules/define-rule.ts';
import type { RuleSection } from '../src/model/rules/layers.ts';

/** Lists all rules as a policy file writes them, each with what its definition says. */
export function renderRuleList(rules: readonly Rule[], sections: readonly RuleSection[]): string {
  const everywhere = rules.filter(({ scope }) => scope !== 'suite');
  const single = rules.filter(({ scope, docs }) => scope === 'suite' && docs !== undefined);
  const bySection = Map.groupBy(everywhere, ({ path }) => path.split('.')[0] ?? '');
  const lines = [...bySection].flatMap(([name, members]) => {
    const docs = sections.find((section) => section.name === name)?.docs;
    if (docs !== undefined) return [`${name}: ${docs}`];
    const keys = members.map(renderRule);
    return members[0]?.path === name ? keys : [`${name}:`, ...keys.map((line) => `  ${line}`)];
  });
  return [
    '```yaml',
    '# yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/policy.schema.json',
    ...lines,
    ...quarantine,
    'suites:',
    '  everything: # id or name',
    '    minimumPassRate: 95%',
    ...single.map((rule) => `    ${renderRule(rule)}`),
    'protect: [requiredCases, suites, minima] # with policy-ref: base; by default everything',
    '```',
  ].join('\n');
}

function renderRule({ path, docs }: Rule): string {
  if (docs === undefined) throw new TypeError(`${path} has no line for the list of rules.`);
  return `${path.split('.').at(-1)}: ${docs}`;
}

const quarantine = [
  'quarantine:',
  '  - suite: everything # id or name',
  '    case: sum # id or title; the id where two cases share a title',
  "    owner: '@alice'",
  '    reason: Flaky since the parser was replaced.',
  '    expires: 2026-12-31',
];
