import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { createPullRequest, type FileChange, runGitIn } from '../support/github/pull-request.ts';
import type { Workspace } from '../support/workspace.ts';
import type { Attack, AttackResult } from './attack.ts';
import { forgeObject, plantKey, programKeys, promiseObject, writeMarker } from './repository-attacks.ts';

type Files = Readonly<Record<string, FileChange>>;

export interface PullRequestAttack extends Attack {
  attacker: 'pull-request';
  base: Files;
  head: Files;
  /** Inputs of the gate in addition to the usual ones. */
  inputs?: Readonly<Record<string, string>>;
  /** Makes further changes to the repository. */
  prepare?: (workspace: Workspace) => void;
}

/** The answer of the server is only `blue`, so that the case required by the base fails, and an honest gate with it. */
const says = 'blue';
const suite = writeSayingCases('Says', ['red', 'blue']);
const evals = suite.replace('- id: red', '- id: red\n    required: true\n    runs: 2');
const policy = 'minimumPassRate: 100%\n';
const base: Files = {
  'evals/a.yaml': evals,
  'p.yaml': policy,
  'other/x.yaml': suite.replace('suite: Says', 'suite: Other'),
};
const onlyBlue = writeSayingCases('Says', ['blue']);

const changes: Array<[string, Files, PullRequestAttack['prepare']?]> = [
  ['changes nothing', {}],
  ['deletes the required case', { 'evals/a.yaml': onlyBlue }],
  ['no longer requires the case', { 'evals/a.yaml': suite }],
  ['gives the case another id', { 'evals/a.yaml': onlyBlue.replace('- id: blue', '- id: blues') }],
  [
    'gives the case the id of another one',
    { 'evals/a.yaml': onlyBlue.replace('- id: blue', '- id: red') + onlyBlue.split('cases:\n')[1] },
  ],
  ['gives the case an id that looks the same', { 'evals/a.yaml': onlyBlue.replace('- id: blue', '- id: r\u0435d') }],
  [
    'moves the file out of the pattern',
    { 'evals/a.yaml': null, 'old/a.yaml': evals, 'evals/b.yaml': writeSayingCases('New', ['blue']) },
  ],
  ['replaces the file by a link', { 'evals/a.yaml': { link: '../new.yaml' }, 'new.yaml': onlyBlue }],
  ['replaces the directory by a link', { evals: { link: 'new' }, 'new/a.yaml': onlyBlue }],
  ['links out of the checkout', { 'evals/a.yaml': { link: '/etc/hostname' } }],
  ['links into .git', { 'evals/a.yaml': { link: '../.git/config' } }],
  ['replaces the file by a directory', { 'evals/a.yaml': null, 'evals/a.yaml/b.yaml': onlyBlue }],
  ['runs the case less often', { 'evals/a.yaml': evals.replace('runs: 2', 'runs: 1') }],
  ['sets a lower minimum', { 'p.yaml': 'minimumPassRate: 10%\n', 'evals/a.yaml': suite }],
  ['sets a lower minimum in the evals file', { 'evals/a.yaml': `${suite}policy: { minimumPassRate: 1% }\n` }],
  ['only reports failures', { 'p.yaml': `${policy}reportOnly: true\n` }],
  [
    'lets inconclusive verdicts pass',
    { 'p.yaml': `${policy}onInconclusive: pass\nonNothingRun: pass\n`, 'evals/a.yaml': null, 'evals/b.yaml': onlyBlue },
  ],
  ['protects nothing', { 'p.yaml': `${policy}protect: []\n`, 'evals/a.yaml': suite }],
  [
    'puts the case into quarantine',
    { 'p.yaml': `${policy}quarantine: [{ suite: says, case: red, owner: "@a", reason: x, expires: 2099-01-01 }]\n` },
  ],
  ['deletes the policy', { 'p.yaml': null }],
  ['writes a key twice', { 'evals/a.yaml': evals.replace('required: true', 'required: true\n    required: false') }],
  ['writes keys of prototypes', { 'p.yaml': `${policy}__proto__: { reportOnly: true }\n` }],
  [
    'merges an anchor into the case',
    { 'evals/a.yaml': evals.replace('    required: true', '    <<: { required: false }\n    required: true') },
  ],
  ['writes two documents', { 'evals/a.yaml': `${evals}---\n${onlyBlue}` }],
  [
    'replaces the file of the base in its own repository',
    { 'evals/a.yaml': onlyBlue },
    (workspace) => {
      const own = runGitIn(workspace, 'hash-object', '-w', 'evals/a.yaml');
      runGitIn(workspace, 'replace', runGitIn(workspace, 'rev-parse', 'HEAD:evals/a.yaml'), own);
    },
  ],
  [
    'replaces the commit of the base',
    { 'evals/a.yaml': onlyBlue },
    (workspace) => {
      const baseCommit = runGitIn(workspace, 'rev-parse', 'HEAD');
      runGitIn(workspace, 'add', '-A');
      runGitIn(workspace, 'commit', '-q', '-m', 'change');
      runGitIn(workspace, 'replace', '-f', baseCommit, runGitIn(workspace, 'rev-parse', 'HEAD'));
    },
  ],
  [
    'moves the branch of the base',
    { 'evals/a.yaml': onlyBlue },
    (workspace) => {
      runGitIn(workspace, 'add', '-A');
      runGitIn(workspace, 'commit', '-q', '-m', 'change');
      runGitIn(workspace, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    },
  ],
  [
    'forges the evals file of the base in the store of git',
    { 'evals/a.yaml': onlyBlue },
    (workspace) =>
      forgeObject(workspace, runGitIn(workspace, 'rev-parse', 'HEAD:evals/a.yaml'), 'blob', Buffer.from(onlyBlue)),
  ],
  [
    'has a remote promise the policy of the base',
    { 'p.yaml': 'minimumPassRate: 10%\n', 'evals/a.yaml': suite },
    (workspace) =>
      promiseObject(workspace, runGitIn(workspace, 'rev-parse', 'HEAD:p.yaml'), writeMarker(workspace).program),
  ],
  [
    'names a program in the configuration of git',
    { 'evals/a.yaml': onlyBlue },
    (workspace) => {
      const { program } = writeMarker(workspace);
      for (const key of programKeys) plantKey(workspace, key, program);
    },
  ],
];

const tag = (text: string) => text.replaceAll('    title:', '    tags: [smoke]\n    title:');
const untag = (text: string) => text.replace('    tags: [smoke]\n', '');
const tagged = tag(evals);
const entry = 'quarantine: [{ suite: says, case: old, owner: "@a", reason: x, expires: 2099-01-01 }]\n';
const shelved = writeSayingCases('Says', ['old', 'red', 'blue']);
const bothRevisions = `protocol: both\n${onlyBlue}`;

/** Changes of a suite that would make the gate run fewer cases than the base requires, some with a workflow that selects cases. */
const selections: Array<[string, { before: string; file?: string; after: string; inputs?: Record<string, string> }]> = [
  ['takes the tag off the case', { before: tagged, after: untag(tagged), inputs: { tags: 'smoke' } }],
  [
    'takes the tag off the case and no longer requires it',
    { before: tagged, after: untag(tag(suite)), inputs: { tags: 'smoke' } },
  ],
  [
    'gives the case another title',
    { before: evals, after: evals.replace('Says red', 'Red'), inputs: { cases: 'Says *' } },
  ],
  [
    'renames the suite of the tag',
    { before: tagged, after: untag(tagged).replace('suite: Says', 'suite: Said'), inputs: { tags: 'smoke' } },
  ],
  [
    'renames the case of the tag',
    { before: tagged, after: untag(tagged).replace('id: red', 'id: rot'), inputs: { tags: 'smoke' } },
  ],
  [
    'gives a failing case the id of one in quarantine',
    {
      before: shelved,
      file: `${policy}${entry}`,
      after: shelved.replace(/  - id: old[^]*?(?=  - id)/, '').replace('- id: red', '- id: old'),
    },
  ],
  [
    'gives a failing case the name of a quarantine whose case is gone',
    { before: suite, file: `${policy}${entry}`, after: suite.replace('- id: red', '- id: old') },
  ],
  [
    'runs in the one revision of MCP that works',
    { before: bothRevisions, after: bothRevisions.replace('both', '"2026-07-28"') },
  ],
  [
    'renames a suite that may be renamed, without its required case',
    { before: evals, file: 'protect: [requiredCases]\n', after: onlyBlue.replace('suite: Says', 'suite: Said') },
  ],
];

export const pullRequestAttacks: readonly PullRequestAttack[] = [
  ...changes.map(([name, head, prepare]) => ({
    name,
    class: 'base policy',
    attacker: 'pull-request' as const,
    deserves: 'failed' as const,
    base,
    head,
    ...(prepare === undefined ? {} : { prepare }),
  })),
  ...selections.map(([name, { before, file = policy, after, inputs = {} }]) => ({
    name,
    class: 'base selection',
    attacker: 'pull-request' as const,
    deserves: 'failed' as const,
    base: { 'evals/a.yaml': before, 'p.yaml': file },
    head: { 'evals/a.yaml': after },
    inputs,
  })),
];

/** Runs the gate of the change with the policy of its base. A gate that refuses to run has not passed. */
export async function runPullRequestAttack(attack: PullRequestAttack): Promise<AttackResult> {
  const { workspace, environment } = await createPullRequest(attack.base, attack.head);
  await using _workspace = workspace;
  attack.prepare?.(workspace);
  const inputs = { evals: 'evals/*.yaml', policy: 'p.yaml', 'policy-ref': 'base', sandbox: 'off', ...attack.inputs };
  const found = await runEmbeddedGate(workspace, inputs, { says, environment }).then(
    ({ exitCode }) => `exit code ${exitCode}`,
    (error: unknown) =>
      error instanceof Error && 'exitCode' in error ? `exit code ${String(error.exitCode)}` : `threw ${String(error)}`,
  );
  const isRight = ['exit code 1', 'exit code 2', 'exit code 3'].includes(found);
  const hasRun = existsSync(join(workspace.path, '.git/marker'));
  return { attack, found, problems: [...(isRight ? [] : [found]), ...(hasRun ? ['ran a program'] : [])] };
}
