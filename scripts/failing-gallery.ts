import { readdir, readFile } from 'node:fs/promises';
import { renderComment } from '../src/report/comment.ts';
import { renderHtml } from '../src/report/html/page.ts';
import { parseReport } from '../src/report/report-json.ts';
import { renderSummary } from '../src/report/summary.ts';
import { renderTerminal } from '../src/report/terminal.ts';

/** The lines of the page that fit on a first screen. */
const screenLines = 40;

/** Renders what each surface shows of the recorded failures, by the path of the file; they ran once, by `record-failures.ts`. */
export async function renderFailingGallery(root: URL): Promise<Array<[path: string, text: string]>> {
  const folder = 'examples/failing/gallery';
  const names = (await readdir(new URL(`${folder}/`, root))).filter((name) => name.endsWith('.json')).toSorted();
  return await Promise.all(
    names.map(async (file): Promise<[string, string]> => {
      const name = file.replace(/\.json$/, '');
      const text = await readFile(new URL(`${folder}/${file}`, root), 'utf8');
      return [`${folder}/${name}.md`, renderFailure(name, text)];
    }),
  );
}

function renderFailure(name: string, json: string): string {
  const report = parseReport(JSON.parse(json));
  const links = { job: 'evals', run: { label: 'Run 7', url: 'https://github.com/octo/notes/actions/runs/7' } };
  const block = (title: string, text: string, language: string) =>
    [`## ${title}`, '', `\`\`\`\`\`${language}`, text.trim(), '`````', ''].join('\n');
  return [
    `# ${nameFailure(name)}`,
    '',
    block('Log', renderTerminal(report, { color: false, columns: 100 }), 'text'),
    block('Job summary', renderSummary(report), 'markdown'),
    block('Comment', renderComment(report, links), 'markdown'),
    block('First screen of the page', readFirstScreen(renderHtml(report)), 'text'),
  ].join('\n');
}

/** Reads the text that the page shows before its script runs. */
function readFirstScreen(page: string): string {
  const body = page.slice(page.indexOf('<body>'), page.indexOf('<script type="application/json"'));
  const text = body
    .replaceAll(/<(?:p|li|h\d|section|header|main|pre|tr|div)[^>]*>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, screenLines).join('\n');
}

/** `03-a-wrong-sentence` is `A wrong sentence`. */
function nameFailure(name: string): string {
  const words = name.replace(/^\d+-/, '').replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
