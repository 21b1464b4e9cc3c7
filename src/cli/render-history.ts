import { resolve } from 'node:path';
import { ConfigurationError, describeError, readErrorCode } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { formatCount, listSome } from '../base/text.ts';
import { parseHistory } from '../history/history-record.ts';
import { renderHistoryPage } from '../history/page.ts';
import { summarizeHistory } from '../history/summarize.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import { writeOut } from './write-out.ts';

export interface HistoryFlags {
  branch?: string;
  repository?: string;
  currency?: string;
  out?: string;
}

/** Writes a page of the history file. Says on stderr which lines it skipped. */
export async function renderHistory(path: string, flags: HistoryFlags): Promise<void> {
  const refuse = (code: string, message: string) => new ConfigurationError([{ file: path, code, message }]);
  const text = await readTextFile(resolve(path)).catch((error: unknown) => {
    throw refuse(
      'bad-history',
      readErrorCode(error) === 'ENOENT'
        ? 'does not exist; gates write it with --history-path'
        : `cannot be read: ${describeError(error)}; name a history file`,
    );
  });
  const { records, skipped, firstSkipped } = parseHistory(text);
  const newest = records.at(-1);
  if (newest === undefined) {
    const why = firstSkipped === null ? 'is empty' : `has no record: line ${firstSkipped.line} ${firstSkipped.why}`;
    throw refuse('bad-history', `${why}; gates write records with --history-path`);
  }
  if (firstSkipped !== null) {
    const others = skipped === 1 ? '' : `, the first of ${formatCount(skipped, 'such line')}`;
    const warning = `Warning: ${path}: Skipped line ${firstSkipped.line}, which ${firstSkipped.why}${others}.`;
    process.stderr.write(`${escapeTerminalText(warning)}\n`);
  }
  const branch = flags.branch ?? newest.branch;
  const summary = summarizeHistory(records, branch);
  if (summary.gates.length === 0) {
    const known = listSome([...new Set(records.map((record) => record.branch ?? 'no branch'))], 10);
    throw refuse('unknown-branch', `has no gate of the branch ${JSON.stringify(branch)}; it has gates of ${known}`);
  }
  const page = renderHistoryPage(summary, {
    linkCommit: readRepository(flags.repository),
    currency: flags.currency ?? 'USD',
  });
  await writeOut(page, { ...flags, force: true });
}

/** Finds how commits are linked: by the flag, else by what the CI job says of its repository; null if neither does. */
function readRepository(given: string | undefined): ((commit: string) => string) | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name, CI_PROJECT_URL: project } = process.env;
  const own = server && name ? `${server}/${name}` : project;
  const text = given ?? own;
  if (!text) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const message = `${JSON.stringify(text)} is no address of a web page; write it like https://github.com/octo/server`;
    throw new ConfigurationError([{ input: 'repository', code: 'bad-repository', message }]);
  }
  const isGitLab = url.hostname.includes('gitlab') || (given === undefined && own === project);
  const root = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return (commit) => `${root}${isGitLab ? '/-' : ''}/commit/${commit}`;
}
