import { dirname, join } from 'node:path';
import { ConfigurationError } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import type { Suite } from '../../cases/suite.ts';
import { emptyName, readWorkspace, type Workspace } from '../../workspace/workspace.ts';

/** The files that each iteration of a suite starts with. */
export interface PlannedWorkspace {
  /** The path relative to the working directory, or `empty`. */
  shown: string;
  files: Workspace;
}

/** Reads the workspace of a suite: its own, else that of the option. Null if there is none. */
export async function planWorkspace(
  suite: Suite,
  option: string | null,
  { cwd, findings }: { cwd: string; findings: Findings },
): Promise<PlannedWorkspace | null> {
  const { workspace } = suite;
  const written = workspace?.path ?? option;
  if (written === null) return null;
  const isOfFile = workspace !== null && written !== emptyName;
  const shown = isOfFile ? join(dirname(suite.location.file), written) : written;
  const location = workspace?.location ?? { input: 'workspace' };
  if (isOfFile && (await leadsOutOfCheckout(shown, cwd))) {
    findings.add({ ...location, code: 'link-out-of-checkout', message: linkOutMessage });
    return null;
  }
  try {
    return { shown, files: await readWorkspace(shown, cwd) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    findings.addAll(error.issues.map(({ code, message }) => ({ ...location, code, message })));
    return null;
  }
}
