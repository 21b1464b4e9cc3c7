import { z } from 'zod';
import { Disposer } from '../base/disposal.ts';
import { tryParseJson } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import { isLoopback } from '../http/url.ts';
import { type AppPolicy, composeContentSecurityPolicy, coversUrl, listOrigins } from '../model/app-policy.ts';
import { noProxy } from './chromium.ts';
import { BrowserGoneError, type DevTools, type DevToolsEvent } from './devtools.ts';
import { openWorld, type World } from './world.ts';

/** The errors in the widget's console, oldest first, including uncaught exceptions and violations of its policy. */
export interface ConsoleErrors {
  entries: string[];
  /** The number of errors above the limit. */
  dropped: number;
}

/** A widget in a frame of a browser page that relays its messages. Disposing it closes the page and deletes its storage. */
export interface View extends AsyncDisposable {
  /** Accepts input in the coordinates of the widget, which fills the page. */
  readonly page: PageInput;
  readonly world: World;
  readonly consoleErrors: ConsoleErrors;
  /** Aborts with a BrowserGoneError if the browser or the page crashes. */
  readonly gone: AbortSignal;
  /** Loads the document. Call it once. */
  load(): Promise<void>;
  /** Sends a message to the widget. */
  post(message: object): Promise<void>;
}

export interface PageInput {
  readonly viewport: { width: number; height: number };
  send(method: string, params: object): Promise<unknown>;
}

/** The size of the frame, in CSS pixels. */
export const viewport = { width: 800, height: 600 };

/** Hosts that no DNS server knows: the gate answers all requests to them itself. */
const hostUrl = 'https://host.invalid/';
const viewOrigin = 'https://view.invalid';
const viewUrl = `${viewOrigin}/`;

/** The widget may run scripts, in its own origin. It cannot open a window or dialog, download files or leave its frame. */
const sandbox = 'allow-scripts allow-same-origin allow-forms';

/** The permission that a frame needs to connect to loopback, by its current and its first name; alone it grants nothing. */
const loopbackFeatures = 'loopback-network; local-network-access';

const hostPolicy = `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src ${viewOrigin}`;

const hostPage = `<!doctype html>
<style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block; overflow: hidden }</style>
<script>
  let view;
  addEventListener('message', ({ data, source }) => {
    if (source === view?.contentWindow) toGate(JSON.stringify(data) ?? 'null');
  });
  const post = (message) => view.contentWindow.postMessage(message, '${viewOrigin}');
  addEventListener('DOMContentLoaded', () => view.focus());
</script>
<iframe sandbox="${sandbox}" allow="${loopbackFeatures}" src="${viewUrl}"></iframe>
<script>view = document.querySelector('iframe')</script>`;

/** The limits of a report. */
const maxErrors = 20;
const maxErrorLength = 300;

/** The longest message of a widget, in characters; longer ones are ignored. Widgets send small messages. */
const maxMessageLength = 4_000_000;

const created = z.object({ browserContextId: z.string() });
const targeted = z.object({ targetId: z.string() });
const attached = z.object({ sessionId: z.string() });
const attachedTarget = z.object({
  sessionId: z.string(),
  targetInfo: z.object({ targetId: z.string(), type: z.string() }),
});
const pausedRequest = z.object({ requestId: z.string(), request: z.object({ url: z.string() }) });
const bindingCall = z.object({ payload: z.string() });
const remoteValue = z.object({ description: z.string().optional(), value: z.unknown().optional() });
const consoleCall = z.object({ type: z.string(), args: z.array(remoteValue) });
const thrown = z.object({
  exceptionDetails: z.object({ text: z.string(), exception: remoteValue.optional() }),
});
const logged = z.object({ entry: z.object({ level: z.string(), text: z.string(), url: z.string().optional() }) });

interface ViewOptions {
  html: string;
  policy: AppPolicy | null;
  /** True if it may connect to the origins on this machine that it declares. */
  mayReachLoopback: boolean;
  onMessage: (message: unknown) => void;
}

/**
 * Prepares a page that shows a document as a host of MCP Apps does: in a sandboxed frame with its own origin, under the
 * Content-Security-Policy of its declaration. In addition, the browser's network refuses requests to undeclared origins, and to loopback
 * unless `mayReachLoopback`. `onMessage` gets the messages that the document posts to its parent.
 *
 * @throws {BrowserGoneError} if the browser has ended
 */
export async function openView(
  devtools: DevTools,
  { html, policy, mayReachLoopback, onMessage }: ViewOptions,
): Promise<View> {
  const origins = listOrigins(policy).filter((origin) => mayReachLoopback || !isOnLoopback(origin));
  await using stack = new Disposer();
  const crashed = new AbortController();
  const { browserContextId } = created.parse(
    await devtools.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: noProxy,
      proxyBypassList: ['<-loopback>', ...origins.map((origin) => origin.replace(/^.*:\/\//, ''))].join(';'),
    }),
  );
  stack.defer(async () => {
    await devtools.send('Target.disposeBrowserContext', { browserContextId }).catch(() => {});
  });
  if (origins.some(isOnLoopback)) {
    // Each grant replaces the earlier ones, so this tries the names one after the other.
    const grant = async (permission: string) =>
      await devtools.send('Browser.grantPermissions', { permissions: [permission], browserContextId });
    await grant('loopbackNetwork').catch(async () => await grant('localNetworkAccess').catch(() => {}));
  }
  const { targetId } = targeted.parse(
    await devtools.send('Target.createTarget', { url: 'about:blank', browserContextId, ...viewport }),
  );
  const { sessionId: pageId } = attached.parse(
    await devtools.send('Target.attachToTarget', { targetId, flatten: true }),
  );
  /** The depth of each session's target: 0 is the page itself, 1 the frame of the widget if it has its own process. */
  const depths = new Map([[pageId, 0]]);
  let frameTarget: { sessionId: string; frameId: string } | null = null;
  const consoleErrors: ConsoleErrors = { entries: [], dropped: 0 };
  const addError = (text: string) => {
    if (consoleErrors.entries.length === maxErrors) consoleErrors.dropped += 1;
    else consoleErrors.entries.push(clipText(text.replaceAll(/\s+/g, ' ').trim(), maxErrorLength));
  };
  const prepare = async (sessionId: string) => {
    const commands: Array<[string, object?]> = [
      ['Inspector.enable'],
      ['Page.enable'],
      ['Runtime.enable'],
      ['Log.enable'],
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
      ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }],
      ['Runtime.runIfWaitingForDebugger'],
    ];
    // A worker knows only some of these commands. The browser handles them in order.
    await Promise.all(
      commands.map(async ([method, params]) => await devtools.send(method, params, sessionId).catch(() => {})),
    );
  };
  const respond = (sessionId: string, requestId: string, [body, policyText]: [string, string]) => {
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policyText };
    const response = {
      requestId,
      responseCode: 200,
      responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
      body: Buffer.from(body).toString('base64'),
    };
    ignore(devtools.send('Fetch.fulfillRequest', response, sessionId));
  };
  const answerRequest = (sessionId: string, { requestId, request: { url } }: z.infer<typeof pausedRequest>) => {
    if (url === hostUrl) respond(sessionId, requestId, [hostPage, hostPolicy]);
    else if (url === viewUrl) respond(sessionId, requestId, [html, composeContentSecurityPolicy(policy)]);
    else if (/^(?:data|blob):/.test(url) || origins.some((origin) => coversUrl(origin, url)))
      ignore(devtools.send('Fetch.continueRequest', { requestId }, sessionId));
    else ignore(devtools.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }, sessionId));
  };
  const handlers: { readonly [Method in string]?: (params: unknown, sessionId: string) => void } = {
    'Target.attachedToTarget': (params, parent) => {
      const { sessionId, targetInfo } = attachedTarget.parse(params);
      const depth = (depths.get(parent) ?? 0) + 1;
      depths.set(sessionId, depth);
      if (depth === 1 && targetInfo.type === 'iframe') frameTarget = { sessionId, frameId: targetInfo.targetId };
      ignore(prepare(sessionId));
    },
    'Fetch.requestPaused': (params, sessionId) => answerRequest(sessionId, pausedRequest.parse(params)),
    'Runtime.bindingCalled': (params, sessionId) => {
      const { payload } = bindingCall.parse(params);
      if (sessionId === pageId && payload.length <= maxMessageLength) onMessage(tryParseJson(payload));
    },
    'Runtime.consoleAPICalled': (params) => {
      const { type, args } = consoleCall.parse(params);
      if (type === 'error' || type === 'assert') addError(args.map(printRemote).join(' '));
    },
    'Runtime.exceptionThrown': (params) => {
      const { text, exception } = thrown.parse(params).exceptionDetails;
      addError(exception === undefined ? text : `${text} ${printRemote(exception)}`);
    },
    'Log.entryAdded': (params) => {
      const { level, text, url } = logged.parse(params).entry;
      if (level === 'error') addError(url === undefined || url === viewUrl ? text : `${text} (${url})`);
    },
    'Inspector.targetCrashed': () => crashed.abort(new BrowserGoneError('The page of the widget crashed.')),
  };
  const onEvent = ({ method, params, sessionId }: DevToolsEvent) => {
    const depth = sessionId === undefined ? undefined : depths.get(sessionId);
    if (sessionId === undefined || depth === undefined) return;
    // Frames inside the widget belong to another party, so their console errors do not count.
    const isForeign = depth > 1 && (method.startsWith('Runtime.') || method.startsWith('Log.'));
    if (!isForeign) handlers[method]?.(params, sessionId);
  };
  stack.defer(devtools.listen(onEvent));
  const send = async (method: string, params: object = {}) => await devtools.send(method, params, pageId);
  await send('Runtime.addBinding', { name: 'toGate' });
  await Promise.all([
    prepare(pageId),
    send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false }),
    send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' }),
  ]);
  const world = openWorld(devtools, { pageId, findFrameTarget: () => frameTarget });
  const ending = stack.move();
  return {
    page: { viewport, send },
    world,
    consoleErrors,
    gone: AbortSignal.any([devtools.gone, crashed.signal]),
    load: async () => {
      await send('Page.navigate', { url: hostUrl });
    },
    post: async (message) => {
      // A line separator in a string is valid both in JSON and in a script.
      await send('Runtime.evaluate', { expression: `post(${JSON.stringify(message)})` });
    },
    [Symbol.asyncDispose]: async () => await ending[Symbol.asyncDispose](),
  };
}

function isOnLoopback(origin: string): boolean {
  return isLoopback(origin.replace(/^.*:\/\//, '').replace(/:\d+$/, ''));
}

function printRemote({ description, value }: z.infer<typeof remoteValue>): string {
  if (typeof value === 'string') return value;
  return value === undefined ? (description ?? 'undefined') : JSON.stringify(value);
}

/** Ignores errors: the page may be gone before a command reaches it. */
function ignore(sent: Promise<unknown>): void {
  sent.catch(() => {});
}
