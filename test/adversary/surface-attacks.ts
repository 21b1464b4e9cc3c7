import { join } from 'node:path';
import { renderSurfaceFile } from '../../src/surface/file.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { createWorkspace } from '../support/workspace.ts';
import { type AttackResult, isolationLevels, type LevelledAttack, sandboxOf } from './attack.ts';
import { observeGate } from './observe-gate.ts';

/** A change that breaks its tool surface and makes it so large that the gate may not finish reading it. */
export interface SurfaceAttack extends LevelledAttack {
  attacker: 'pull-request';
  /** The tools in the surface file; `after` are those that the server lists. */
  before: () => object[];
  after: () => object[];
  /** The tools on each page. Default: all on one page. 0 returns the same page forever. */
  pageSize?: number;
  /** How often the server reports a changed list while the gate reads it. */
  changes?: number;
  /** The id of a change that the report must contain. */
  finds?: string;
}

type Tools = SurfaceAttack['before'];
type Variant = Pick<SurfaceAttack, 'before' | 'after' | 'pageSize' | 'changes' | 'finds'>;

const many = <T>(count: number, create: (index: number) => T) => Array.from({ length: count }, (_, at) => create(at));
const createTool = (name: string, schema: object = {}, description = 'Says it.') => ({
  name,
  description,
  inputSchema: { type: 'object', ...schema },
});
/** The tool that the case calls. */
const say = createTool('say');
const gone = createTool('gone');

/** Creates the same tools before and after, except for one that is removed. */
const around = (create: Tools): Variant => ({
  before: () => [say, gone, ...create()],
  after: () => [say, ...create()],
});
const withProperty = (schema: object) => [say, createTool('search', { properties: { a: schema } })];
const change = (create: (last: string) => object): Variant => ({
  before: () => withProperty(create('x')),
  after: () => withProperty(create('y')),
});

const wide = (index: number, last: string) => ({
  type: 'object',
  properties: Object.fromEntries(many(50, (at) => [`p${at}`, { type: 'string', maxLength: index + at }])),
  required: [last],
});
const createChoice = (name: string, last: string) =>
  createTool(name, { properties: { a: { anyOf: many(90, (index) => wide(index, `${last}${index}`)) } } });
const names = many(60, (index) => `d${index}`);
const knot = names.map((name) => ({ $ref: `#/$defs/${name}` }));
const knotted = {
  properties: { a: { anyOf: knot } },
  $defs: Object.fromEntries(names.map((name) => [name, { anyOf: knot }])),
};

const variants: Record<string, Variant> = {
  'takes one of 20,000 tools away': around(() => many(20_000, (index) => createTool(`tool-${index}`))),
  'renames 20,000 tools': {
    before: () => [say, ...many(20_000, (index) => createTool(`a-${index}`))],
    after: () => [say, ...many(20_000, (index) => createTool(`b-${index}`))],
  },
  'describes 20,000 tools anew and takes one away': {
    before: () => [say, gone, ...many(20_000, (index) => createTool(`tool-${index}`))],
    after: () => [say, ...many(20_000, (index) => createTool(`tool-${index}`, {}, 'Says more.'))],
  },
  'changes one of 100,000 values of an enum': change((last) => ({ enum: [...many(100_000, String), last] })),
  'changes one of 1,000 alternatives of one value': change((last) => ({
    oneOf: [...many(1000, (index) => ({ const: index })), { const: last }],
  })),
  'changes 400 alternatives of 50 members and takes a tool away': {
    before: () => [gone, ...withProperty({ anyOf: many(400, (index) => wide(index, `x${index}`)) })],
    after: () => withProperty({ anyOf: many(400, (index) => wide(index, `y${index}`)) }),
  },
  'changes 90 alternatives of 50 members in each of 30 tools': {
    before: () => [say, ...many(30, (index) => createChoice(`choice-${index}`, 'x'))],
    after: () => [say, ...many(30, (index) => createChoice(`choice-${index}`, 'y'))],
    pageSize: 10,
    finds: 'server.tooLarge',
  },
  'has 60 alternatives refer to each other': around(() => [createTool('knot', knotted)]),
  'describes a tool in 60 MiB': around(() => [createTool('long', {}, 'y'.repeat(60 * 1024 * 1024))]),
  'lists 200,000 tools in one answer': {
    before: () => [say, gone],
    after: () => [say, ...many(200_000, (index) => createTool(`tool-${index}`))],
  },
  'lists 20,000 tools on 2,000 pages': {
    ...around(() => many(20_000, (index) => createTool(`tool-${index}`))),
    pageSize: 10,
  },
  'lists the same page for ever': { before: () => [say, gone], after: () => [say], pageSize: 0 },
  'says that the list of 20,000 tools has changed whenever it is read': {
    ...around(() => many(20_000, (index) => createTool(`tool-${index}`))),
    changes: 1000,
  },
};

export const surfaceAttacks: readonly SurfaceAttack[] = Object.entries(variants).flatMap(([name, variant]) =>
  isolationLevels.map((level) => ({
    name: `${name}, at the level ${level}`,
    class: 'large surfaces',
    attacker: 'pull-request' as const,
    deserves: 'failed' as const,
    level,
    ...variant,
  })),
);

const server = `import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const { tools, pageSize, changes } = JSON.parse(readFileSync('shown.json', 'utf8'));
const send = (message) => void process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let left = changes;
const list = ({ cursor }) => {
  if (left-- > 0) send({ method: 'notifications/tools/list_changed' });
  if (pageSize === 0) return { tools, nextCursor: String(Number(cursor ?? 0) + 1) };
  const start = Number(cursor ?? 0);
  const end = start + pageSize;
  return { tools: tools.slice(start, end), ...(end < tools.length && { nextCursor: String(end) }) };
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'large', version: '1' },
  }),
  'tools/list': list,
  'tools/call': () => ({ content: [{ type: 'text', text: 'hello' }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id !== undefined) send({ id, result: answers[method]?.(params) ?? {} });
}
`;

const evals = `suite: Large
cases:
  - title: Says hello
    deterministic: true
    steps:
      - toolCall: say
      - assert: { toolResultContains: hello }
`;

/** The memory limit that SECURITY.md promises for the gate and its supervisor with an answer of the largest size. */
const maxMemoryMiB = 768;

/** The time after `timeout` at which a gate without a verdict is ended, in seconds. */
const graceS = 15;

/** Runs the gate of the change. Its case passes, so that only the surface can fail it. */
export async function runSurfaceAttack(
  attack: SurfaceAttack,
  { slack = 1, timeoutS = 60 }: { slack?: number; timeoutS?: number } = {},
): Promise<AttackResult> {
  const { before, after, pageSize = 1_000_000, changes = 0, finds, level } = attack;
  const nothing = { instructions: null, prompts: [], resources: [], resourceTemplates: [] };
  const capabilities = { tools: { listChanged: true } };
  const surface = normalizeSurface({ ...nothing, capabilities, tools: before() });
  await using workspace = await createWorkspace({
    'x.evals.yaml': evals,
    'server.mjs': server,
    'surface.json': renderSurfaceFile({ version: 1, configurations: { default: surface } }),
    'shown.json': JSON.stringify({ tools: after(), pageSize, changes }),
  });
  const observed = await observeGate({
    args: [
      commandPath,
      'run',
      `--sandbox=${sandboxOf[level]}`,
      '--format=json',
      `--timeout=${timeoutS}s`,
      '--surface=surface.json',
      '--report-formats=html',
      `--report-dir=${join(workspace.path, 'reports')}`,
      `--server-command=${process.execPath} server.mjs`,
      'x.evals.yaml',
    ],
    workspace: workspace.path,
    env: {},
    limitS: (timeoutS + graceS) * slack * 2,
  });
  const { exitCode, report, durationS, maxMemoryMiB: memory, output, survivors } = observed;
  const reasons = report?.verdict.reasons.map(({ code }) => code).join() ?? output.slice(-2000);
  const isFound = report?.surface?.configurations.some((each) => each.changes.some(({ id }) => id === finds));
  const problems = [
    ...(finds === undefined || isFound === true ? [] : [`does not report ${finds}`]),
    ...(exitCode === 1 || exitCode === 3 ? [] : [`exit code ${exitCode}`]),
    ...(report === null ? ['no report'] : []),
    ...(durationS > (timeoutS + graceS) * slack ? [`takes ${Math.round(durationS)} s`] : []),
    ...(memory > maxMemoryMiB ? [`uses ${Math.round(memory)} MiB`] : []),
    ...survivors.map((words) => `leaves ${words}`),
  ];
  const found = `exit code ${exitCode}, ${reasons}, ${Math.round(durationS)} s, ${Math.round(memory)} MiB`;
  return { attack, found, problems: problems.length === 0 ? [] : [...problems, found] };
}
