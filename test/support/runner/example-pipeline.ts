import { execFile } from 'node:child_process';
import { chmod, cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { commandPath } from '../process/bundled-command.ts';
import { listChildVariables } from '../process/child-environment.ts';
import type { Workspace } from '../workspace.ts';

// Runs the jobs of examples/ci as their CI systems do: with the same shell, order of scripts, behaviour after a failure, and kept files.

/** The results of a job. */
export interface PipelineRun {
  exitCode: number;
  log: string;
  /** The kept files, relative to the workspace, sorted. */
  artifacts: string[];
}

interface PipelineJob {
  workspace: Workspace;
  /** The file in examples/ci. */
  file: string;
  /** The variables that the CI system sets in the job. */
  variables: Readonly<Record<string, string>>;
}

const examples = resolve(import.meta.dirname, '../../../examples');

/** The directory of a workspace whose commands the jobs find first. */
export const toolsDirectory = '.tools';

/** In a script of sh that starts the command: the gate runs one server for all iterations, without a sandbox, unless the job says otherwise. */
const runPlainly =
  'case "$1" in run | record) name=$1; shift; set -- "$name" --isolation run --sandbox off "$@" ;; esac';

/**
 * Writes commands that the jobs find first: `npx mcp-eval-ci` is the command of this checkout, `npm` has nothing to install or build, and
 * `others` are sh scripts by name.
 */
export async function addTools({ path }: Workspace, others: Readonly<Record<string, string>> = {}): Promise<void> {
  const tools = {
    npx: `[ "$1" = --yes ] && shift\n[ "\${1%@*}" = mcp-eval-ci ] || { echo "npx: $1 is not here" >&2; exit 127; }\nshift\n${runPlainly}\nexec '${process.execPath}' '${commandPath}' "$@"`,
    npm: 'echo "npm $*"',
    node: `exec '${process.execPath}' "$@"`,
    ...others,
  };
  await mkdir(join(path, toolsDirectory), { recursive: true });
  for (const [name, script] of Object.entries(tools)) {
    await writeFile(join(path, toolsDirectory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(path, toolsDirectory, name), 0o755);
  }
}

/** Copies a file of examples/ci into the workspace, as its header describes. */
export async function copyExample({ path }: Workspace, file: string, target: string): Promise<void> {
  await cp(join(examples, 'ci', file), join(path, target), { recursive: true });
}

async function readExample(file: string): Promise<unknown> {
  return parse(await readFile(join(examples, 'ci', file), 'utf8'));
}

/** Runs a bash script with these flags in the workspace. Both outputs go to one log. */
export function runBash(
  script: string,
  { flags, cwd, env }: { flags: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
): Promise<{ exitCode: number; log: string }> {
  const { PATH = '', ...rest } = listChildVariables();
  const path = `${join(cwd, toolsDirectory)}:${PATH}`;
  return new Promise((done) => {
    const child = execFile(
      'bash',
      [...flags, '-c', script],
      // Without SHLVL, a bash whose stdin is a socket reads ~/.bashrc, which may change PATH.
      { cwd, env: { ...rest, SHLVL: '1', ...env, PATH: path }, maxBuffer: 16 * 1024 * 1024 },
      (_error, stdout, stderr) => done({ exitCode: child.exitCode ?? -1, log: `${stdout}${stderr}` }),
    );
  });
}

async function listFiles({ path }: Workspace, patterns: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of glob([...patterns], { cwd: path, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(path.length + 1));
  }
  return files.toSorted();
}

const gitlabSchema = z.object({
  evals: z.object({
    script: z.array(z.string()),
    after_script: z.array(z.string()),
    artifacts: z.object({
      when: z.enum(['on_success', 'on_failure', 'always']),
      paths: z.array(z.string()),
      reports: z.object({ junit: z.string(), codequality: z.string() }),
    }),
  }),
});

/** Runs a job like GitLab's runner: `after_script` in a separate shell, whose exit code is ignored, and artifacts by `when`. */
export async function runGitLabJob({ workspace, file, variables }: PipelineJob): Promise<PipelineRun> {
  const { evals } = gitlabSchema.parse(await readExample(file));
  const env = { ...variables, CI_PROJECT_DIR: workspace.path };
  const run = (lines: readonly string[]) =>
    runBash(lines.join('\n'), { flags: ['-eo', 'pipefail'], cwd: workspace.path, env });
  const { exitCode, log } = await run(evals.script);
  const after = await run(evals.after_script);
  const { when, paths, reports } = evals.artifacts;
  const isKept = when === 'always' || (when === 'on_success') === (exitCode === 0);
  const patterns = [...paths.map((each) => `${each}/**`), reports.junit, reports.codequality];
  const artifacts = isKept ? [...new Set(await listFiles(workspace, patterns))] : [];
  return { exitCode, log: `${log}${after.log}`, artifacts };
}

const buildkiteSchema = z.object({
  steps: z.tuple([z.object({ command: z.string(), artifact_paths: z.array(z.string()) })]),
});

/** Runs a step like Buildkite: variables in the pipeline are replaced at its upload, and `$$` becomes `$`; artifacts are kept after a failure. */
export async function runBuildkiteStep({ workspace, file, variables }: PipelineJob): Promise<PipelineRun> {
  const { steps } = buildkiteSchema.parse(await readExample(file));
  const [{ command, artifact_paths: paths }] = steps;
  const script = command.replaceAll(/\$\$|\\\$|\$\{?(\w+)\}?/g, (_text, name?: string) =>
    name === undefined ? '$' : (variables[name] ?? ''),
  );
  const ran = await runBash(script, { flags: ['-e'], cwd: workspace.path, env: variables });
  return { ...ran, artifacts: await listFiles(workspace, paths) };
}

const circleSchema = z.object({
  jobs: z.object({
    evals: z.object({
      steps: z.array(
        z.union([
          z.literal('checkout'),
          z.object({ run: z.union([z.string(), z.object({ command: z.string() })]) }),
          z.object({ store_test_results: z.object({ path: z.string() }) }),
          z.object({ store_artifacts: z.object({ path: z.string() }) }),
        ]),
      ),
    }),
  }),
});

/** Runs a job like CircleCI: each step in a separate shell, none after a failed one except storing. Test results are listed first. */
export async function runCircleJob({ workspace, file, variables }: PipelineJob): Promise<PipelineRun> {
  const { jobs } = circleSchema.parse(await readExample(file));
  let exitCode = 0;
  let log = '';
  const artifacts: string[] = [];
  for (const step of jobs.evals.steps) {
    if (step === 'checkout') continue;
    if ('run' in step) {
      if (exitCode !== 0) continue;
      const script = typeof step.run === 'string' ? step.run : step.run.command;
      const ran = await runBash(script, { flags: ['-eo', 'pipefail'], cwd: workspace.path, env: variables });
      ({ exitCode } = ran);
      log += ran.log;
    } else {
      const { path } = 'store_artifacts' in step ? step.store_artifacts : step.store_test_results;
      artifacts.push(...(await listFiles(workspace, [path, `${path}/**`])));
    }
  }
  return { exitCode, log, artifacts: [...new Set(artifacts)] };
}
