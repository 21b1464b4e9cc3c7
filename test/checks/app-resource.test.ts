import { describe, expect, it } from 'vitest';
import { findAppProblems } from '../../src/checks/app-resource.ts';
import { listHtmlLoads } from '../../src/checks/html-loads.ts';

const uri = 'ui://weather/view';
const page = '<!DOCTYPE html><html><body>It rains.</body></html>';

function find(content: Record<string, unknown>, csp?: unknown): string[] {
  const meta = csp === undefined ? {} : { _meta: { ui: { csp } } };
  return findAppProblems(uri, {
    contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: page, ...content, ...meta }],
  });
}

describe('the resource of an app', () => {
  it('has no problem as text or as a blob', () => {
    expect(find({})).toEqual([]);
    expect(find({ text: undefined, blob: Buffer.from(page).toString('base64') })).toEqual([]);
  });

  it.each([
    ['another type', { mimeType: 'text/html' }, 'its MIME type is "text/html", expected "text/html;profile=mcp-app"'],
    ['no type', { mimeType: undefined }, 'its MIME type is null, expected "text/html;profile=mcp-app"'],
    ['no contents', { text: undefined }, 'it has neither text nor a blob'],
    ['JSON', { text: '{"a":1}' }, 'it is no HTML document: it begins with neither <!doctype html> nor <html>'],
    ['more than 5 MiB', { text: page + 'a'.repeat(5 * 1024 * 1024) }, 'it has 5242930 bytes; the limit is 5242880'],
  ])('with %s has a problem', (_, content, problem) => {
    expect(find(content)).toEqual([problem]);
  });

  it('needs a ui:// URI and contents', () => {
    expect(findAppProblems('https://a.example/', {})).toEqual(['its URI does not begin with ui://']);
    expect(findAppProblems(uri, { contents: [] })).toEqual(['the server returned no contents for it']);
  });

  it.each([
    [
      {
        connectDomains: ['https://api.example.com', 'wss://live.example.com:8443'],
        resourceDomains: ['https://*.example.com'],
      },
      [],
    ],
    [{ connectDomains: ['http://localhost:3000'], frameDomains: ['video.example.com'] }, []],
    [{ connectDomains: ['*'] }, ['connectDomains allows every origin with "*"']],
    [{ resourceDomains: ['https://*'] }, ['resourceDomains allows every origin with "https://*"']],
    [{ resourceDomains: ['https:'] }, ['resourceDomains allows every origin with "https:"']],
    [{ frameDomains: ['https://a.example/path'] }, ['frameDomains has "https://a.example/path", which is no origin']],
    [
      { baseUriDomains: ["https://a.example; script-src 'unsafe-eval'"] },
      [expect.stringContaining('which is no origin')],
    ],
    [{ connectDomains: 'https://a.example' }, ['its `_meta.ui.csp` is not an object of lists of origins']],
    [['https://a.example'], ['its `_meta.ui.csp` is not an object of lists of origins']],
  ])('judges the policy %j', (csp, problems) => {
    expect(find({}, csp)).toEqual(problems);
  });

  it('may load what its policy declares, by host, scheme and port', () => {
    const text = `<!doctype html><script src="https://cdn.example.com/a.js"></script>
      <img src='//img.example.com/b.png'><iframe src="https://video.example.com"></iframe>
      <script>fetch("https://api.example.com:8443/x"); new WebSocket('wss://live.example.com')</script>`;
    const declared = {
      resourceDomains: ['https://*.example.com'],
      frameDomains: ['video.example.com'],
      connectDomains: ['https://api.example.com:8443', 'wss://live.example.com'],
    };
    expect(find({ text }, declared)).toEqual([]);
    expect(
      find(
        { text },
        { ...declared, resourceDomains: ['https://cdn.example.com'], connectDomains: ['wss://live.example.com'] },
      ),
    ).toEqual([
      'it loads "//img.example.com/b.png", whose origin is not in resourceDomains',
      'it loads "https://api.example.com:8443/x", whose origin is not in connectDomains',
    ]);
    expect(
      find(
        { text: '<html><script src="http://cdn.example.com"></script>' },
        { resourceDomains: ['https://cdn.example.com'] },
      ),
    ).toHaveLength(1);
  });
});

describe('what an HTML document loads', () => {
  it('is read from elements, styles and scripts, and not from comments, text and links', () => {
    const html = `<!-- <img src="https://no.example/1"> --><a href="https://no.example/2">https://no.example/3</a>
      <LINK REL=stylesheet HREF=https://a.example/1><link rel=canonical href="https://no.example/4">
      <img srcset="https://a.example/2 2x, https://a.example/3 3x" alt="1 > 0"><base href="https://b.example/">
      <style>@import "https://a.example/4"; p { background: url(https://a.example/5) }</style>
      <div style="background:url('https://a.example/6')"></div>
      <script>const text = '<img src="https://no.example/5">'; fetch(\`https://c.example/\${id}\`)</script><img src="data:image/png;base64,AA">`;
    expect(listHtmlLoads(html).map(({ url, allowedBy }) => `${allowedBy} ${url}`)).toEqual([
      'resourceDomains https://a.example/1',
      'resourceDomains https://a.example/2',
      'resourceDomains https://a.example/3',
      'baseUriDomains https://b.example/',
      'resourceDomains https://a.example/4',
      'resourceDomains https://a.example/5',
      'resourceDomains https://a.example/6',
      'connectDomains https://c.example/',
    ]);
  });

  it.each([
    '<script>',
    '<!--',
    '<a href="',
    "<a b='",
    '<style>@import ',
    'url(',
    '<',
    '<img src=',
    'fetch( ',
    'İ<script src=//a>',
  ])('is found in time that grows with the length where a document repeats %j', (part) => {
    // Of the processor: what else the machine does must not count.
    const measure = (times: number) => {
      const html = part.repeat(times);
      const before = process.cpuUsage();
      listHtmlLoads(html);
      return process.cpuUsage(before).user;
    };
    const short = measure(20_000);
    // Eight times as long; the square of that would be 64.
    expect(Math.min(measure(160_000), measure(160_000), measure(160_000))).toBeLessThan(32 * Math.max(short, 1000));
  });
});
