import type { PageData } from '../src/report/html/page-data.ts';
import { create, quote } from './dom.ts';

/** Names a line of a file, and links it if the page knows the file's address in the repository. */
export function createSourceLine({ file, line }: { file: string; line: number }, { files }: PageData): HTMLElement {
  const name = quote(`${file}:${line}`, 'place');
  const url = files.find(([path]) => path === file)?.[1];
  if (url === undefined || !/^https?:\/\//.test(url)) return name;
  return create('a', { class: 'source', href: `${new URL(url).href}#L${line}`, rel: 'noreferrer' }, name);
}
