import { describe, expect, it } from 'vitest';
import { compareViews, findHostFindings, nameServers } from '../../src/hosts/compare-with-base.ts';
import type { HostsComparisonFinding } from '../../src/model/hosts-comparison.ts';
import { applyHostDefaults, recountHosts } from '../../src/model/hosts-policy.ts';
import type { Surface } from '../../src/model/surface.ts';
import { judgeHosts } from '../../src/verdict/judge-hosts.ts';
import { createSurface, findHost } from './find-host.ts';

const anything = { inputSchema: { type: 'object', properties: { anything: true } } };
const plain = createSurface([{ name: 'search' }, { name: 'list' }]);
const open = createSurface([{ name: 'search', ...anything }, { name: 'list' }]);

const serve = (surface: Surface, name = 'notes') => [{ name, surface }];

function compare(before: Surface, after: Surface, host: string): HostsComparisonFinding[] {
  return findHostFindings(serve(after), { against: 'base', before: serve(before) }).findings.filter(
    (finding) => finding.host === host,
  );
}
const pick = (findings: HostsComparisonFinding[]) =>
  findings.map(({ change, kind, tools }) => ({ change, kind, tools }));

describe('a change that a host drops tools for', () => {
  it('is worse, and says which tools the model no longer gets and why', () => {
    expect(compare(plain, open, 'gemini-cli')).toMatchObject([
      {
        id: 'gemini-cli.schemas.refused.dropped.search',
        change: 'worse',
        kind: 'dropped',
        tools: ['search', 'list'],
        message:
          'This change makes `search`, `list` invisible in Gemini CLI 0.61.0, which drops all tools of the server, because a property has the schema `true` (in search)',
        reason: 'Measured with 0.61.0, 2026-11-24.',
        doubt: null,
      },
    ]);
  });

  it('is nothing in a host that accepts the schema', () => {
    expect(compare(plain, open, 'claude-code')).toEqual([]);
  });

  it('is the same if the base has it, also in another tool', () => {
    const other = createSurface([{ name: 'search' }, { name: 'list', ...anything }]);
    expect(pick(compare(other, open, 'gemini-cli'))).toEqual([
      { change: 'same', kind: 'dropped', tools: ['search', 'list'] },
    ]);
  });

  it('is better the other way round, and finds nothing else worse in tools that are visible again', () => {
    const fixed = createSurface([{ name: 'search', outputSchema: { type: 'object' } }, { name: 'list' }]);
    expect(pick(compare(open, fixed, 'gemini-cli'))).toEqual([
      { change: 'same', kind: 'lost', tools: ['search'] },
      { change: 'better', kind: 'dropped', tools: ['search', 'list'] },
    ]);
  });

  it('drops only the new tool if only its name is too long', () => {
    const long = 'a'.repeat(70);
    const found = compare(plain, createSurface([{ name: 'search' }, { name: 'list' }, { name: long }]), 'cursor');
    expect(pick(found)).toEqual([{ change: 'worse', kind: 'dropped', tools: [long] }]);
    expect(found[0]?.doubt).toContain('was not measured');
  });
});

describe('other changes', () => {
  const described = (length: number) => createSurface([{ name: 'search', description: 'x'.repeat(length) }]);
  const limit = { ...findHost('claude-code'), tools: {} };

  it('are worse if a description passes the limit, and the same if it was longer before', () => {
    const changes = (before: number, after: number) =>
      compareViews(limit, { before: serve(described(before)), after: serve(described(after)), against: 'base' });
    expect(changes(4096, 4097).worse).toMatchObject([{ kind: 'cut', tool: 'search' }]);
    expect(changes(4096, 4096).worse).toEqual([]);
    expect(changes(4097, 9000)).toMatchObject({ worse: [], same: [{ kind: 'cut' }] });
    expect(changes(4097, 4096)).toMatchObject({ worse: [], better: [{ kind: 'cut', tool: 'search' }] });
  });

  it('are not better if the tool is gone', () => {
    const none = compareViews(limit, { before: serve(described(5000)), after: serve(plain), against: 'base' });
    expect(none.better.filter(({ tool }) => tool === 'search')).toMatchObject([{ kind: 'cut' }]);
    const gone = createSurface([{ name: 'list' }]);
    expect(compareViews(limit, { before: serve(described(5000)), after: serve(gone), against: 'base' }).better).toEqual(
      [],
    );
  });

  it('name the instructions of one of several servers', () => {
    const quiet = { name: 'quiet', surface: plain };
    const loud = (text?: string) => ({ name: 'loud', surface: createSurface([], text) });
    const spoke = { name: 'quiet', surface: createSurface([{ name: 'search' }], 'Search first.') };
    const worse = (before: typeof quiet, after: typeof quiet) =>
      compareViews(findHost('copilot-cli'), {
        before: [before, loud('Hello.')],
        after: [after, loud('Hello.')],
        against: 'base',
      }).worse;
    expect(worse(quiet, spoke)).toMatchObject([{ kind: 'never-shown', server: 'quiet' }]);
    expect(worse(spoke, spoke)).toEqual([]);
    const codex = (before: string, after?: string) =>
      compareViews(findHost('codex'), {
        before: serve(createSurface([], before)),
        after: serve(createSurface([], after)),
        against: 'base',
      }).better;
    expect(codex('x'.repeat(300), 'x'.repeat(200))).toMatchObject([{ kind: 'cut', server: 'notes' }]);
    expect(codex('x'.repeat(300))).toEqual([]);
  });

  it('leave out what a host does to most tools of all servers', () => {
    const bounds = { inputSchema: { type: 'object', properties: { limit: { type: 'integer', minimum: 1 } } } };
    const after = createSurface([{ name: 'files.search', ...bounds }, { name: 'list' }]);
    expect(compare(plain, after, 'codex')).toEqual([]);
    expect(compare(createSurface([]), plain, 'qwen-code')).toEqual([]);
  });
});

describe('findings without a base', () => {
  it('say nothing of a change', () => {
    const { findings, against } = findHostFindings(nameServers({ default: open }), { before: null, against: null });
    expect(against).toBeNull();
    expect(findings.filter(({ host }) => host === 'opencode')).toMatchObject([
      {
        change: null,
        message:
          'opencode 1.18.33 never shows `search`, `list`: it drops all tools of the server, because a property has the schema `true` (in search)',
      },
    ]);
  });
});

describe('the policy', () => {
  const rule = (value: 'fail' | 'review' | 'off') => ({ value, source: 'policy.yaml:2' });
  const judge = (
    rules: Partial<Record<'gemini-cli' | 'codex' | 'cursor' | 'claude-code', 'fail' | 'review' | 'off'>>,
    after = open,
    before: Surface | null = plain,
  ) => {
    const policy = {
      ...applyHostDefaults(null),
      ...Object.fromEntries(Object.entries(rules).map(([id, value]) => [id, rule(value)])),
    };
    const found = findHostFindings(
      serve(after),
      before === null ? { before: null, against: null } : { before: serve(before), against: 'base' },
    );
    const counted = recountHosts(found, policy);
    return { ...judgeHosts(counted, policy), counted };
  };

  it('fails what it says to fail, and warns of what it says to review', () => {
    const failed = judge({ 'gemini-cli': 'fail' });
    expect(failed.reasons).toEqual([
      {
        code: 'hosts-worse',
        message:
          'This change makes `search`, `list` invisible in Gemini CLI 0.61.0, which drops all tools of the server, because a property has the schema `true` (in search) (hosts.gemini-cli: fail, from policy.yaml:2).',
      },
    ]);
    expect(failed.warnings).toEqual([]);
    const reviewed = judge({ 'gemini-cli': 'review' });
    expect(reviewed.reasons).toEqual([]);
    expect(reviewed.warnings).toHaveLength(1);
  });

  it('shows nothing of other hosts', () => {
    const { counted, reasons, warnings } = judge({ 'claude-code': 'fail' });
    expect([reasons, warnings]).toEqual([[], []]);
    expect(new Set(counted.findings.map(({ disposition }) => disposition))).toEqual(new Set(['off']));
  });

  it('fails nothing that the base has, and nothing without a base', () => {
    expect(judge({ 'gemini-cli': 'fail' }, open, open)).toMatchObject({ reasons: [], warnings: [] });
    const alone = judge({ 'gemini-cli': 'fail' }, open, null);
    expect(alone).toMatchObject({ reasons: [], warnings: [] });
    const dispositions = alone.counted.findings.flatMap(({ host, disposition }) =>
      host === 'gemini-cli' ? [disposition] : [],
    );
    expect(dispositions).toEqual(['note']);
  });

  it('fails nothing that was not measured, and says so', () => {
    const { reasons, warnings } = judge({ cursor: 'fail' }, createSurface([{ name: 'a'.repeat(70) }]));
    expect(reasons).toEqual([]);
    expect(warnings.join('\n')).toContain(
      '(hosts.cursor: fail, from policy.yaml:2). It does not fail the verdict. The fact was not measured; it is from https://',
    );
  });

  it('fails nothing that holds for some models only, and says for which', () => {
    const [before, after] = [createSurface([], 'x'.repeat(200)), createSurface([], 'x'.repeat(300))];
    const { reasons, warnings } = judge({ codex: 'fail' }, after, before);
    expect(reasons).toEqual([]);
    expect(warnings.join()).toContain('It does not fail the verdict. The fact holds only for models that Codex knows.');
    const long = createSurface([], 'x'.repeat(5000));
    expect(judge({ 'claude-code': 'fail' }, long, before).reasons).toMatchObject([{ code: 'hosts-worse' }]);
  });

  it('says that the surface is not known if a host may fail', () => {
    const unread = { against: null, unread: 'it took too long.', findings: [] };
    const policy = { ...applyHostDefaults(null), codex: rule('fail') };
    expect(judgeHosts(unread, policy).reasons).toMatchObject([{ code: 'surface-unread' }]);
    expect(judgeHosts(unread, applyHostDefaults(null)).reasons).toEqual([]);
  });
});
