import type { BuildStep } from './find-server.ts';

/** The path of the workflow, in the directory that GitHub reads. */
export const workflowPath = '.github/workflows/evals.yml';

/** The server that the workflow and the first run test. */
export type ChosenServer =
  | { kind: 'command'; command: string }
  | { kind: 'url'; url: string }
  | { kind: 'config'; config: string };

/** The placeholder of the documentation. The person who copies the workflow knows the repository of the action. */
const action = 'your-org/mcp-eval-ci@v1';

const pins = {
  checkout: 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1',
  node: 'actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0',
  upload: 'actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0',
};

/**
 * Renders the workflow that gates pull requests on the evals: it builds the server as the repository does, runs the action and keeps the
 * report. Actions are pinned to commits. Python, Go, Rust and Docker come with GitHub's runner.
 */
export function renderWorkflow({
  server,
  steps,
  env = [],
  evals,
  surface,
}: {
  server: ChosenServer;
  steps: readonly BuildStep[];
  /** The lines of `server-env` that name the workspace. Others may be secrets. */
  env?: readonly string[];
  evals: string;
  surface: string | null;
}): string {
  const needsNode = steps.some(({ ecosystem }) => ecosystem === 'node');
  const lines = [
    '# Written by `mcp-eval-ci init`. Replace your-org by the owner of the repository that you take the action from.',
    'name: evals',
    '',
    'on: pull_request',
    '',
    'permissions:',
    '  contents: read',
    '',
    'concurrency:',
    '  group: evals-${{ github.ref }}',
    '  cancel-in-progress: true',
    '',
    'jobs:',
    '  evals:',
    '    runs-on: ubuntu-latest',
    '    timeout-minutes: 20',
    '    steps:',
    `      - uses: ${pins.checkout}`,
    '        with:',
    '          persist-credentials: false',
    ...(needsNode ? [`      - uses: ${pins.node}`, '        with:', '          node-version: 24'] : []),
    ...steps.map(({ run }) => `      - run: ${run}`),
    `      - uses: ${action}`,
    '        with:',
    ...listServerInputs(server).map(([name, value]) => `          ${name}: ${quote(value)}`),
    ...(env.length === 0 ? [] : ['          server-env: |', ...env.map((line) => `            ${line}`)]),
    ...(server.kind === 'url' ? [] : ['          enable-sandbox: true']),
    `          evals: ${quote(evals)}`,
    ...(surface === null ? [] : [`          surface: ${quote(surface)}`]),
    `      - uses: ${pins.upload}`,
    '        if: always()',
    '        with:',
    '          name: eval-report',
    '          path: mcp-eval-report',
  ];
  return `${lines.join('\n')}\n`;
}

/** Lists the inputs of the action, and flags of the command, for the server. */
export function listServerInputs(server: ChosenServer): Array<[name: string, value: string]> {
  switch (server.kind) {
    case 'command':
      return [['server-command', server.command]];
    case 'url':
      return [['server-url', server.url]];
    case 'config':
      return [['mcp-config', server.config]];
  }
}

/** Quotes a value unless YAML reads it as the same text without quotes. */
function quote(value: string): string {
  const isPlain = /^[\w./@][\w./@:=+# -]*$/.test(value) && !/: | #|:$|\s$/.test(value) && !/^[\d.]+$/.test(value);
  return isPlain ? value : `'${value.replaceAll("'", "''")}'`;
}
