import { relative, sep } from 'node:path';
import { dirname, resolve } from 'node:path';
import type { Redactor } from '../base/redaction.ts';
import { isPrivateName } from '../explore/draft/checks.ts';
import { findHidden, type HiddenTools } from '../explore/find-hidden.ts';
import { callLimits } from '../explore/world/plan-start.ts';
import { openWorlds } from '../explore/world/open-worlds.ts';
import { shareTime } from '../explore/time-shares.ts';
import type { WorldSource } from '../explore/world/world.ts';
import { chooseDraftChecks } from '../mutate/choose-draft-checks.ts';
import type { ServerContext } from '../server/running-server.ts';
import { joinCommand } from '../server/split-command.ts';
import { addCases, type AddedCase, readWorkspaceKey, readWrittenCases, renderEvals } from '../suite/add-cases.ts';
import { createTaker } from '../suite/case-ids.ts';
import { readSuite } from '../suite/read.ts';
import { emptyName, readWorkspace, type Workspace } from '../workspace/workspace.ts';
import { createRecordedAnswers } from './answer-again.ts';
import { addEnvironmentSecrets, cleanSteps, type Machine } from './clean.ts';
import { printRequests } from './compare-cases.ts';
import { type DraftedTask, draftTask, type TaskCase } from './draft.ts';
import type { Journal } from './journal.ts';
import { createPartKeeper, keepTimesOfDay } from '../explore/stability/keep-parts.ts';
import { placeCommand } from './place-command.ts';
import { linkSteps, type LinkedStep } from './references.ts';
import { addNeeded, replayTasks, toObserved } from './replay.ts';
import { type CapturedSession, readSession } from './session.ts';
import { type SplitRule, splitTasks } from './split.ts';

export interface ConvertOptions {
  split: SplitRule;
  /** The evals file, for paths from it. */
  out: string;
  /** The text of the file to add to; null for a new file. */
  existing: string | null;
  /** The workspace as the user wrote it; null for that of the existing file, or an empty one. */
  workspace: string | null;
  /** The variables of the server. Without them, it may not start. */
  variables: Readonly<Record<string, string>>;
  machine: Pick<Machine, 'user' | 'host'>;
  redactor: Redactor;
  context: ServerContext;
}

/** The evals of a session. */
export interface Converted {
  /** The text of the file; null if there is nothing to add. */
  text: string | null;
  /** True if the text is of another file, because the existing one is invalid or has no list in block style to add to. */
  isApart: boolean;
  cases: number;
  commentedOut: number;
  /** How many tasks the file had already. */
  known: number;
  /** Requests that are in no case, with the reason. */
  left: CapturedSession['left'];
}

/** The longest time of all replays. */
const replayLimitMs = 120_000;

/** Writes evals from a session: replays its tasks where that is safe, and drafts a case for each. */
export async function convertSession({ head, entries }: Journal, options: ConvertOptions): Promise<Converted> {
  const { split, existing, redactor, machine, context } = options;
  const cwd = head.cwd;
  const written = options.workspace ?? (existing === null ? null : readWorkspaceKey(existing));
  const key = nameWorkspace(options, written, cwd);
  const workspace = await readWorkspace(
    written ?? emptyName,
    options.workspace === null ? dirname(resolve(cwd, options.out)) : cwd,
  );
  addEnvironmentSecrets({ ...context.environment, ...options.variables }, redactor);
  const session = readSession(entries);
  const inside = head.place === null && workspace.path === null ? [cwd] : [head.place ?? '', workspace.path ?? ''];
  const all = linkSteps(cleanSteps(session.steps, { ...machine, inside }, redactor));
  const tasks = splitTasks(all, split);
  const harmless = new Set([...session.tools].flatMap(([name, { isReadOnly }]) => (isReadOnly ? [name] : [])));
  const { drafted, hidden } = await replaySafely(tasks, all, { session, head, workspace, harmless, options });
  const known = existing === null ? [] : readWrittenCases(existing);
  const sent = new Set(known.map(printRequests));
  const takeId = createTaker(new Set(known.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))));
  const required = new Map([...session.tools].map(([name, tool]) => [name, tool.required]));
  const listed = new Set(session.tools.keys());
  const isReplayed = drafted.some((task) => task.isReplayed);
  const extended = existing !== null && canAddTo(existing) ? existing : null;
  const suiteKey = extended === null && (isReplayed || key !== emptyName) ? key : null;
  const hasWorkspace = suiteKey !== null || (extended !== null && readWorkspaceKey(extended) !== null);
  const drafts = drafted.flatMap((task): TaskCase[] => {
    const draft = draftTask(task, { required, harmless, listed, hidden, hasWorkspace, takeId });
    const print = printRequests(draft.content);
    if (sent.has(print)) return [];
    sent.add(print);
    return [{ ...draft, ...checkCase(draft, hasWorkspace) }];
  });
  const cases = await chooseDraftChecks(drafts, {
    listSteps: ({ steps }) => steps,
    tools: null,
    isPrivate: (text) => isPrivateName(text) || redactor.redact(text) !== text,
  });
  const ordered = [...cases.filter((each) => !each.isCommentedOut), ...cases.filter((each) => each.isCommentedOut)];
  const text =
    ordered.length === 0
      ? null
      : writeText(ordered, { extended, suite: session.serverName ?? 'MCP server', workspace: suiteKey });
  return {
    text: text === null ? null : redactor.redact(text),
    isApart: existing !== null && extended === null,
    cases: cases.filter((each) => !each.isCommentedOut).length,
    commentedOut: cases.filter((each) => each.isCommentedOut).length,
    known: drafted.length - cases.length,
    left: session.left,
  };
}

/** Names the workspace in the evals file: its path from there. */
function nameWorkspace({ workspace, out }: ConvertOptions, written: string | null, cwd: string): string {
  if (workspace === null || workspace === emptyName) return written ?? emptyName;
  const key = relative(dirname(resolve(cwd, out)), resolve(cwd, workspace))
    .split(sep)
    .join('/');
  return key === '' ? '.' : key;
}

interface ReplayPlan {
  session: CapturedSession;
  head: Journal['head'];
  workspace: Workspace;
  harmless: ReadonlySet<string>;
  options: ConvertOptions;
}

/** Replays the tasks that may be replayed, and says of the others why not. */
async function replaySafely(
  tasks: ReadonlyArray<readonly LinkedStep[]>,
  all: readonly LinkedStep[],
  { session, head, workspace, harmless, options }: ReplayPlan,
): Promise<{ drafted: DraftedTask[]; hidden: HiddenTools }> {
  const secret = (task: readonly LinkedStep[]) =>
    addNeeded(task, all).some(({ hadSecret }) => hadSecret)
      ? 'a value of its requests was a secret, which is not kept'
      : null;
  const leave = (task: readonly LinkedStep[], reason: string): DraftedTask => {
    const writer = task.find(({ request }) => request.kind === 'tool' && !harmless.has(request.tool));
    const name = writer?.request.kind === 'tool' ? writer.request.tool : '';
    const why = writer === undefined ? null : `${name} may change something, and was not replayed: ${reason}`;
    const steps = toObserved(addNeeded(task, all));
    return { steps, earlier: steps.length - task.length, reason: secret(task) ?? why, isReplayed: false };
  };
  const leaveAll = (reason: string) => ({
    drafted: tasks.map((task) => leave(task, reason)),
    hidden: new Map(),
  });
  if (tasks.length === 0) return leaveAll('');
  if (head.url !== null) return leaveAll('the server is at a URL');
  if (head.command.length === 0) return leaveAll('no command was given after `--`');
  const asked = session.steps.length === 0 ? [] : all.flatMap((step) => step.asked);
  const start = {
    command: joinCommand(placeCommand(head.command, head.cwd, workspace)),
    env: options.variables,
    cwd: head.cwd,
    readyTimeoutMs: 30_000,
    workspace,
    sandbox: 'auto' as const,
    limits: callLimits,
    createAnswers: (_: Workspace, paths: { workspace: string }) => createRecordedAnswers(asked, paths),
  };
  try {
    await using source = await openWorlds(start, options.context);
    if (source.sandbox !== 'confined') {
      return leaveAll(`the sandbox is at level ${source.sandbox}, where calls reach the network and other files`);
    }
    const own = limitToAnnounced(source, session);
    const safe = tasks.filter((task) => secret(task) === null);
    const time = shareTime(options.context.clock, replayLimitMs);
    const replayed = await replayTasks(safe, all, {
      source: own,
      workspace,
      isHarmless: (tool) => harmless.has(tool),
      keeps: keepTimesOfDay(await createPartKeeper(workspace, options.context.clock.now())),
      time,
    });
    const names = [...session.tools.keys()];
    const hidden: HiddenTools = session.announced.length === 0 ? new Map() : await findHidden(names, source);
    const results = new Map(safe.map((task, index) => [task, replayed[index]]));
    const drafted = tasks.map((task): DraftedTask => {
      const result = results.get(task);
      if (result === undefined) return leave(task, '');
      const { steps } = result;
      const reason = result.kind === 'stable' ? null : result.reason;
      return { steps, earlier: steps.length - task.length, reason, isReplayed: true };
    });
    return { drafted, hidden };
  } catch (error) {
    options.context.signal.throwIfAborted();
    const message = error instanceof Error ? error.message.replace(/\.$/, '') : 'the server did not start';
    return leaveAll(loaders.test(head.command[0] ?? '') ? `${message}. ${installFirst}` : message);
  }
}

/** Programs that load the server from the network if a new HOME does not have it. */
const loaders = /^(?:npx|pnpx|bunx|uvx|pipx)$/;
const installFirst = 'Install the server, and write its program after `--`';

/** A client that offered nothing in the session offers nothing in replays. */
function limitToAnnounced(source: WorldSource, { announced }: CapturedSession): WorldSource {
  if (announced.length > 0) return source;
  return {
    ...source,
    open: (variant) => source.open({ ...variant, offers: [] }),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Comments a case out that the format cannot express. */
function checkCase(added: AddedCase, hasWorkspace: boolean): AddedCase {
  if (added.isCommentedOut) return added;
  const text = renderEvals({
    comments: [],
    suite: 'Captured',
    workspace: hasWorkspace ? emptyName : null,
    cases: [added],
  });
  const [finding] = readSuite(text, { file: 'captured' }).findings;
  if (finding === undefined) return added;
  return { ...added, isCommentedOut: true, comments: [`Not run: ${finding.message.replaceAll(/\s+/g, ' ')}.`] };
}

function writeText(
  cases: readonly AddedCase[],
  { extended, suite, workspace }: { extended: string | null; suite: string; workspace: string | null },
): string | null {
  if (extended !== null) return addCases(extended, cases);
  const hasCase = cases.some((each) => !each.isCommentedOut);
  return renderEvals({ comments: headComments, suite, workspace, cases: hasCase ? cases : [listsTools, ...cases] });
}

/** Checks if an evals file is valid and has a list that cases can be added to. */
function canAddTo(text: string): boolean {
  const draft = { ...listsTools, isCommentedOut: true };
  return readSuite(text, { file: 'evals' }).suite !== null && addCases(text, [draft]) !== null;
}

/** A file needs a case that runs. */
const listsTools: AddedCase = {
  content: { id: 'lists-tools', title: 'Lists its tools', steps: [{ listTools: true }] },
  comments: [],
  isCommentedOut: false,
};

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci capture` from a session. Check that these answers are right.',
];
