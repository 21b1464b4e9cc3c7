import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { autoWaitMs } from '../../../src/engine/apps/wait-for.ts';
import { type BrowserPool, createBrowserPool } from '../../../src/browser/pool.ts';
import type { CaseOutcome } from '../../../src/engine/outcome.ts';
import { runCase } from '../../../src/engine/run-case.ts';
import { createWidgets, type Widgets } from '../../../src/engine/apps/widgets.ts';
import { joinConnections } from '../../../src/engine/process-loss.ts';
import { Transcript } from '../../../src/engine/transcript.ts';
import { openSession } from '../../../src/mcp/session.ts';
import type { ElementCheck } from '../../../src/checks/elements.ts';
import type { TestCase } from '../../../src/cases/case.ts';
import type { Step } from '../../../src/cases/step.ts';
import type { InteractAction, Locator } from '../../../src/model/widget.ts';
import { findChromiumForGate, missingBrowser } from '../../support/browser.ts';
import { createJumpingClock } from '../../support/clocks/bent-clock.ts';
import { assertStep, callStep, createCase } from '../../support/factories/case-factory.ts';
import { type TestHttpServer, raw, startHttpServer } from '../../support/network/http-server.ts';
import { createApp, startAppServer } from '../../support/servers/app-server.ts';
import { type FixtureMcpServer, text } from '../../support/servers/fixture-mcp-server.ts';

const weather = createApp(
  `<h1>Weather</h1><p data-testid="input"></p><p id="result"></p>
   <label>City <input id="city" value="Rome"></label> <input id="off" disabled>
   <button id="go">Refresh now</button> <button id="never" disabled>Never</button>
   <p id="secret" style="display: none">hidden words</p> <ul></ul>
   <div style="position: relative"><button id="below">Below</button><i id="cover" style="position: absolute; inset: 0"></i></div>
   <my-panel></my-panel><p id="far" style="margin-top: 2000px">Far below</p>`,
  `oninput = (input) => { find('[data-testid=input]').textContent = 'for ' + input.city; };
   onresult = ({ structuredContent: { degrees } }) => { find('#result').innerHTML = 'It is <b>' + degrees + '</b> degrees'; };
   const say = (words) => { find('h1').textContent = words; };
   find('#go').addEventListener('click', async () => {
     const { content } = await request('tools/call', { name: 'refresh', arguments: { city: find('#city').value } });
     find('ul').innerHTML = '<li>' + content[0].text + '</li>';
   });
   find('#go').addEventListener('dblclick', () => say('Clicked twice'));
   find('#go').addEventListener('contextmenu', () => say('Opened a menu'));
   find('#city').addEventListener('keydown', ({ key }) => { if (key === 'Enter') say('Entered ' + find('#city').value); });
   addEventListener('scroll', () => { if (scrollY > 100) say('Scrolled'); });
   customElements.define('my-panel', class extends HTMLElement {
     connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<button>In the shadow</button>'; }
   });`,
);

const asking = createApp(
  '<p id="asked">Asking</p>',
  `onresult = async () => {
     const ask = (method, params) => request(method, params).then(JSON.stringify, ({ message }) => message);
     const lines = [
       await ask('tools/call', { name: 'kept' }), await ask('tools/call', { name: 'gone' }), await ask('tools/call', { name: 3 }),
       await ask('ui/open-link', { url: 'https://example.com' }), await ask('ui/own', {}), await ask('ping', {}),
       await ask('ui/message', { role: 'user', content: { type: 'text', text: 'a' } }),
       await ask('ui/request-display-mode', { mode: 'fullscreen' }),
       JSON.parse(await ask('resources/read', { uri: 'ui://asking/view' })).contents[0].mimeType,
     ];
     find('#asked').innerText = lines.join('\\n');
   };`,
);

/** A call that an app makes before its handshake, by which a test sees that its script runs. */
function callAtStart(name: string): string {
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
  return `<script>parent.postMessage(${call}, '*')</script>`;
}

let server: FixtureMcpServer;
let browser: BrowserPool;
/** What an app may read that declares it, and what none declares. */
let near: TestHttpServer;
let unnamed: TestHttpServer;

beforeAll(async () => {
  if (missingBrowser !== null) return;
  browser = createBrowserPool(findChromiumForGate(), systemClock);
  const readable = raw(200, 'Near enough', { 'access-control-allow-origin': '*' });
  [near, unnamed] = await Promise.all([startHttpServer(readable), startHttpServer(readable)]);
  const readAll = `onresult = async () => {
    const read = (url) => fetch(url).then((response) => response.text(), () => 'refused');
    find('p').textContent = (await Promise.all([read('${near.origin}/'), read('${unnamed.origin}/')])).join(', ');
  };`;
  server = await startAppServer({
    reaching: { html: createApp('<p>Reaches</p>', readAll), csp: { connectDomains: [near.origin] } },
    weather: { html: weather, call: () => ({ ...text('4 degrees'), structuredContent: { degrees: 4 } }) },
    refresh: { call: ({ args }) => text(`Refreshed ${String(args['city'])}`) },
    plain: {},
    kept: { visibility: ['model'] },
    asking: { html: asking },
    noisy: { html: createApp('<p>Noise</p>', `onresult = () => { console.error('broken', 7); undefinedName(); };`) },
    loading: { html: createApp('<img src="https://images.example.com/a.png"><p>Loads</p>') },
    fetching: { html: createApp('<p>Fetches</p>', `fetch('https://api.example.com/').catch(() => {});`) },
    leaving: { html: createApp('<p>Leaves</p>', `onresult = () => { location = 'https://elsewhere.example.com/'; };`) },
    'begun-silent': {},
    silent: { html: `<!doctype html><p>Says nothing</p>${callAtStart('begun-silent')}` },
    'begun-halting': {},
    halting: {
      html: createApp('<p>Begins</p>').replace(
        "post({ method: 'ui/notifications/initialized' })",
        "request('tools/call', { name: 'begun-halting' })",
      ),
    },
    'begun-thrower': {},
    thrower: { html: `<!doctype html><script>throw new Error('no start')</script>${callAtStart('begun-thrower')}` },
    typed: { html: createApp('<p>Text</p>'), mimeType: 'text/html' },
    stuck: {
      html: createApp('<button>Hang</button>', `find('button').addEventListener('click', () => { for (;;); });`),
    },
    failing: {
      html: weather,
      call: () => {
        throw new Error('no weather');
      },
    },
  });
});

afterAll(async () => {
  await near?.[Symbol.asyncDispose]();
  await unnamed?.[Symbol.asyncDispose]();
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** Two tries are enough where the gate waits in vain: a pause between them takes as long as it waits. */
function createImpatientClock(isImpatient: () => boolean): typeof systemClock {
  const clock = createJumpingClock({ fromMs: 0, toMs: 0, instead: 0 });
  return {
    ...clock,
    sleep: async (delayMs, options) => {
      await clock.sleep(delayMs, options);
      if (delayMs === 50 && isImpatient()) clock.jump(autoWaitMs / 2);
    },
  };
}

async function run(
  steps: Step[],
  { clock = systemClock, ...overrides }: Partial<TestCase> & { clock?: typeof systemClock } = {},
): Promise<CaseOutcome> {
  const target = { url: server.url, serverName: 'apps', protocol: 'legacy' } as const;
  return await runCase(createCase(steps, overrides), target, { clock, timeoutMs: 120_000, browser });
}

/** Shows the app of `weather` once, for assertions that all hold of it. */
async function showWeather(stack: AsyncDisposableStack): Promise<Widgets> {
  const { signal } = new AbortController();
  const target = { url: server.url, serverName: 'apps', protocol: 'legacy' } as const;
  const watch = { logLevel: null, lists: false, apps: true, onNotification: () => {} };
  const session = stack.use(await openSession(target, { clock: systemClock, signal, watch }));
  const connection = joinConnections([{ session, target, visit: null }], signal);
  const list = await session.listTools({ signal });
  let isShown = false;
  const limit = { hold: () => ({ [Symbol.dispose]: () => {} }) };
  const transcript = new Transcript(systemClock);
  const widgets = stack.use(
    createWidgets({ browser, clock: createImpatientClock(() => isShown), signal, limit, transcript }),
  );
  const result = { content: [], structuredContent: { degrees: 4 } };
  for (const toolName of ['plain', 'weather']) {
    const declaration = list?.get(toolName) ?? { appUri: null, description: null, inputSchema: {} };
    await widgets.show({ toolName, arguments: { city: 'Oslo' }, result }, { connection, declaration });
  }
  isShown = true;
  return widgets;
}

function readAssertion(step: Step): ElementCheck {
  if (step.kind !== 'assert' || 'type' in step.assertion)
    throw new TypeError('The step asserts nothing about a widget.');
  return step.assertion;
}

const show = callStep('weather', { city: 'Oslo' });
const interact = (action: InteractAction, toolName = 'weather'): Step => ({
  id: action.kind,
  kind: 'interact',
  toolName,
  action,
});
const click = (target: Locator, clickType: 'left' | 'double' | 'right' = 'left') =>
  interact({ kind: 'click', target, clickType });
const sees = (words: string, toolName = 'weather') => assertStep({ kind: 'textVisible', toolName, text: words });

const skipNote = missingBrowser === null ? '' : ` (skipped: ${missingBrowser})`;

describe.skipIf(missingBrowser !== null)(`a widget in a browser${skipNote}`, () => {
  it('shows the arguments and the result of its call', async () => {
    const outcome = await run([
      show,
      sees('for oslo'),
      sees('It is 4 degrees'),
      assertStep({ type: 'widgetRendered', toolName: 'weather' }),
      assertStep({ type: 'widgetRenderLatencyUnder', ms: 60_000 }),
      assertStep({ type: 'widgetNoConsoleErrors' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    const observation = { toolName: 'weather', status: 'rendered', consoleErrors: { entries: [] }, toolCalls: [] };
    expect(outcome.trace.widgetRenderObservations).toMatchObject([observation]);
  });

  it('finds elements by role, text, selector, test id and position, in open shadow roots too', async () => {
    const visible = (target: Locator) => assertStep({ kind: 'elementVisible', toolName: 'weather', target });
    const outcome = await run([
      show,
      visible({ role: { role: 'button', name: 'refresh' } }),
      visible({ role: { role: 'button', name: 'Refresh now', exact: true } }),
      visible({ role: { role: 'textbox', name: 'City' }, css: '#city' }),
      visible({ text: 'Far below' }),
      visible({ testId: 'input', text: 'Oslo' }),
      visible({ css: 'button', nth: 1 }),
      visible({ role: { role: 'button', name: 'In the shadow' } }),
      visible({ text: 'in the SHADOW' }),
      assertStep({ kind: 'elementHidden', toolName: 'weather', target: { css: '#secret' } }),
      assertStep({
        kind: 'elementHidden',
        toolName: 'weather',
        target: { role: { role: 'button', name: 'refresh', exact: true } },
      }),
      assertStep({ kind: 'inputValue', toolName: 'weather', target: { css: '#city' }, equals: 'Rome' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
  });

  it('reacts to typing and a click, and calls a tool of its server', async () => {
    const outcome = await run([
      show,
      interact({ kind: 'type', target: { role: { role: 'textbox', name: 'City' } }, text: 'São Paulo' }),
      assertStep({ kind: 'inputValue', toolName: 'weather', target: { css: '#city' }, equals: 'São Paulo' }),
      click({ role: { role: 'button', name: 'Refresh now' } }),
      sees('Refreshed São Paulo'),
      assertStep({ kind: 'widgetToolCalled', toolName: 'weather', calledToolName: 'refresh' }),
      assertStep({ type: 'widgetNoConsoleErrors' }),
      assertStep({ type: 'toolNeverCalled', toolName: 'refresh' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null, actualToolCalls: [{ toolName: 'weather' }] });
    expect(outcome.trace.widgetRenderObservations?.[0]?.toolCalls).toEqual([
      { toolName: 'refresh', isForwarded: true, error: null },
    ]);
    expect(outcome.trace.spans).toContainEqual(
      expect.objectContaining({ name: 'refresh', category: 'tool', status: 'ok' }),
    );
  });

  it('reacts to keys, the wheel, double clicks and the right button', async () => {
    const outcome = await run([
      show,
      click({ css: '#go' }, 'double'),
      sees('Clicked twice'),
      click({ css: '#go' }, 'right'),
      sees('Opened a menu'),
      interact({ kind: 'type', target: { css: '#city' }, text: 'Bern' }),
      interact({ kind: 'key', key: 'Control+a' }),
      interact({ kind: 'key', key: 'X' }),
      interact({ kind: 'key', key: 'Enter' }),
      sees('Entered X'),
      interact({ kind: 'wait', ms: 1 }),
      interact({ kind: 'scroll', direction: 'down', amount: 400 }),
      sees('Scrolled'),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
  });

  describe('that shows the weather', () => {
    const stack = new AsyncDisposableStack();
    let shown: Widgets;
    beforeAll(async () => {
      shown = await showWeather(stack);
    });
    afterAll(async () => await stack.disposeAsync());

    it.each<[string, Step, string]>([
      [
        'a text that it does not show',
        sees('5 degrees'),
        'textVisible: weather: the app does not show "5 degrees"; it shows "Weather',
      ],
      ['a hidden text', sees('hidden words'), 'the app does not show "hidden words"'],
      [
        'a hidden element',
        assertStep({ kind: 'elementVisible', toolName: 'weather', target: { css: '#secret' } }),
        'elementVisible: weather: <p id="secret"> is not visible: {"css":"#secret"} (after 5 s)',
      ],
      [
        'a position that no element has',
        assertStep({ kind: 'elementVisible', toolName: 'weather', target: { css: 'h1', nth: 1 } }),
        'only 1 elements match',
      ],
      [
        'a visible element that must be hidden',
        assertStep({ kind: 'elementHidden', toolName: 'weather', target: { text: 'Weather' } }),
        'elementHidden: weather: <h1> is visible',
      ],
      [
        'another value of a field',
        assertStep({ kind: 'inputValue', toolName: 'weather', target: { css: '#city' }, equals: 'Oslo' }),
        'inputValue: weather: <input id="city"> has the value "Rome", not "Oslo"',
      ],
      [
        'the value of what is no field',
        assertStep({ kind: 'inputValue', toolName: 'weather', target: { css: 'h1' }, equals: '' }),
        '<h1> has no value, which only fields have',
      ],
      [
        'a call that it did not make',
        assertStep({ kind: 'widgetToolCalled', toolName: 'weather', calledToolName: 'refresh' }),
        'widgetToolCalled: weather: the app has not called refresh; it called no tool',
      ],
      ['a click on nothing', click({ text: 'Absent' }), 'click: weather: no element matches (after 5 s)'],
      ['a click on a disabled button', click({ css: '#never' }), 'click: weather: <button id="never"> is disabled'],
      [
        'a click on a covered button',
        click({ css: '#below' }),
        'click: weather: <button id="below"> is covered by <i id="cover">',
      ],
      [
        'typing where no text goes',
        interact({ kind: 'type', target: { css: 'h1' }, text: 'a' }),
        'type: weather: <h1> takes no text',
      ],
      [
        'a key that is none',
        interact({ kind: 'key', key: 'Entr' }),
        'key: weather: there is no key "Entr" (after 5 s)',
      ],
      ['a selector that is none', click({ css: '##' }), 'is not a valid selector'],
      [
        'a tool that has no app',
        assertStep({ kind: 'textVisible', toolName: 'plain', text: 'a' }),
        'textVisible: plain declares no app in `_meta.ui.resourceUri`.',
      ],
      [
        'a tool that was not called',
        assertStep({ kind: 'textVisible', toolName: 'asking', text: 'a' }),
        'textVisible: asking has no answer yet whose app could be shown; call the tool in a step before.',
      ],
    ])('fails on %s', async (_, step, reason) => {
      const outcome = step.kind === 'interact' ? await shown.interact(step) : await shown.assert(readAssertion(step));
      expect(outcome).toMatchObject({ status: 'fail', effect: 'stop' });
      expect(outcome.reason).toContain(reason);
    });
  });

  it('refuses what its host does not offer, and answers what it does', async () => {
    const shown = [
      'The server keeps the tool "kept" from apps.',
      'The server lists no tool "gone"',
      'tools/call needs a name',
      'This host opens no links.',
      'This host has no method ui/own.',
      '{"mode":"inline"}',
      'text/html;profile=mcp-app',
    ];
    const outcome = await run([callStep('asking'), ...shown.map((words) => sees(words, 'asking'))]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    expect(outcome.trace.widgetRenderObservations?.[0]?.toolCalls).toMatchObject([
      { toolName: 'kept', isForwarded: false, error: 'The server keeps the tool "kept" from apps.' },
      { toolName: 'gone', isForwarded: false },
    ]);
    expect(server.events).not.toContain('call kept');
  });

  it('reaches a server on loopback that its resource declares, and no other', async () => {
    const outcome = await run([callStep('reaching'), sees('Near enough, refused', 'reaching')]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    expect([near.requests.length, unnamed.requests.length]).toEqual([1, 0]);
    const strict = await run([callStep('reaching'), assertStep({ type: 'widgetNoConsoleErrors' })]);
    expect(strict).toMatchObject({ result: 'failed', error: expect.stringContaining(`'${unnamed.origin}/' violates`) });
    expect(strict.error).not.toContain(`'${near.origin}/'`);
  });

  it.each<[string, string, string[]]>([
    ['errors and exceptions of its scripts', 'noisy', ['broken 7', 'ReferenceError: undefinedName is not defined']],
    ['an image of an origin that it does not declare', 'loading', [`'https://images.example.com/a.png' violates`]],
    ['a connection that it does not declare', 'fetching', [`'https://api.example.com/' violates`]],
    ['leaving its frame', 'leaving', [`'https://elsewhere.example.com/' violates`]],
  ])('fails widgetNoConsoleErrors on %s', async (_, tool, messages) => {
    const steps = [
      callStep(tool),
      assertStep({ type: 'widgetRendered' }),
      assertStep({ type: 'widgetNoConsoleErrors' }),
    ];
    const outcome = await run(steps);
    expect(outcome).toMatchObject({
      result: 'failed',
      steps: [{ status: 'ok' }, { status: 'ok' }, { status: 'fail' }],
    });
    for (const message of messages) expect(outcome.error).toContain(message);
  });

  it.each<[string, string, string]>([
    ['that never begins its handshake', 'silent', 'its app did not send `ui/initialize` within 1 min'],
    [
      'that does not finish its handshake',
      'halting',
      'did not send `ui/notifications/initialized` after `ui/initialize` within 1 min',
    ],
    ['whose script fails', 'thrower', 'within 1 min; its console has: Uncaught Error: no start'],
  ])('fails on an app %s', async (_, tool, reason) => {
    const clock = createJumpingClock({ fromMs: 0, toMs: 0, instead: 0 });
    void server.waitFor(`call begun-${tool}`).then(() => clock.jump(60_000));
    const call = { ...callStep(tool), renderTimeoutMs: 60_000 };
    const outcome = await run([call, assertStep({ type: 'widgetRendered' }), sees('a', tool)], { clock });
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toContain(reason);
  });

  it('fails on an app of another MIME type, in every assertion about it', async () => {
    const reason =
      '"ui://typed/view" cannot be shown: its MIME type is "text/html", expected "text/html;profile=mcp-app"';
    for (const assertion of [assertStep({ type: 'widgetRendered' }), sees('a', 'typed')]) {
      const outcome = await run([callStep('typed'), assertion]);
      expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
      expect(outcome.error).toContain(reason);
    }
  });

  it('fails on a script without an end, since the browser answers', async () => {
    const clock = createJumpingClock({ fromMs: 1999, toMs: 5001, instead: 1000 });
    const outcome = await run(
      [callStep('stuck'), interact({ kind: 'click', target: { css: 'button' } }, 'stuck'), sees('Hang', 'stuck')],
      { clock },
    );
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toContain('stuck: the app does not answer, as in a script without an end');
  });

  it('shows no app of a call without a result', async () => {
    const outcome = await run([callStep('failing'), assertStep({ type: 'widgetRendered' })], {
      advancedConfig: { failOnToolError: false },
    });
    expect(outcome.error).toContain('widgetRendered: no app of any tool was shown');
  });

  it('starts no browser and announces no apps for a case about none', async () => {
    const closed = { open: () => Promise.reject(new Error('It was opened.')), [Symbol.asyncDispose]: async () => {} };
    const target = { url: server.url, serverName: 'apps', protocol: 'legacy' } as const;
    const outcome = await runCase(createCase([show]), target, {
      clock: systemClock,
      timeoutMs: 60_000,
      browser: closed,
    });
    expect(outcome).toMatchObject({ result: 'passed' });
    expect(outcome.trace).not.toHaveProperty('widgetRenderObservations');
  });
});
