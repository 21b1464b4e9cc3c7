import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Parses the document in GitHub's dialect and lists all nodes in document order. */
export function listMarkdownNodes(markdown: string): Nodes[] {
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const walk = (node: Nodes): Nodes[] => [node, ...('children' in node ? node.children.flatMap(walk) : [])];
  return walk(root);
}

/** HTML of the project's own pages, without external content. */
const ownHtml =
  /^(?:<br>|<\/details>|<details>\n<summary>(?:\d+ cases? passed(?: sometimes)?|\d+ (?:more )?cases? did not pass|What failed in \d+ (?:more )?cases?|\d+ commands? to run a case again|\d+ (?:findings?|requirements?))<\/summary>)$/;

const inertTypes = new Set(
  'root heading paragraph blockquote text strong inlineCode code thematicBreak list listItem table tableRow tableCell break'.split(
    ' ',
  ),
);

/**
 * Lists nodes that could have an effect: HTML, links, images, references, unintended emphasis, and text that GitHub would turn into a mention or a
 * reference after rendering. Empty for a page that contains untrusted text safely.
 */
export function listActiveNodes(markdown: string): Nodes[] {
  return listMarkdownNodes(markdown).filter((node) => {
    if (node.type === 'html') return !ownHtml.test(node.value);
    if (node.type === 'text') return /[@<>]|#\d|gh-\d|https?:|www\./i.test(node.value);
    return !inertTypes.has(node.type);
  });
}

/** Returns the visible text of a line: its texts and code spans, joined. */
export function readMarkdownText(markdown: string): string {
  return listMarkdownNodes(markdown)
    .map((node) => (node.type === 'text' || node.type === 'inlineCode' ? node.value : ''))
    .join('');
}
