import { z } from 'zod';
import { endSentence } from '../../base/text.ts';
import { type Clock, formatDuration } from '../../base/time.ts';
import { BrowserGoneError } from '../../browser/devtools.ts';
import { findElements, settleView, tryAction } from '../../browser/elements.ts';
import type { BrowserPool } from '../../browser/pool.ts';
import type { ToolDeclaration } from '../../mcp/tool-declarations.ts';
import type { StepByKind } from '../../cases/step.ts';
import type { Locator, WidgetObservation } from '../../model/widget.ts';
import { createAppReader } from '../app-reader.ts';
import { readShownApp } from '../../checks/app-resource.ts';
import { judgeElement } from '../../checks/elements.ts';
import type { ShownWidgets } from '../judging-context.ts';
import type { IterationLimit } from '../iteration-limit.ts';
import type { Connection } from '../process-loss.ts';
import { clipReason, printValue } from '../../checks/reasons.ts';
import { giveUpByLoss, type StepOutcome } from '../step-outcome.ts';
import type { Transcript } from '../transcript.ts';
import { createCallForwarder, type Forwarder } from './forward-calls.ts';
import { type ShownApp, type ShownCall, showApp } from './shown-app.ts';
import { describeConsole } from '../../checks/widgets.ts';
import { autoWaitMs } from './wait-for.ts';

/** The time that an app has to complete its handshake unless its step sets a limit, in milliseconds. */
const defaultRenderTimeoutMs = 15_000;

/**
 * Shows the apps of the tools that an iteration calls, performs actions in them, and judges assertions on them. Disposing closes all of
 * them.
 */
export interface Widgets extends ShownWidgets, AsyncDisposable {
  /**
   * Shows the app of a tool that answered, if it declares one, and records the outcome. Problems with the app do not fail the step.
   *
   * @throws the signal's reason once it aborts
   */
  show(call: ShownCall & { toolName: string; renderTimeoutMs?: number | undefined }, shown: ShownTool): Promise<void>;
  interact(step: StepByKind['interact']): Promise<StepOutcome>;
}

export interface ShownTool {
  connection: Connection;
  declaration: Pick<ToolDeclaration, 'appUri' | 'description' | 'inputSchema'>;
}

interface WidgetsOptions {
  browser: BrowserPool;
  clock: Clock;
  signal: AbortSignal;
  limit: Pick<IterationLimit, 'hold'>;
  transcript: Transcript;
}

/** The app of the latest call of a tool. */
interface LatestApp {
  observation: WidgetObservation;
  /** Null if there is no page. */
  shown: ShownApp | null;
  forwarder: Forwarder | null;
}

export function createWidgets({ browser, clock, signal, limit, transcript }: WidgetsOptions): Widgets {
  const observations: WidgetObservation[] = [];
  transcript.widgets = observations;
  const latest = new Map<string, LatestApp>();
  const withoutApp = new Set<string>();
  const closing = new AbortController();
  const over = AbortSignal.any([signal, closing.signal]);

  const open = async (
    call: ShownCall & { toolName: string; renderTimeoutMs?: number | undefined },
    { connection, declaration }: ShownTool,
    entry: LatestApp,
  ): Promise<void> => {
    const { observation } = entry;
    const { toolName, renderTimeoutMs = defaultRenderTimeoutMs } = call;
    const uri = declaration.appUri ?? '';
    const fail = (reason: string) => Object.assign(observation, { status: 'failed', reason });
    const read = await createAppReader(connection).read(uri);
    if (read.kind === 'unknown') {
      observation.reason = `${uri} could not be read: ${read.reason}`;
      return;
    }
    const app = read.kind === 'refused' ? { problem: read.reason } : readShownApp(uri, read.result);
    if ('problem' in app) {
      fail(`${printValue(uri)} cannot be shown: ${app.problem}`);
      return;
    }
    const started = await openBrowser();
    if ('reason' in started) {
      observation.reason = started.reason;
      return;
    }
    const forwarder = createCallForwarder(connection, { observation, signal: over, transcript });
    entry.forwarder = forwarder;
    const { description, inputSchema } = declaration;
    const tool = { name: toolName, ...(description !== null && { description }), inputSchema };
    const { devtools } = started;
    const host = { tool, callTool: forwarder.callTool, readResource: forwarder.readResource };
    const serverUrl = connection.target.url;
    entry.shown = await showApp(app, observation, { devtools, clock, signal, renderTimeoutMs, host, serverUrl, call });
  };
  const openBrowser = async () => {
    // The start of the browser does not count towards the time of the case.
    using _held = limit.hold();
    return await browser.open();
  };

  /** Finds the app that a step or an assertion names, or the outcome of the step if it was not shown. */
  const find = (toolName: string): { entry: LatestApp; shown: ShownApp } | { outcome: StepOutcome } => {
    const entry = latest.get(toolName);
    if (entry === undefined) {
      const why = withoutApp.has(toolName)
        ? `${toolName} declares no app in \`_meta.ui.resourceUri\`.`
        : `${toolName} has no answer yet whose app could be shown; call the tool in a step before.`;
      return { outcome: { status: 'fail', reason: why, effect: 'stop' } };
    }
    const { observation, shown } = entry;
    if (observation.status === 'rendered' && shown !== null) return { entry, shown };
    const isMeasured = observation.status === 'failed';
    const reason = clipReason(endSentence(`${toolName} was not shown: ${observation.reason ?? 'its page is closed'}`));
    return { outcome: { status: 'fail', reason, effect: isMeasured ? 'stop' : 'unmeasured' } };
  };

  /** Turns the result of waiting for the app into the outcome of the step. */
  const conclude = (
    { observation, forwarder }: LatestApp,
    waited: Awaited<ReturnType<ShownApp['attempt']>>,
  ): StepOutcome => {
    if (waited.kind === 'done') return { status: 'ok', reason: null, effect: 'continue' };
    if (waited.kind === 'gone') {
      const reason = `The browser established nothing about the app of ${observation.toolName}: ${waited.reason}`;
      return { status: 'fail', reason: clipReason(reason), effect: 'unmeasured' };
    }
    const loss = forwarder?.loss ?? null;
    if (loss !== null) return giveUpByLoss(loss.witnessed, loss.toolName);
    const problem = waited.isStuck ? 'the app does not answer, as in a script without an end' : waited.problem;
    const within = formatDuration(autoWaitMs);
    const reason = `${observation.toolName}: ${problem} (after ${within})${describeConsole(observation)}`;
    return { status: 'fail', reason: clipReason(reason), effect: 'stop' };
  };

  const settleOne = async ({ observation, shown }: LatestApp) => {
    const settled = await shown?.attempt(async () => ({ done: await settleView(shown.view) }), autoWaitMs);
    // Its later console output is unknown.
    if (settled?.kind === 'gone') Object.assign(observation, { status: 'unmeasured', reason: settled.reason });
  };

  return {
    show: async (call, shown) => {
      const { toolName } = call;
      const { appUri } = shown.declaration;
      if (appUri === null) {
        withoutApp.add(toolName);
        return;
      }
      await latest.get(toolName)?.shown?.[Symbol.asyncDispose]();
      const observation: WidgetObservation = {
        toolName,
        status: 'unmeasured',
        reason: null,
        latencyMs: null,
        consoleErrors: { entries: [], dropped: 0 },
        toolCalls: [],
      };
      observations.push(observation);
      const entry: LatestApp = { observation, shown: null, forwarder: null };
      latest.set(toolName, entry);
      try {
        await open(call, shown, entry);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof BrowserGoneError)) throw error;
        observation.reason = error.message;
      }
    },
    interact: async ({ toolName, action }) => {
      const found = find(toolName);
      if ('outcome' in found) return found.outcome;
      const { entry, shown } = found;
      if (action.kind === 'wait') {
        await clock.sleep(action.ms, { signal });
        return { status: 'ok', reason: null, effect: 'continue' };
      }
      const waited = await shown.attempt(async () => await tryAction(shown.view, action), autoWaitMs);
      if (waited.kind === 'done') await shown.attempt(async () => ({ done: await settleView(shown.view) }), autoWaitMs);
      const outcome = conclude(entry, waited);
      return outcome.reason === null
        ? outcome
        : { ...outcome, reason: clipReason(`${action.kind}: ${outcome.reason}`) };
    },
    assert: async (assertion) => {
      const found = find(assertion.toolName);
      const name = (outcome: StepOutcome) =>
        outcome.reason === null ? outcome : { ...outcome, reason: clipReason(`${assertion.kind}: ${outcome.reason}`) };
      if ('outcome' in found) return name(found.outcome);
      const { entry, shown } = found;
      const { world } = shown.view;
      const app = {
        toolCalls: entry.observation.toolCalls,
        find: async (target: Locator) => await findElements(world, target),
        readText: async () => await world.call('() => document.body?.innerText ?? ""', [], z.string()),
      };
      const judge = async () => {
        const problem = await judgeElement(assertion, app);
        return problem === null ? { done: null } : { problem };
      };
      return name(conclude(entry, await shown.attempt(judge, autoWaitMs)));
    },
    settle: async () => {
      const open = [...latest.values()].filter(({ observation }) => observation.status === 'rendered');
      await Promise.all(open.map(settleOne));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...latest.values()].map(async ({ shown }) => await shown?.[Symbol.asyncDispose]()));
      closing.abort(new Error('The iteration is over.'));
    },
  };
}
