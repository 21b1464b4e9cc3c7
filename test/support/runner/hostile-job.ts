import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '../../../src/base/redaction.ts';
import { openContractService } from '../service/contract-service.ts';
import { type HostileService, startHostileService, type Tamper } from '../service/hostile-service.ts';
import { type ActionRun, type ActionRunOptions, runAction } from './run-action.ts';
import { createWorkspace, type Workspace } from '../workspace.ts';

/** All secrets that a job of these tests has from the start and could reveal. The runner knows none of them in advance. */
export const canaries = {
  apiKey: `sk_"7f3a"<9b2c>&4d5e/6f70+81'92='a3%41b4`,
  modelKey: 'model-canary-"5b1e"/9c0d7a=',
  serverSecret: `server-canary <8e21> & "c3f9" it's`,
  proxyPassword: 'proxy-canary/3d8a?1e6f',
  githubToken: 'ghs_canary4b7e0c9d2f8a5163',
  urlKey: 'url-canary-0a1b2c3d',
};

/** A case that calls the one tool of the server. */
const evals = `suite: Hostile
cases:
  - title: Says something
    steps:
      - toolCall: speak
`;

type Sinks = Record<string, string | null>;

export interface HostileJob extends ActionRun {
  /** All outputs of the job by name; the logs without the lines that register masks, which the runner never shows. */
  sinks: Sinks;
  /** The environment and the input of the server under test; empty if it was never started. */
  received: string;
}

/** Runs the built action against a service, with a server that gets a secret and records everything that it receives. */
export async function runHostileJob(
  hostile: Pick<HostileService, 'baseUrl' | 'apiKey'> | null,
  inputs: Record<string, string> = {},
  { files, ...options }: Partial<ActionRunOptions> & { files?: Record<string, string> } = {},
): Promise<HostileJob> {
  await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'server.mjs': modestServer, ...files });
  const service = hostile === null ? {} : { service: 'svc', 'base-url': hostile.baseUrl };
  const run = await runAction({
    workspace: workspace.path,
    ...options,
    inputs: {
      'server-command': 'node server.mjs',
      sandbox: 'off',
      'server-env': `SERVER_SECRET=${canaries.serverSecret}`,
      evals: 'x.evals.yaml',
      ...service,
      'api-key': hostile?.apiKey ?? canaries.apiKey,
      'model-api-keys': `anthropic=${canaries.modelKey}`,
      ...inputs,
    },
    env: { GITHUB_TOKEN: canaries.githubToken, RUNNER_DEBUG: '1', ...options.env },
  });
  const received = await workspace.read('received.txt').catch(() => '');
  return { ...run, received, sinks: await collectSinks(workspace, run) };
}

async function collectSinks(workspace: Workspace, run: ActionRun): Promise<Sinks> {
  const reports = await readdir(join(workspace.path, 'mcp-eval-report')).catch(() => []);
  const read = async (name: string) => [name, await workspace.read(`mcp-eval-report/${name}`)] as const;
  const annotations = [...run.annotations, ...run.droppedAnnotations];
  return {
    log: withoutMasks(run.log),
    'log of post': run.post === null ? null : withoutMasks(run.post.log),
    summary: run.summary,
    annotations: annotations.map(({ message }) => message).join('\n'),
    'titles of annotations': annotations.map(({ title }) => title).join('\n'),
    'places of annotations': JSON.stringify(annotations.map(({ properties }) => properties)),
    outputs: JSON.stringify(run.outputs),
    state: JSON.stringify(run.state),
    'exported variables': JSON.stringify(run.exported),
    'outputs, state and variables of post': JSON.stringify([run.post?.outputs, run.post?.state, run.post?.exported]),
    'names of report files': reports.join('\n'),
    ...Object.fromEntries(await Promise.all(reports.map(read))),
  };
}

function withoutMasks(log: string): string {
  return log.replaceAll(/^::add-mask::.*$/gm, '');
}

/** Lists the secrets that a hostile service has received from a job or has granted to it. */
export function listGivenSecrets({ grant, apiKey }: HostileService): Record<string, string> {
  const granted = grant === null ? {} : { tunnelUrl: grant.url, connectToken: grant.connectToken, k: grant.k };
  return { ...granted, apiKey, modelKey: canaries.modelKey, serverSecret: canaries.serverSecret };
}

export async function startHostile(
  tamper?: (self: HostileService) => Tamper,
  options: { apiKey?: string; refuseRelay?: (authorization: string) => string } = {},
): Promise<HostileService> {
  const { apiKey = canaries.apiKey, ...rest } = options;
  const service = await openContractService({ apiKey: new Secret(apiKey) });
  const hostile = await startHostileService(service, { ...rest, ...(tamper === undefined ? {} : { tamper }) });
  const close = hostile[Symbol.asyncDispose];
  hostile[Symbol.asyncDispose] = async () => {
    await close();
    await service[Symbol.asyncDispose]();
  };
  return hostile;
}

const modestServer = `
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';
const note = (text) => appendFileSync('received.txt', text + '\\n');
note(JSON.stringify([process.env, process.argv]));
for await (const line of createInterface({ input: process.stdin })) {
  note(line);
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') {
    answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'modest', version: '1' } });
  }
  if (method === 'tools/list') answer({ tools: [{ name: 'speak', inputSchema: { type: 'object' } }] });
  if (method === 'tools/call') answer({ content: [{ type: 'text', text: 'hello' }] });
}
`;
