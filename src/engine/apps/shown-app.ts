import { Disposer } from '../../base/disposal.ts';
import { formatDuration } from '../../base/time.ts';
import type { Clock } from '../../base/time.ts';
import type { DevTools } from '../../browser/devtools.ts';
import { hasReceived, settleView } from '../../browser/elements.ts';
import { openView, type View, viewport } from '../../browser/view.ts';
import { isLoopback } from '../../http/url.ts';
import type { WidgetObservation } from '../../model/widget.ts';
import type { App } from '../../checks/app-resource.ts';
import { describeConsole } from '../../checks/widgets.ts';
import {
  type AppHostOptions,
  createAppHost,
  notifyToolInput,
  notifyToolResult,
  requestTeardown,
  teardownId,
} from './app-host.ts';
import { type Waited, waitFor } from './wait-for.ts';

/** The time that an app has to answer the teardown request, in milliseconds. Short, because its iteration is judged already. */
const teardownMs = 300;

/** The time that the browser has to answer when it may be stuck, in milliseconds. */
const aliveMs = 10_000;

/** A tool call and its result in MCP format, for an app to show. */
export interface ShownCall {
  arguments: Record<string, unknown>;
  result: object;
}

/** An app in the browser. Disposing it tears the app down and closes its page. */
export interface ShownApp extends AsyncDisposable {
  readonly view: View;
  /** Retries until the attempt is done, the time is up, or the browser is gone. */
  attempt<T>(...[attempt, afterMs]: [Parameters<typeof waitFor<T>>[0], number]): Promise<Waited<T>>;
}

export interface ShowOptions {
  devtools: DevTools;
  clock: Clock;
  /** The signal of the iteration. */
  signal: AbortSignal;
  renderTimeoutMs: number;
  host: Omit<AppHostOptions, 'policy' | 'viewport' | 'onInitialized'>;
  /** The URL of the app's server; undefined if it speaks stdio. */
  serverUrl: string | undefined;
  call: ShownCall;
}

/**
 * Shows an app, delivers its call and result, and waits until it has received them. Records the outcome in `observation`: an app that does
 * not complete its handshake in time has failed if the browser is alive. If the browser is gone, the app is unmeasured.
 *
 * @throws {BrowserGoneError} if the browser is gone before there is a page
 * @throws the signal's reason once it aborts
 */
export async function showApp(
  { html, policy }: App,
  observation: WidgetObservation,
  { devtools, clock, signal, renderTimeoutMs, host: hostOptions, serverUrl, call }: ShowOptions,
): Promise<ShownApp> {
  await using stack = new Disposer();
  let isInitialized = false;
  const host = createAppHost({
    ...hostOptions,
    policy,
    viewport,
    onInitialized: () => {
      isInitialized = true;
    },
  });
  const view = stack.use(
    await openView(devtools, {
      html,
      policy,
      // An app of a remote server must not reach services on this machine.
      mayReachLoopback: serverUrl === undefined || isLoopback(new URL(serverUrl).hostname),
      onMessage: (message) => {
        const answer = async () => {
          const answered = await host.receive(message);
          if (answered !== null) await view.post(answered);
        };
        // If the page is gone, nothing waits for the answer.
        answer().catch(() => {});
      },
    }),
  );
  observation.consoleErrors = view.consoleErrors;
  const attempt: ShownApp['attempt'] = async (once, afterMs) => {
    const waited = await waitFor(once, { clock, signal, gone: view.gone, afterMs });
    if (waited.kind !== 'late' || !waited.isStuck) return waited;
    const timeout = { clock, signal, gone: view.gone, afterMs: aliveMs };
    const alive = await waitFor(async () => ({ done: await devtools.send('Browser.getVersion') }), timeout);
    return alive.kind === 'done' ? waited : { kind: 'gone', reason: 'The browser does not answer.' };
  };
  const startMs = clock.monotonicMs();
  await view.load();
  const problem = () =>
    host.hasBegun
      ? 'did not send `ui/notifications/initialized` after `ui/initialize`'
      : 'did not send `ui/initialize`';
  const ready = await attempt(async () => (isInitialized ? { done: null } : { problem: problem() }), renderTimeoutMs);
  const latencyMs = Math.round(clock.monotonicMs() - startMs);
  if (ready.kind === 'gone') {
    observation.reason = `The browser established nothing: ${ready.reason}`;
  } else if (ready.kind === 'late') {
    observation.status = 'failed';
    observation.reason = `its app ${ready.problem} within ${formatDuration(renderTimeoutMs)}${describeConsole(observation)}`;
  } else {
    Object.assign(observation, { status: 'rendered', reason: null, latencyMs });
    await deliver(call, view, attempt);
    stack.defer(async () => {
      await view.post(requestTeardown).catch(() => {});
      const answered = async () => (host.hasAnswered(teardownId) ? { done: null } : { problem: '' });
      const { signal: never } = new AbortController();
      await waitFor(answered, { clock, signal: never, gone: view.gone, afterMs: teardownMs });
    });
  }
  const ending = stack.move();
  return { view, attempt, [Symbol.asyncDispose]: async () => await ending[Symbol.asyncDispose]() };
}

/**
 * Delivers the call and the result to an app, and waits until its scripts have processed them. Posts to a stuck app too, in case it
 * continues.
 */
async function deliver(call: ShownCall, view: View, attempt: ShownApp['attempt']): Promise<void> {
  const prepared = async () => ({ done: await hasReceived(view, '') });
  await attempt(prepared, deliverMs);
  const resultMessage = notifyToolResult(call.result);
  const post = async () => {
    await view.post(notifyToolInput(call.arguments));
    await view.post(resultMessage);
    return { done: null };
  };
  await attempt(post, deliverMs);
  const received = async () =>
    (await hasReceived(view, resultMessage.method)) ? { done: null } : { problem: 'has not received its result' };
  await attempt(received, deliverMs);
  await attempt(async () => ({ done: await settleView(view) }), deliverMs);
}

/** The time limit of each step of the delivery, in milliseconds. An app that removed its document never receives the result. */
const deliverMs = 2000;
