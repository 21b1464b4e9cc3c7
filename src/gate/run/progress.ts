import { formatCount } from '../../base/text.ts';
import { type Clock, formatDuration } from '../../base/time.ts';
import type { CaseResults } from '../../model/results.ts';
import type { ServerReport } from '../../model/report.ts';
import type { IterationActivity } from '../../runner/runner.ts';

/** The gate's progress, which a terminal and a job's log each show in their own way. */
export type GateProgress =
  /** `revision` is the further revision that the server is started for; null the first time. */
  | { kind: 'server-starting'; name: string | null; revision: string | null }
  | { kind: 'server-ready'; name: string | null; server: ServerReport; durationMs: number }
  | { kind: 'tunnel-opening'; serverName: string }
  | { kind: 'tunnel-ready'; serverName: string; durationMs: number }
  | { kind: 'run-queued'; suite: string; waitedMs: number }
  | { kind: 'run-started'; suite: string; runId: string; iterations: number; url: string | null }
  | { kind: 'run-progress'; suite: string; finished: number; iterations: number }
  | { kind: 'run-finished'; suite: string; status: string }
  /** An iteration in this process; `number` is null if its case has only one. */
  | {
      kind: 'iteration';
      suite: string;
      id: string;
      title: string;
      number: number | null;
      activity: IterationActivity;
    }
  | { kind: 'case-read'; suite: string; result: CaseResults };

/** Gets each step of the progress as it happens. */
export type ProgressListener = (progress: GateProgress) => void;

/** Balances the log: a silent log looks stuck, and a line per second hides what matters. */
const heartbeatMs = 30_000;

/**
 * Passes on to a log what begins and ends. A count or a wait of a run is passed on only if nothing was logged for 30 seconds, and no iteration
 * or result of a case is: a terminal shows the former while they run, and the report lists the latter a moment later.
 */
export function throttleProgress(clock: Clock, listener: ProgressListener): ProgressListener {
  let loggedAtMs = clock.monotonicMs();
  return (progress) => {
    if (progress.kind === 'case-read' || progress.kind === 'iteration') return;
    const isRepeated = progress.kind === 'run-progress' || (progress.kind === 'run-queued' && progress.waitedMs > 0);
    if (isRepeated && clock.monotonicMs() - loggedAtMs < heartbeatMs) return;
    loggedAtMs = clock.monotonicMs();
    listener(progress);
  };
}

/** Describes one step of progress in one line of plain text; foreign text in it is not escaped yet. */
export function describeProgress(progress: GateProgress): string {
  switch (progress.kind) {
    case 'server-starting': {
      const again = progress.revision === null ? '' : ` once more, for MCP ${progress.revision}`;
      return `Starting ${progress.name === null ? 'the server under test' : `the server ${progress.name}`}${again} …`;
    }
    case 'server-ready': {
      const { name, version, transport } = progress.server;
      const who = [name ?? progress.name ?? 'The server', version].filter((part) => part !== null).join(' ');
      return `${who} answers over ${transport} after ${formatDuration(progress.durationMs)}.`;
    }
    case 'tunnel-opening':
      return `Opening a tunnel to the server as ${progress.serverName} …`;
    case 'tunnel-ready':
      return `The server answers at its public URL after ${formatDuration(progress.durationMs)}.`;
    case 'run-queued': {
      const since = progress.waitedMs < 1000 ? '' : `, for ${formatDuration(progress.waitedMs)} now`;
      return `${progress.suite}: waiting for other runs to end${since}; the service executes no more at once.`;
    }
    case 'run-started': {
      const { suite, iterations, runId, url } = progress;
      return `${suite}: running ${formatCount(iterations, 'iteration')} (run ${runId})${url === null ? '.' : `: ${url}`}`;
    }
    case 'run-progress':
      return `${progress.suite}: ${progress.finished} of ${formatCount(progress.iterations, 'iteration')} …`;
    case 'run-finished':
      return `${progress.suite}: run ${progress.status}.`;
    case 'iteration':
      return `${nameIteration(progress)}: ${describeActivity(progress.activity)}.`;
    case 'case-read':
      return describeCase(progress.result);
  }
}

/** Names an iteration by its case, and by its number if there are several. */
export function nameIteration({ title, number }: { title: string; number: number | null }): string {
  return number === null ? title : `${title} #${number}`;
}

function describeActivity(activity: IterationActivity): string {
  return activity.kind === 'called' ? `calls ${activity.toolName}` : activity.kind;
}

function describeCase({ title, passed, failed, unscored, planned }: CaseResults): string {
  const mark = failed > 0 ? '✗' : passed === planned && unscored === 0 ? '✓' : '?';
  return `  ${mark} ${title} ${passed}/${planned}`;
}
