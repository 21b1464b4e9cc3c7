import { relative, resolve, sep } from 'node:path';
import type { Redactor } from '../base/redaction.ts';
import { findExistingFiles } from '../gate/publish/publish-files.ts';
import { renderAnnotationCommands } from '../report/annotation-commands.ts';
import type { Annotation } from '../report/annotations.ts';

/**
 * Prints annotations where the command runs in a workflow of GitHub, and nothing elsewhere. The runner reads them on either
 * stream. `places` are those that may be annotated; paths become relative to the workspace, which the step may have left
 * for a directory of its own.
 */
export async function printAnnotations(
  places: ReadonlyArray<{ readonly file?: string } | null>,
  planAnnotations: (fileExists: (file: string) => boolean) => Annotation[],
  { redactor, stream }: { redactor: Redactor; stream: NodeJS.WritableStream },
): Promise<void> {
  const { GITHUB_ACTIONS: isWorkflow, GITHUB_WORKSPACE: workspace } = process.env;
  if (isWorkflow !== 'true') return;
  const cwd = process.cwd();
  const existing = await findExistingFiles(places, cwd);
  const annotations = planAnnotations((file) => existing.has(file)).map((annotation) =>
    annotation.file === undefined || workspace === undefined
      ? annotation
      : { ...annotation, file: relative(workspace, resolve(cwd, annotation.file)).split(sep).join('/') },
  );
  stream.write(renderAnnotationCommands(annotations, redactor));
}
