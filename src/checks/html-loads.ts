/** A URL that a document loads, and the list of the policy that must allow it. */
export interface HtmlLoad {
  url: string;
  allowedBy: 'resourceDomains' | 'connectDomains' | 'frameDomains' | 'baseUriDomains';
}

interface Tag {
  name: string;
  attributes: ReadonlyMap<string, string>;
  /** The content of a script or a style; empty for other elements. */
  content: string;
}

const loadingAttributes: { readonly [Name in string]?: readonly string[] } = {
  script: ['src'],
  img: ['src', 'srcset'],
  audio: ['src'],
  video: ['src', 'poster'],
  source: ['src', 'srcset'],
  track: ['src'],
  embed: ['src'],
  object: ['data'],
  input: ['src'],
  iframe: ['src'],
  base: ['href'],
};

/** The relations of a `link` whose target a browser loads. */
const loadingRelations = /\b(?:stylesheet|preload|modulepreload|prefetch|icon|manifest)\b/i;

const absolute = /^(?:https?:|wss?:)?\/\//i;

/**
 * Lists the absolute URLs that an HTML document loads: in attributes of elements, in `url()` and `@import` of its styles, and as the
 * literal first argument of `fetch`, `WebSocket` and `EventSource` in its scripts. It does not find URLs that a script computes. Runs in
 * time proportional to the length of the text.
 */
export function listHtmlLoads(html: string): HtmlLoad[] {
  const loads: HtmlLoad[] = [];
  const add = (url: string, allowedBy: HtmlLoad['allowedBy']) => {
    if (absolute.test(url)) loads.push({ url, allowedBy });
  };
  for (const { name, attributes, content } of readTags(html)) {
    const names = loadingAttributes[name] ?? (isLoadingLink(name, attributes) ? ['href'] : []);
    const allowedBy = name === 'iframe' ? 'frameDomains' : name === 'base' ? 'baseUriDomains' : 'resourceDomains';
    for (const attribute of names) {
      const value = attributes.get(attribute)?.trim() ?? '';
      const urls =
        attribute === 'srcset' ? value.split(',').map((part) => part.trim().split(/\s/, 1)[0] ?? '') : [value];
      for (const url of urls) add(url, allowedBy);
    }
    const style = `${name === 'style' ? content : ''} ${attributes.get('style') ?? ''}`;
    for (const [, url = ''] of style.matchAll(/(?:\burl\(|@import\s)\s*['"]?([^'")\s]+)/gi))
      add(url, 'resourceDomains');
    if (name !== 'script') continue;
    const calls = content.matchAll(/\b(?:fetch|WebSocket|EventSource)\s?\(\s?['"`]([^'"`\s$]+)/g);
    for (const [, url = ''] of calls) add(url, 'connectDomains');
  }
  return loads;
}

function isLoadingLink(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return name === 'link' && loadingRelations.test(attributes.get('rel') ?? '');
}

function* readTags(html: string): Generator<Tag> {
  // Lowers only ASCII letters, so that positions stay the same.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const find = (text: string, from: number) => {
    const found = lower.indexOf(text, from);
    return found === -1 ? html.length : found;
  };
  for (let at = find('<', 0); at < html.length; at = find('<', at)) {
    if (lower.startsWith('<!--', at)) {
      at = find('-->', at + 4);
      continue;
    }
    const name = /^<([a-z][\w-]*)/.exec(lower.slice(at, at + 50))?.[1];
    if (name === undefined) {
      at += 1;
      continue;
    }
    const end = findTagEnd(html, at);
    const closing = name === 'script' || name === 'style' ? find(`</${name}`, end) : end;
    yield {
      name,
      attributes: readAttributes(html.slice(at + 1 + name.length, end)),
      content: html.slice(end + 1, closing),
    };
    at = closing;
    if (closing === end) at += 1;
  }
}

/** Returns the end of the tag that begins at `start`; ignores a `>` in quotes. */
function findTagEnd(html: string, start: number): number {
  let quote = '';
  for (let at = start; at < html.length; at += 1) {
    const character = html.charAt(at);
    if (quote === '' && character === '>') return at;
    if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
  }
  return html.length;
}

function readAttributes(text: string): Map<string, string> {
  const found = text.matchAll(/([^\s"'<>/=]+)(?:\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g);
  return new Map(
    [...found].map(([, name = '', double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? '']),
  );
}
