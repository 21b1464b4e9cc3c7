import { findFreePort } from '../../support/network/free-port.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import { oauthClient, startOAuthServer } from '../../support/servers/oauth-server.ts';
import { createWorkspace } from '../../support/workspace.ts';
import type { LanguageServer } from './build.ts';

type CaseOutcome = 'passed' | 'failed' | 'unscored';

/** A case as the evals file has it, its outcome in each revision of MCP, and what its reason says unless it passes. */
interface LanguageCase {
  id: string;
  isOffering?: readonly unknown[];
  steps: readonly unknown[];
  outcome: CaseOutcome;
  mentions?: string;
}

const add = { toolCall: 'add', arguments: { a: 2, b: 3 } };
const greet = { toolCall: 'greet' };
const contains = (text: string) => ({ assert: { toolResultContains: text } });
const ada = { accept: { name: 'Ada' } };

const passing: readonly LanguageCase[] = [
  { id: 'adds', steps: [add, contains('5')], outcome: 'passed' },
  {
    id: 'greets',
    isOffering: [ada],
    steps: [greet, contains('Hello Ada.'), { assert: { elicitationRequested: 'Who are you?', schema: ['name'] } }],
    outcome: 'passed',
  },
  { id: 'greets-nobody', isOffering: ['decline'], steps: [greet, contains('No name given.')], outcome: 'passed' },
];

const others: readonly LanguageCase[] = [
  { id: 'adds-wrongly', steps: [add, contains('6')], outcome: 'failed', mentions: 'does not contain "6"' },
  {
    id: 'greets-another',
    isOffering: [{ accept: { name: 'Grace' } }],
    steps: [greet, contains('Hello Ada.')],
    outcome: 'failed',
    mentions: '"Hello Grace." and does not contain "Hello Ada."',
  },
  {
    id: 'asks-otherwise',
    isOffering: [ada],
    steps: [greet, { assert: { elicitationRequested: 'How old are you?' } }],
    outcome: 'failed',
    mentions: 'it asked "Who are you?"',
  },
  {
    id: 'refuses-letters',
    steps: [{ toolCall: 'add', arguments: { a: 'two', b: 3 } }, contains('5')],
    outcome: 'failed',
    mentions: 'add',
  },
  {
    id: 'has-no-such-tool',
    steps: [{ toolCall: 'greed' }],
    outcome: 'failed',
    mentions: 'did you mean "greet"?',
  },
  {
    id: 'offers-nothing',
    steps: [greet, contains('Hello Ada.')],
    outcome: 'unscored',
    mentions: 'needs elicitation, which the case does not offer',
  },
];

const revisions = ['2025-11-25', '2026-07-28'] as const;

/** A gate on a server, and its required outcome. */
export interface LanguageGate {
  title: string;
  cases: readonly LanguageCase[];
  /** Inputs for the server; what is given back is disposed after the gate. */
  open: (server: LanguageServer) => Promise<AsyncDisposable & { inputs: GateInputs }>;
  verdict: 'passed' | 'failed' | 'inconclusive';
  /** What the first reason of the verdict says. */
  mentions?: string;
}

const token = 'nt-Zq81vK3mW7xT1pR5';
const nothing = { [Symbol.asyncDispose]: async () => {} };

const openStdio: LanguageGate['open'] = async ({ command }) => ({
  ...nothing,
  inputs: { 'server-command': `${command} stdio` },
});

const openGuarded =
  (inputs: GateInputs): LanguageGate['open'] =>
  async ({ command }) => ({
    ...nothing,
    inputs: { ...(await listenSomewhere(command, [`TOKEN=${token}`])), ...inputs },
  });

const openOAuth =
  (secret: string): LanguageGate['open'] =>
  async ({ command }) => {
    const oauth = await startOAuthServer();
    const environment = [`ISSUER=${oauth.issuer}`, `INTROSPECTION=${oauth.issuer}/introspect`];
    const inputs = {
      ...(await listenSomewhere(command, environment)),
      'server-oauth': `client-id=${oauthClient.id}\nissuer=${oauth.issuer}`,
      'server-oauth-secret': secret,
    };
    return { inputs, [Symbol.asyncDispose]: () => oauth[Symbol.asyncDispose]() };
  };

async function listenSomewhere(command: string, environment: readonly string[]): Promise<GateInputs> {
  const port = await findFreePort();
  return {
    'server-command': `${command} http ${port}`,
    'server-url': `http://127.0.0.1:${port}/mcp`,
    'server-env': environment.join('\n'),
  };
}

const bearer = { 'server-headers': `Authorization: Bearer ${token}` };

/** Every gate runs its cases in both revisions of MCP. */
export const languageGates: readonly LanguageGate[] = [
  { title: 'stdio, green', cases: passing, open: openStdio, verdict: 'passed' },
  { title: 'stdio, red', cases: [...passing, ...others], open: openStdio, verdict: 'failed' },
  { title: 'HTTP with a token, green', cases: passing, open: openGuarded(bearer), verdict: 'passed' },
  { title: 'HTTP with a token, red', cases: [...passing, ...others], open: openGuarded(bearer), verdict: 'failed' },
  {
    title: 'HTTP without the token',
    cases: passing,
    open: openGuarded({}),
    verdict: 'inconclusive',
    mentions: 'asks for authorization: it answered HTTP 401',
  },
  {
    title: 'HTTP with an OAuth client',
    cases: passing,
    open: openOAuth(oauthClient.secret),
    verdict: 'passed',
  },
  {
    title: 'HTTP with an OAuth client whose secret is wrong',
    cases: passing,
    open: openOAuth('wrong-secret-of-this-client'),
    verdict: 'inconclusive',
    mentions: 'invalid_client',
  },
];

/** Runs a gate on a server, and lists how its outcome differs from the required one. */
export async function runLanguageGate(server: LanguageServer, gate: LanguageGate): Promise<string[]> {
  await using workspace = await createWorkspace({ 'notes.evals.yaml': writeEvals(gate.cases) });
  await using opened = await gate.open(server);
  const inputs = { protocol: 'both', 'server-ready-timeout': '60s', ...opened.inputs };
  const { report } = await runEmbeddedGate(workspace, inputs);
  const { outcome, reasons } = report.verdict;
  const said = reasons.map(({ message }) => message).join(' ');
  const differences: string[] = [];
  if (outcome !== gate.verdict) differences.push(`required: ${gate.verdict}; found: ${outcome}: ${said}`);
  if (!said.includes(gate.mentions ?? '')) differences.push(`no reason says "${gate.mentions}": ${said}`);
  for (const { id, outcome: required, mentions = '' } of gate.cases) {
    for (const revision of revisions) {
      const found = report.cases.find((each) => each.id === `${id}--${revision}`);
      if (found === undefined) {
        differences.push(`${id} in ${revision} is missing`);
        continue;
      }
      const { passed, failed, failures } = found;
      const is = passed > 0 ? 'passed' : failed > 0 ? 'failed' : 'unscored';
      const shall = gate.verdict === 'inconclusive' ? 'unscored' : required;
      const why = failures.flatMap((failure) => failure.reasons).join(' ');
      if (is !== shall) differences.push(`${id} in ${revision} is required to be ${shall}; it is ${is}: ${why}`);
      else if (is !== 'passed' && gate.verdict !== 'inconclusive' && !why.includes(mentions)) {
        differences.push(`the reason of ${id} in ${revision} does not say "${mentions}": ${why}`);
      }
    }
  }
  return differences;
}

/** JSON is YAML, too. */
function writeEvals(cases: readonly LanguageCase[]): string {
  const written = cases.map(({ id, isOffering, steps }) => {
    const client = isOffering === undefined ? {} : { client: { elicitation: isOffering } };
    return { id, title: `Case ${id}`, ...client, steps };
  });
  return JSON.stringify({ suite: 'Notes', cases: written });
}
