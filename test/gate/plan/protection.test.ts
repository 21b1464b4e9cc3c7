import { describe, expect, it } from 'vitest';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { startGitHubApi } from '../../support/github/github-api.ts';
import { jobToken } from '../../support/runner/github-job.ts';
import {
  commitFiles,
  createPullRequest,
  describePullRequest,
  type FileChange,
  type PullRequestCheckout,
  runGitIn,
} from '../../support/github/pull-request.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

type Files = Readonly<Record<string, FileChange>>;

async function planChange({ workspace, environment }: PullRequestCheckout, inputs: Record<string, string> = {}) {
  const texts = { 'server-command': 'node server.js', evals: 'evals/*.yaml', 'policy-ref': 'base', ...inputs };
  return await planGate(parseGateOptions(texts), { cwd: workspace.path, environment });
}

/** Lists the findings of the gate of a pull request, with its base and its own files. */
async function findIn(base: Files, head: Files, inputs: Record<string, string> = {}) {
  const pullRequest = await createPullRequest(base, head);
  await using _workspace = pullRequest.workspace;
  const { protectionFindings, policyNotes } = await planChange(pullRequest, inputs);
  return { findings: protectionFindings, notes: policyNotes, codes: protectionFindings.map(({ code }) => code) };
}

const other = greenEvals.replace('suite: Everything', 'suite: Other');
const limited = greenEvals
  .replace('suite: Everything', 'suite: Everything\ntimeout: 10s')
  .replace('title: Echoes a message', 'title: Echoes a message\n    tags: [smoke]\n    runs: 3');
const withPolicy = (policy: string, evals = greenEvals) => `${evals}policy: ${policy}\n`;
const entry = (expires: string) =>
  `quarantine: [{ suite: everything, case: echo, owner: "@alice", reason: Flaky., expires: ${expires} }]\n`;

const sure = '\npolicy: { minimumPassRate: 90%, confidence: 95% }\n';

describe('a change that lowers what its base requires', () => {
  it.each<[string, string, Files, Files, string]>([
    [
      'deletes an evals file',
      'suite-removed',
      { 'evals/a.yaml': greenEvals, 'evals/b.yaml': other },
      { 'evals/b.yaml': null },
      'The suite "Other" of main (main:evals/b.yaml) is gone in this pull request. Restore it with the id `other`, or let the policy file of main allow it, with a `protect` that leaves out `suites`.',
    ],
    [
      'renames a suite',
      'suite-removed',
      { 'evals/a.yaml': greenEvals },
      { 'evals/a.yaml': greenEvals.replace('suite: Everything', 'suite: Everything else') },
      'The suite "Everything" of main (main:evals/a.yaml) is gone in this pull request; evals/a.yaml has the id `everything-else` now. Restore it with the id `everything`',
    ],
    [
      'moves an evals file out of the pattern',
      'suite-removed',
      { 'evals/a.yaml': greenEvals, 'evals/b.yaml': other },
      { 'evals/b.yaml': null, 'evals/b.yml': other },
      'The suite "Other" of main (main:evals/b.yaml) is gone',
    ],
    [
      'gives a required case another id',
      'required-case-removed',
      { 'evals/a.yaml': greenEvals },
      { 'evals/a.yaml': greenEvals.replace('id: sum', 'id: sums') },
      'The case "Adds two numbers", which main requires (main:evals/a.yaml:9), is gone from evals/a.yaml; evals/a.yaml:9 has the id `sums` now. Restore it with the id `sum`',
    ],
    [
      'no longer requires a case',
      'required-case-removed',
      { 'evals/a.yaml': greenEvals },
      { 'evals/a.yaml': greenEvals.replace('    required: true\n', '') },
      'The case "Adds two numbers", which main requires (main:evals/a.yaml:9), is not required in this pull request. Keep it required',
    ],
    [
      'deletes a case that the policy file requires by its title',
      'required-case-removed',
      { 'evals/a.yaml': greenEvals, 'p.yaml': 'suites: { everything: { required: [Refuses letters] } }\n' },
      { 'evals/a.yaml': greenEvals.split('  - id: refusal')[0] ?? '' },
      'The case "Refuses letters", which main requires (main:p.yaml:1), is gone',
    ],
    [
      'raises a timeout',
      'requirement-lowered',
      { 'evals/a.yaml': limited },
      { 'evals/a.yaml': limited.replace('title: Echoes a message', 'title: Echoes a message\n    timeout: 60s') },
      'The timeout of the case "Echoes a message" (evals/a.yaml:6) is 1 min instead of 10 s in main. Restore it',
    ],
    [
      'raises the timeout of every case',
      'requirement-lowered',
      { 'evals/a.yaml': limited },
      { 'evals/a.yaml': limited.replace('timeout: 10s', 'timeout: 20s') },
      'The timeout of the case "Echoes a message" (evals/a.yaml:2) is 20 s instead of 10 s in main; 2 more cases likewise.',
    ],
    [
      'runs a case less often',
      'requirement-lowered',
      { 'evals/a.yaml': limited },
      { 'evals/a.yaml': limited.replace('runs: 3', 'runs: 1') },
      'The number of `runs` of the case "Echoes a message" (evals/a.yaml:4) is 1 instead of 3 in main.',
    ],
    [
      'makes a range of a number of runs',
      'requirement-lowered',
      { 'evals/a.yaml': `${limited}${sure}` },
      { 'evals/a.yaml': `${limited.replace('runs: 3', 'runs: { min: 3, max: 30 }')}${sure}` },
      'The number of `runs` of the case "Echoes a message" (evals/a.yaml:4) is 3 to 30 instead of 3 in main.',
    ],
    [
      'declares a case deterministic',
      'requirement-lowered',
      { 'evals/a.yaml': limited },
      { 'evals/a.yaml': limited.replace('runs: 3', 'deterministic: true') },
      'The value of `deterministic` of the case "Echoes a message" (evals/a.yaml:4) is true instead of false in main.',
    ],
    [
      'pins another revision of MCP',
      'requirement-lowered',
      { 'evals/a.yaml': `protocol: both\n${greenEvals}` },
      { 'evals/a.yaml': `protocol: "2025-11-25"\n${greenEvals}` },
      'The cases of evals/a.yaml run in `protocol: 2025-11-25` instead of `protocol: both` in main (main:evals/a.yaml:1). Restore it',
    ],
    [
      'lowers the minimum',
      'requirement-lowered',
      { 'evals/a.yaml': withPolicy('{ minimumPassRate: 90% }') },
      { 'evals/a.yaml': withPolicy('{ minimumPassRate: 80% }') },
      'This pull request changes the minimum pass rate of the suite "Everything" from 90% in main to 80% (from main:evals/a.yaml:23). Restore it',
    ],
    [
      'renames the suite of which the policy file requires more',
      'requirement-lowered',
      {
        'evals/a.yaml': withPolicy('{ minimumPassRate: 50% }', `id: math\n${greenEvals}`),
        'p.yaml': 'suites: { Everything: { minimumPassRate: 95% } }\n',
      },
      {
        'evals/a.yaml': withPolicy(
          '{ minimumPassRate: 50% }',
          `id: math\n${greenEvals.replace('suite: Everything', 'suite: Any')}`,
        ),
      },
      'This pull request changes the minimum pass rate of the suite "Any" from 95% in main to 50% (from main:p.yaml:1).',
    ],
    [
      'takes a tag off a case',
      'requirement-lowered',
      { 'evals/a.yaml': withPolicy('{ tags: { smoke: 100% } }', limited) },
      { 'evals/a.yaml': withPolicy('{}', limited.replace('tags: [smoke]', 'tags: [other]')) },
      'The case "Echoes a message" (evals/a.yaml:4) has lost the tag "smoke", of which main requires a pass rate (main:evals/a.yaml:26). Restore the tag',
    ],
    [
      'only reports failures',
      'requirement-lowered',
      { 'evals/a.yaml': greenEvals, 'p.yaml': 'confidence: 95%\nminimumPassRate: 90%\n' },
      { 'p.yaml': 'confidence: 95%\nminimumPassRate: 90%\nreportOnly: true\n' },
      'This pull request changes `reportOnly` of the suite "Everything" from false in main to true (the default).',
    ],
    [
      'brings a policy file that requires less than the evals files of the base',
      'requirement-lowered',
      { 'evals/a.yaml': greenEvals },
      { 'p.yaml': 'minimumPassRate: 10%\n' },
      'This pull request changes the minimum pass rate of the suite "Everything" from 100% in main to 10% (the default).',
    ],
    [
      'puts a case into quarantine',
      'quarantine-widened',
      { 'evals/a.yaml': greenEvals, 'p.yaml': 'confidence: 95%\nminimumPassRate: 90%\n' },
      { 'p.yaml': `confidence: 95%\nminimumPassRate: 90%\n${entry('2099-01-01')}` },
      'This pull request changes the quarantine of the case "echo" of the suite "Everything" from none in main to until 2099-01-01 (from p.yaml:3). Take that out',
    ],
    [
      'prolongs a quarantine',
      'quarantine-widened',
      { 'evals/a.yaml': greenEvals, 'p.yaml': entry('2099-01-01') },
      { 'p.yaml': entry('2099-02-01') },
      'from until 2099-01-01 in main to until 2099-02-01',
    ],
  ])('is a finding where it %s', async (_, code, base, head, message) => {
    const inputs: Record<string, string> = 'p.yaml' in base || 'p.yaml' in head ? { policy: 'p.yaml' } : {};
    const { findings, codes } = await findIn(base, head, inputs);
    expect(codes).toContain(code);
    expect(findings.map((finding) => finding.message).join('\n')).toContain(message);
  });

  it.each<[string, Files, Files]>([
    ['changes nothing', { 'evals/a.yaml': greenEvals }, {}],
    ['moves an evals file', { 'evals/a.yaml': greenEvals }, { 'evals/a.yaml': null, 'evals/z.yaml': greenEvals }],
    [
      'runs in a further revision of MCP',
      { 'evals/a.yaml': `protocol: "2025-11-25"\n${greenEvals}`, 'evals/b.yaml': other },
      { 'evals/a.yaml': `protocol: both\n${greenEvals}`, 'evals/b.yaml': `protocol: "2026-07-28"\n${other}` },
    ],
    ['adds a suite', { 'evals/a.yaml': greenEvals }, { 'evals/b.yaml': other }],
    [
      'requires more',
      {
        'evals/a.yaml': withPolicy('{ minimumPassRate: 80%, onNothingRun: warn }', limited),
        'p.yaml': entry('2099-01-01'),
      },
      {
        'evals/a.yaml': withPolicy(
          '{ minimumPassRate: 90% }',
          limited.replace('runs: 3', 'runs: 9\n    timeout: 1s\n    required: true'),
        ),
        'p.yaml': entry('2098-01-01'),
      },
    ],
    [
      'begins with evals',
      { 'README.md': '' },
      { 'evals/a.yaml': withPolicy('{ minimumPassRate: 1% }'), 'p.yaml': entry('2099-01-01') },
    ],
  ])('is none where it %s', async (_, base, head) => {
    const inputs: Record<string, string> = 'p.yaml' in base || 'p.yaml' in head ? { policy: 'p.yaml' } : {};
    expect((await findIn(base, head, inputs)).findings).toEqual([]);
  });

  it('names what reviewers should read where a case changes that may change', async () => {
    const changed = greenEvals.replace('"5"', '"6"').split('  - id: refusal')[0] ?? '';
    const { findings, notes } = await findIn({ 'evals/a.yaml': greenEvals }, { 'evals/a.yaml': changed });
    expect(findings).toEqual([]);
    expect(notes).toEqual([
      '1 case of main is gone from evals/a.yaml: "Refuses letters".',
      'The required case "Adds two numbers" (evals/a.yaml:9) is defined differently in main. Review its steps and assertions.',
    ]);
  });

  it('judges by the base all the same where the base allows the finding', async () => {
    const base = {
      'evals/a.yaml': withPolicy('{ minimumPassRate: 90% }'),
      'p.yaml': 'protect: [requiredCases, suites]\n',
    };
    const head = { 'evals/a.yaml': withPolicy('{ minimumPassRate: 80% }').replace('id: sum', 'id: sums') };
    const { codes, notes } = await findIn(base, head, { policy: 'p.yaml' });
    expect(codes).toEqual(['required-case-removed']);
    expect(notes).toContain(
      'This pull request changes the minimum pass rate of the suite "Everything" from 90% in main to 80% (from main:evals/a.yaml:23). The policy of main allows it.',
    );
  });

  it('reads `protect` from the base alone', async () => {
    const base = { 'evals/a.yaml': greenEvals, 'p.yaml': 'minimumPassRate: 100%\n' };
    const head = {
      'evals/a.yaml': greenEvals.replace('id: sum', 'id: sums'),
      'p.yaml': 'minimumPassRate: 100%\nprotect: []\n',
    };
    expect((await findIn(base, head, { policy: 'p.yaml' })).codes).toEqual(['required-case-removed']);
    const off = { ...base, 'p.yaml': 'minimumPassRate: 100%\nprotect: []\n' };
    expect((await findIn(off, head, { policy: 'p.yaml' })).codes).toEqual([]);
  });

  it.each([
    'evals/**/*.yaml',
    './evals/[ab].yaml',
    'evals/{a,b}.yaml',
    '**/*.yaml',
    '*/?.yaml',
    'evals/a.yaml\nevals/b.yaml',
  ])('finds a deleted file with the pattern %s', async (evals) => {
    const base = { 'evals/a.yaml': greenEvals, 'evals/b.yaml': other, 'node_modules/x/evals/c.yaml': 'no evals' };
    const { codes } = await findIn(
      base,
      { 'evals/b.yaml': null, 'evals/B/x.yaml': other.replace('Other', 'New') },
      { evals },
    ).catch((error: unknown) => ({ codes: [String(error)] }));
    // A missing file that is named directly is a problem of the inputs.
    expect(codes).toEqual([evals.includes('\n') ? expect.stringContaining('No file matches') : 'suite-removed']);
  });

  it('is none where the change only began before the base required more', async () => {
    await using workspace = await createWorkspace();
    runGitIn(workspace, 'init', '-q', '-b', 'main');
    await commitFiles(workspace, { 'evals/a.yaml': greenEvals });
    runGitIn(workspace, 'checkout', '-q', '-b', 'change');
    const lowered = withPolicy('{ minimumPassRate: 50% }');
    runGitIn(workspace, 'checkout', '-q', 'main');
    const sha = await commitFiles(workspace, {
      'evals/a.yaml': greenEvals.replace('id: echo', 'id: echo\n    required: true'),
      'evals/b.yaml': other,
    });
    const environment = await describePullRequest(workspace, sha);
    runGitIn(workspace, 'checkout', '-q', 'change');
    const plan = await planChange({ workspace, environment });
    expect(plan.protectionFindings).toEqual([]);
    expect(plan.policyNotes.join('\n')).toContain(
      'This pull request is behind main, which has changed since: The suite "Other"',
    );
    await commitFiles(workspace, { 'evals/a.yaml': lowered });
    const lowering = await planChange({ workspace, environment });
    expect(lowering.protectionFindings.map(({ code }) => code)).toEqual(['requirement-lowered']);
  });

  it('is found although a replacement in the checkout stands for the file of the base', async () => {
    const weak = greenEvals.replace('    required: true\n', '');
    const pullRequest = await createPullRequest({ 'evals/a.yaml': greenEvals }, { 'evals/a.yaml': weak });
    await using workspace = pullRequest.workspace;
    const [one, two] = ['HEAD:evals/a.yaml', ''].map((name) =>
      name === '' ? runGitIn(workspace, 'hash-object', '-w', 'evals/a.yaml') : runGitIn(workspace, 'rev-parse', name),
    );
    runGitIn(workspace, 'replace', one ?? '', two ?? '');
    expect(runGitIn(workspace, 'show', 'HEAD:evals/a.yaml')).not.toContain('required: true');
    const { protectionFindings } = await planChange(pullRequest);
    expect(protectionFindings.map(({ code }) => code)).toEqual(['required-case-removed']);
  });

  it.each<[string, Files, Record<string, string>, RegExp]>([
    [
      'an evals file that is a link',
      { 'real.yaml': greenEvals, 'evals/a.yaml': { link: '../real.yaml' } },
      {},
      /^main:evals\/a\.yaml: evals\/a\.yaml of main is a symbolic link, so `policy-ref: base` cannot judge by it\. Replace it with a regular file in main, or use `policy-ref: head` for this change \(base-file-unreadable\)$/,
    ],
    [
      'a directory that is a link',
      { 'real/a.yaml': greenEvals, evals: { link: 'real' } },
      {},
      /evals of main is a symbolic link/,
    ],
    [
      'a policy file that is a link',
      { 'evals/a.yaml': greenEvals, 'q.yaml': 'minimumPassRate: 100%\n', 'p.yaml': { link: 'q.yaml' } },
      { policy: 'p.yaml' },
      /^main:p\.yaml: p\.yaml of main is a symbolic link/,
    ],
    [
      'a file beyond any size',
      { 'evals/a.yaml': `${greenEvals}# ${'x'.repeat(3 * 1024 * 1024)}\n` },
      {},
      /evals\/a\.yaml of main cannot be read: it is larger than any evals file/,
    ],
    [
      'an evals file that is none',
      { 'evals/a.yaml': 'suite: [\n' },
      {},
      /^main:evals\/a\.yaml:.*evals\/a\.yaml of main is no valid evals file, so `policy-ref: base` cannot judge by it: .*\(base-file-invalid\)$/m,
    ],
  ])('cannot be judged where the base has %s', async (_, base, inputs, message) => {
    const head = {
      evals: null,
      'evals/a.yaml': greenEvals,
      ...('p.yaml' in base ? { 'p.yaml': 'minimumPassRate: 100%\n' } : {}),
    };
    const error: unknown = await findIn(base, head, inputs).catch((error: unknown) => error);
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });
});

describe('a change that lowers what its base requires, where git does not have the base', () => {
  const baseSha = 'b'.repeat(40);

  async function planRemote(files: Record<string, string>, modes: Record<string, string> = {}) {
    await using api = await startGitHubApi();
    api.files.set(baseSha, files);
    for (const [path, mode] of Object.entries(modes)) api.modes.set(path, mode);
    await using workspace = await createWorkspace({ 'server/evals/a.yaml': greenEvals });
    runGitIn(workspace, 'init', '-q');
    const environment = await describePullRequest(workspace, baseSha);
    const inputs = { 'server-command': 'x', evals: 'evals/*.yaml', 'policy-ref': 'base', 'github-token': jobToken };
    return await planGate(parseGateOptions(inputs), {
      cwd: `${workspace.path}/server`,
      environment: {
        ...environment,
        GITHUB_API_URL: api.url,
        GITHUB_REPOSITORY: 'your-org/your-server',
        GITHUB_WORKSPACE: workspace.path,
      },
    });
  }

  it('is a finding there, too', async () => {
    const files = { 'server/evals/a.yaml': greenEvals, 'server/evals/b.yaml': other, 'evals/c.yaml': other };
    const { protectionFindings } = await planRemote(files);
    expect(protectionFindings.map(({ code }) => code)).toEqual(['suite-removed']);
  });

  it('cannot be judged where a file is a link', async () => {
    const files = { 'server/evals/a.yaml': '../real.yaml' };
    await expect(planRemote(files, { 'server/evals/a.yaml': '120000' })).rejects.toThrow(
      /is a symbolic link.*base-file-unreadable/s,
    );
  });
});
