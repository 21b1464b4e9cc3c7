import { gunzipSync } from 'node:zlib';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { PageData } from '../../../src/report/html/page-data.ts';

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.Document;

/** Lists the elements of a page as a browser parses it, each with its name and attributes, in order; with or without scripts. */
export function listElements(html: string, options: { scripting: boolean }): string[] {
  return collect(parse(html, { scriptingEnabled: options.scripting }), (node) =>
    'tagName' in node
      ? [`${node.tagName}${node.attrs.map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`).join('')}`]
      : [],
  );
}

/** Lists the comments of a page; a report page has none. */
export function listComments(html: string): string[] {
  return collect(parse(html), (node) => (node.nodeName === '#comment' && 'data' in node ? [node.data] : []));
}

/** Reads the data of the page's script, as a browser parses the element. */
export function readPage(html: string): PageData {
  const [text] = collect(parse(html), (node) =>
    'tagName' in node && node.attrs.some(({ name, value }) => name === 'id' && value === 'data')
      ? [node.childNodes.map((child) => ('value' in child ? child.value : '')).join('')]
      : [],
  );
  return JSON.parse(readPageText(text ?? '')) as PageData;
}

/** Reads the text of the element with the page's data, which is compressed if it is large. */
export function readPageText(text: string): string {
  return text.startsWith('{') ? text : gunzipSync(Buffer.from(text, 'base64')).toString('utf8');
}

function collect(node: Node, read: (node: Node) => string[]): string[] {
  return [...read(node), ...('childNodes' in node ? node.childNodes.flatMap((child) => collect(child, read)) : [])];
}
