import { stat } from 'node:fs/promises';
import { dirname, posix, resolve } from 'node:path';
import { type ConfigurationIssue, describeError } from '../base/errors.ts';
import { leadsOutOf, readTextFile } from '../base/files.ts';
import { formatCount } from '../base/text.ts';
import type { SourceLocation, Suite } from '../cases/suite.ts';
import { maxSnapshotBytes } from '../checks/snapshot.ts';
import { resolveChecks } from './build.ts';
import { isSnapshotPath, listSnapshotFiles } from './snapshots.ts';

/** The snapshots that the cases of some suites name. */
export interface SnapshotFiles {
  /** The texts of the existing snapshots, by path from the working directory. */
  texts: Map<string, string>;
  /** The folder that each snapshot must stay in, by path from the working directory. */
  folders: ReadonlyMap<string, string>;
  issues: ConfigurationIssue[];
  /** Issues about snapshots that do not exist. */
  missing: ConfigurationIssue[];
}

/** Reads the snapshots of all cases, each once. */
export async function loadSnapshots(suites: readonly Suite[], cwd: string): Promise<SnapshotFiles> {
  const found = new Map(suites.flatMap(listSnapshots).map((named) => [named.file, named]));
  const folders = new Map([...found].map(([file, { location }]) => [file, dirname(location.file)]));
  const loaded: SnapshotFiles = { texts: new Map(), folders, issues: [], missing: [] };
  for (const [file, { location }] of found) {
    const path = resolve(cwd, file);
    const addIssue = (code: string, message: string) => loaded.issues.push({ ...location, code, message });
    if (!isSnapshotPath(posix.relative(posix.dirname(location.file), file))) {
      const written =
        'inside the folder of the evals file, below a directory `snapshots` or with a name that ends in `.snap`, and not in a directory that begins with a dot';
      addIssue(
        'bad-snapshot',
        `The snapshot ${file} is not ${written}; move it. Only columns of \`each\` are filled in`,
      );
      continue;
    }
    try {
      const info = await stat(path).catch(() => null);
      if (info === null) {
        const message = `The snapshot ${file} does not exist; write it with \`mcp-eval-ci run --update-snapshots\``;
        loaded.missing.push({ ...location, code: 'missing-snapshot', message });
      } else if ((info.mode & 0o111) !== 0 && info.isFile()) {
        addIssue('snapshot-executable', `The snapshot ${file} is an executable file; run \`chmod -x\` on it`);
      } else if (await leadsOutOf(resolve(cwd, dirname(location.file)), path)) {
        addIssue('snapshot-outside', describeOutside(file));
      } else if (info.size > maxSnapshotBytes) {
        const size = formatCount(info.size, 'byte');
        addIssue(
          'snapshot-too-large',
          `The snapshot ${file} has ${size}, and may have ${maxSnapshotBytes}; use \`path\``,
        );
      } else {
        loaded.texts.set(file, await readTextFile(path));
      }
    } catch (error) {
      addIssue('unreadable-snapshot', `The snapshot ${file} cannot be read: ${describeError(error)}`);
    }
  }
  return loaded;
}

export function describeOutside(file: string): string {
  return `A symbolic link leads from the snapshot ${file} out of the folder of the evals file; put the file itself there`;
}

/** Lists the snapshots of the cases. Those of steps have the step's location, those of checks the case's. */
export function listSnapshots(suite: Suite): Array<{ file: string; location: SourceLocation }> {
  return suite.cases.flatMap((testCase) => {
    const { location } = testCase;
    const ofSteps = testCase.steps.flatMap(({ step, location }) =>
      step.kind === 'assert' ? listSnapshotFiles(step.assertion).map((file) => ({ file, location })) : [],
    );
    const ofChecks = resolveChecks(suite.checks, testCase.checks).flatMap(listSnapshotFiles);
    return [...ofSteps, ...ofChecks.map((file) => ({ file, location }))];
  });
}
